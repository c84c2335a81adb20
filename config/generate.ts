import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GENERATED_FOLDERS, type GeneratedFile, generatedFiles } from '../api/generate/files.ts';
import { operatorFiles } from '../src/operator/files.ts';

/**
 * Writes CRDs and reference pages; with `--check` writes nothing and fails when a file is missing, differs or is left
 * over, so that CI notices an edited schema whose output was not committed.
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

const sampleOf = (kind: string): string | undefined => readIfThere(`config/samples/${kind.toLowerCase()}.yaml`);
const files = [...generatedFiles(sampleOf), ...operatorFiles()];
const changed = files.filter(file => readIfThere(file.path) !== file.text);
const stale = leftOver(files);

if (process.argv.includes('--check')) {
  for (const file of changed) console.error(`${file.path}: differs from what the code says`);
  for (const path of stale) console.error(`${path}: belongs to no kind`);
  if (changed.length + stale.length > 0) {
    console.error('run `make manifests` and commit the result');
    process.exitCode = 1;
  } else console.log(`${files.length} generated files are up to date`);
} else {
  for (const file of changed) {
    mkdirSync(dirname(join(root, file.path)), { recursive: true });
    writeFileSync(join(root, file.path), file.text);
  }
  for (const path of stale) rmSync(join(root, path));
  console.log(`${files.length} files, ${changed.length} written, ${stale.length} removed`);
}
