import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { holder, release, startedAt, take } from './lockfile.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lock-'));
  path = join(folder, 'a', 'lab.lock');
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('the lock of the lab', () => {
  it('is taken once, and the second is told by whom', () => {
    expect(take(path, 'up')).toBeUndefined();
    expect(take(path, 'down')).toMatchObject({ pid: process.pid, what: 'up' });
  });

  it('can be taken again after its release', () => {
    take(path, 'up');
    release(path);
    expect(holder(path)).toBeUndefined();
    expect(take(path, 'down')).toBeUndefined();
  });

  it('of a process that is gone is taken over', () => {
    take(path, 'up');
    writeFileSync(path, JSON.stringify({ pid: 2 ** 22 + 1, started: '1', what: 'up' }));
    expect(take(path, 'down')).toBeUndefined();
  });

  it('of a pid that now belongs to another process is taken over', () => {
    take(path, 'up');
    writeFileSync(path, JSON.stringify({ pid: process.pid, started: 'long ago', what: 'up' }));
    expect(take(path, 'down')).toBeUndefined();
  });

  it('that was cut off while it was written is taken over', () => {
    take(path, 'up');
    writeFileSync(path, '{"pid":');
    expect(take(path, 'down')).toBeUndefined();
  });

  it('knows when a process started, and that there is none', () => {
    expect(startedAt(process.pid)).toMatch(/^\d+$/);
    expect(startedAt(2 ** 22 + 1)).toBeUndefined();
  });
});
