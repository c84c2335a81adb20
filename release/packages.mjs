import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = new URL('..', import.meta.url).pathname;

/** `node_modules/a/node_modules/@b/c/lib/x.js` -> `node_modules/a/node_modules/@b/c`. */
const folderOf = path => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1];

/** Of a package without a licence file, the entry in its package.json is all there is. */
function textOf(folder) {
  const file = readdirSync(folder).find(name => /^licen[cs]e(\.(md|txt))?$/i.test(name));
  return file === undefined ? undefined : readFileSync(join(folder, file), 'utf8').trim();
}

/**
 * The packages whose code is in the bundle, by name: what esbuild read, not what package.json asks for. `npm sbom` leaves
 * out those that a tool needs as well.
 */
export function packagesOf(metafile) {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  const used = Object.values(metafile.outputs).flatMap(output =>
    Object.entries(output.inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
  );
  const folders = [...new Set(used.map(folderOf))].filter(folder => folder !== undefined);
  return folders
    .map(folder => {
      if (!existsSync(join(root, folder, 'package.json'))) throw new Error(`${folder} has no package.json`);
      const { name, version, license } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
      if (typeof license !== 'string')
        throw new Error(`${folder}/package.json names no license: say it in release/packages.mjs`);
      return { name, version, license, integrity: lock[folder]?.integrity, text: textOf(join(root, folder)) };
    })
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}
