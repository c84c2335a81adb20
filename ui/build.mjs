import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const here = name => fileURLToPath(new URL(name, import.meta.url));

/** The files of the page by name, ready to be served. */
export async function pageFiles() {
  // Here, not above: the bundled program has the page ready made and no esbuild beside it.
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    entryPoints: { app: here('main.ts'), style: here('style.css'), dark: here('dark.css') },
    outdir: '/',
    write: false,
    bundle: true,
    minify: true,
    format: 'esm',
    target: ['chrome110', 'firefox110', 'safari16'],
    legalComments: 'none',
    logLevel: 'warning',
  });
  return {
    'index.html': readFileSync(here('index.html'), 'utf8'),
    'icon.svg': readFileSync(here('icon.svg'), 'utf8'),
    ...Object.fromEntries(outputFiles.map(file => [file.path.replace(/^.*\//, ''), file.text])),
  };
}
