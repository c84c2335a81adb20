import { basename } from 'node:path';
import { expect, it } from 'vitest';
import { ALONE, isAlone, SLOW } from './files.ts';
import { files, isTest, textOf } from './tree.ts';

it('a test that replaces modules has a process of its own, because modules that are loaded stay', () => {
  const replacing = files.filter(path => isTest(path) && /^vi\.(mock|doMock)\(/m.test(textOf(path)));
  expect(replacing).not.toEqual([]);
  expect(replacing.filter(path => !isAlone(path))).toEqual([]);
});

it('what is named is there', () => {
  const named = ALONE.map(pattern => pattern.split('/**')[0] ?? '');
  expect(named.filter(start => !files.some(path => path.startsWith(start)))).toEqual([]);
  const names = new Set(files.filter(isTest).map(path => basename(path, '.test.ts')));
  expect(SLOW.filter(name => !names.has(name))).toEqual([]);
});
