import { build } from 'esbuild';

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
  // Packages written for CommonJS ask for require() of Node's own modules.
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
  },
  logLevel: 'warning',
});
const bytes = Object.values(result.metafile.outputs).find(output => output.entryPoint)?.bytes ?? 0;
console.log(`dist/openstack-operator.js ${(bytes / 1024).toFixed(0)} KiB`);
