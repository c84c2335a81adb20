import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = name => fileURLToPath(new URL(name, import.meta.url));

/** The files of the page by name, ready to be served. */
export async function pageFiles() {
  const { outputFiles } = await build({
    entryPoints: { app: here('main.ts'), style: here('style.css') },
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
