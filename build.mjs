import { isBuiltin } from 'node:module';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { pageFiles } from './ui/build.mjs';

const page = await pageFiles();

/** One file without node_modules beside it: small image, fast start. */
const result = await build({
  entryPoints: ['src/cli/main.ts'],
  outfile: 'dist/openstack-operator.js',
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
  sourcemap: true,
  metafile: true,
  legalComments: 'none',
  loader: { '.json': 'json' },
  // The page comes ready made; without it the program would look for esbuild and the sources.
  define: { PAGE_FILES: JSON.stringify(page) },
  external: ['esbuild'],
  // Packages written for CommonJS ask for require() of Node's own modules.
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
  },
  logLevel: 'warning',
});
const output = Object.values(result.metafile.outputs).find(output => output.entryPoint);
const missing = output.imports.filter(each => each.kind === 'import-statement' && !isBuiltin(each.path));
if (missing.length > 0)
  throw new Error(`the bundle can't start alone: it imports ${missing.map(each => each.path).join(', ')}`);
const { bytes } = output;
const zipped = Object.values(page).reduce((sum, text) => sum + gzipSync(text).length, 0);
console.log(
  `dist/openstack-operator.js ${(bytes / 1024).toFixed(0)} KiB, the page in it ${(zipped / 1024).toFixed(1)} KiB gzipped`,
);
