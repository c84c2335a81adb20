import { readFileSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { bundleOptions } from './release/bundle.mjs';
import { noticeOf } from './release/notice.mjs';
import { packagesOf } from './release/packages.mjs';
import { sbomOf } from './release/sbom.mjs';
import { pageFiles } from './ui/build.mjs';

const page = await pageFiles();

/** One file without node_modules beside it: small image, fast start. */
const { metafile } = await build(bundleOptions(page));
const output = Object.values(metafile.outputs).find(output => output.entryPoint);
const missing = output.imports.filter(each => each.kind === 'import-statement' && !isBuiltin(each.path));
if (missing.length > 0)
  throw new Error(`the bundle can't start alone: it imports ${missing.map(each => each.path).join(', ')}`);
const packages = packagesOf(metafile);
writeFileSync('NOTICE', noticeOf(packages));
const own = JSON.parse(readFileSync('package.json', 'utf8'));
writeFileSync('dist/sbom.cdx.json', `${JSON.stringify(sbomOf(own, packages), undefined, 2)}\n`);
const { bytes } = output;
const zipped = Object.values(page).reduce((sum, text) => sum + gzipSync(text).length, 0);
console.log(
  `dist/openstack-operator.js ${(bytes / 1024).toFixed(0)} KiB, the page in it ${(zipped / 1024).toFixed(1)} KiB gzipped`,
);
console.log(`dist/sbom.cdx.json ${packages.length} packages in the bundle, their licenses in NOTICE`);
