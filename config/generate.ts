import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GENERATED_FOLDERS, type GeneratedFile, generatedFiles, SAMPLE_FOLDERS } from '../api/generate/files.ts';
import { readEntries } from '../evidence/entries.ts';
import { features, kinds } from '../evidence/features.ts';
import { hashing } from '../evidence/hash.ts';
import { columnsOf, readmeTable, statusPage, withTable } from '../evidence/status.ts';
import { releases } from '../lab/images/names.ts';
import { operatorFiles } from '../src/operator/files.ts';

/**
 * Writes CRDs, reference pages and what was seen to work; with `--check` writes nothing and fails when a file is missing,
 * differs or is left over, so that CI notices an edited schema whose output was not committed, and a claim that was seen
 * with other code than this.
 */
const root = fileURLToPath(new URL('../', import.meta.url));

const readIfThere = (path: string): string | undefined => {
  try {
    return readFileSync(join(root, path), 'utf8');
  } catch {
    return undefined;
  }
};

function leftOver(files: readonly GeneratedFile[]): string[] {
  const known = new Set(files.map(file => file.path));
  return GENERATED_FOLDERS.flatMap(folder => {
    const names = readdirIfThere(folder);
    return names.map(name => `${folder}/${name}`).filter(path => !known.has(path));
  });
}

function readdirIfThere(folder: string): string[] {
  try {
    return readdirSync(join(root, folder));
  } catch {
    return [];
  }
}

const sampleOf = (kind: string): string | undefined =>
  SAMPLE_FOLDERS.map(folder => readIfThere(`${folder}/${kind.toLowerCase()}.yaml`)).find(text => text !== undefined);
const files = [...generatedFiles(sampleOf), ...operatorFiles()];

/** They say which runs hold for this code, and CRDs and RBAC are a part of it: to be made when those are written. */
function statusFiles(): GeneratedFile[] {
  const known = { entries: readEntries(), hash: hashing(root) };
  const [groups, columns] = [{ Kind: kinds, Feature: features }, columnsOf(releases)];
  const readme = withTable(readIfThere('README.md') ?? '', readmeTable(known, groups, columns));
  return [
    { path: 'README.md', text: readme },
    { path: 'docs/status.md', text: statusPage(known, groups, columns) },
  ];
}

const differing = (all: readonly GeneratedFile[]): GeneratedFile[] =>
  all.filter(file => readIfThere(file.path) !== file.text);

function write(all: readonly GeneratedFile[]): number {
  const changed = differing(all);
  for (const file of changed) {
    mkdirSync(dirname(join(root, file.path)), { recursive: true });
    writeFileSync(join(root, file.path), file.text);
  }
  return changed.length;
}

const stale = leftOver(files);
if (process.argv.includes('--check')) {
  const status = statusFiles();
  for (const file of differing(files)) console.error(`${file.path}: differs from what the code says`);
  for (const file of differing(status))
    console.error(`${file.path}: differs from what docs/evidence.json says of this code`);
  for (const path of stale) console.error(`${path}: belongs to no kind`);
  if (differing([...files, ...status]).length + stale.length > 0) {
    console.error('run `make manifests` and commit the result');
    process.exitCode = 1;
  } else console.log(`${files.length + status.length} generated files are up to date`);
} else {
  const changed = write(files);
  for (const path of stale) rmSync(join(root, path));
  const status = statusFiles();
  console.log(`${files.length + status.length} files, ${changed + write(status)} written, ${stale.length} removed`);
}
