import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { GENERATED_FOLDERS, generatedFiles } from './files.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const files = generatedFiles(kind => read(`config/samples/${kind.toLowerCase()}.yaml`));

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
