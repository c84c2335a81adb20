/** How esbuild makes the operator one file. `page`: the files of the web page by name. */
export const bundleOptions = page => ({
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
