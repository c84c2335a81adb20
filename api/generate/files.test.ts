import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { GENERATED_FOLDERS, generatedFiles, SAMPLE_FOLDERS } from './files.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const sampleOf = (kind: string): string => {
  const paths = SAMPLE_FOLDERS.map(folder => `${folder}/${kind.toLowerCase()}.yaml`);
  return read(paths.find(path => existsSync(join(root, path))) ?? paths[0]!);
};
const files = generatedFiles(sampleOf);

describe('generated files (run `make manifests` when these fail)', () => {
  it('are committed as api/ gives them', () => {
    expect(files.filter(file => read(file.path) !== file.text).map(file => file.path)).toEqual([]);
  });

  it('are all that is in their folders', () => {
    const known = new Set(files.map(file => file.path));
    const there = GENERATED_FOLDERS.flatMap(folder => readdirSync(join(root, folder)).map(name => `${folder}/${name}`));
    expect(there.filter(path => !known.has(path))).toEqual([]);
    expect(files).toHaveLength(62);
  });
});
