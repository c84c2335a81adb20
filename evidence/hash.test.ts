import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commitOf, hashing } from './hash.ts';

describe('the hash of the code', () => {
  let root = '';
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', ...words], { cwd: root });
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  const now = (own?: readonly string[]) => hashing(root)(own);

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'hash-'));
    git('init', '-q');
    write('.gitignore', '*.log\n');
    for (const folder of ['src', 'api', 'lab', 'config']) write(`${folder}/a.ts`, folder);
    write('docs/evidence.json', '[]');
    write('test/e2e/cloud.lab.test.ts', 'one');
    git('add', '.');
    git('commit', '-qm', 'first');
  });
  afterEach(() => rmSync(root, { recursive: true }));

  it('is the same for the same tree', () => {
    expect(now()).toMatch(/^[0-9a-f]{16}$/);
    expect(now()).toBe(now());
  });

  it.each(['src', 'api', 'lab', 'config'])('changes with a file of %s, committed or not, and back', folder => {
    const before = now();
    write(`${folder}/a.ts`, 'changed');
    expect(now()).not.toBe(before);
    write(`${folder}/a.ts`, folder);
    expect(now()).toBe(before);
  });

  it('changes with a new file before git knows it, and stays when it is committed', () => {
    const before = now();
    write('src/new.ts', 'new');
    const added = now();
    expect(added).not.toBe(before);
    git('add', '.');
    git('commit', '-qm', 'second');
    expect(now()).toBe(added);
    rmSync(join(root, 'src/new.ts'));
    expect(now()).toBe(before);
  });

  it('knows a file that was renamed', () => {
    const before = now();
    git('mv', 'src/a.ts', 'src/b.ts');
    expect(now()).not.toBe(before);
  });

  it.each(['docs/evidence.json', 'README.md', 'src/a.test.ts', 'lab/x.log', 'test/e2e/other.ts'])(
    'does not care about %s',
    path => {
      const before = now(['test/e2e/cloud.lab.test.ts']);
      write(path, 'anything');
      expect(now(['test/e2e/cloud.lab.test.ts'])).toBe(before);
    },
  );

  it("changes with a run's own test, and files that are not there count as nothing", () => {
    const before = now(['test/e2e/cloud.lab.test.ts', 'test/e2e/cloud.stories.ts']);
    expect(before).toBe(now(['test/e2e/cloud.lab.test.ts']));
    write('test/e2e/cloud.lab.test.ts', 'two');
    expect(now(['test/e2e/cloud.lab.test.ts'])).not.toBe(before);
  });

  it('says of the commit whether the code differs from it', () => {
    expect(commitOf(root)).toMatch(/^[0-9a-f]{10}$/);
    write('docs/evidence.json', '[1]');
    expect(commitOf(root)).toMatch(/^[0-9a-f]{10}$/);
    write('src/a.ts', 'changed');
    expect(commitOf(root)).toMatch(/^[0-9a-f]{10}-dirty$/);
  });
});
