import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bounded } from './child.ts';

const log = join(mkdtempSync(join(tmpdir(), 'child-')), 'log');
const signal = new AbortController().signal;
const bash = (script: string, more: Partial<Parameters<typeof bounded>[2]> = {}) =>
  bounded('bash', ['-c', script], { minutes: 1, signal, log, ...more });
/** Whether the process is there and no zombie that waits for somebody to ask. */
function lives(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
const gone = async (pid: number): Promise<boolean> => {
  for (let left = 200; left > 0 && lives(pid); left--) await new Promise(resolve => setTimeout(resolve, 20));
  return !lives(pid);
};
const pidIn = (text: string): number => Number(/pid (\d+)/.exec(text)?.[1]);

describe('a program with a limit', () => {
  it('ends by itself, and all that it said is kept', async () => {
    const lines: string[] = [];
    const ended = await bash('echo one; echo two >&2; exit 3', { onLine: line => lines.push(line) });
    expect(ended).toMatchObject({ code: 3 });
    expect(ended.cut).toBeUndefined();
    expect(lines.sort()).toEqual(['one', 'two']);
    expect(readFileSync(log, 'utf8')).toContain('one\n');
  });

  it('is ended when its time is up, with what it started', async () => {
    const ended = await bash('sleep 60 & echo pid $!; wait', { minutes: 0.5 / 60 });
    expect(ended.cut).toBe('time');
    expect(await gone(pidIn(ended.tail))).toBe(true);
  });

  it('is ended when we are told to stop, also if it does not listen', async () => {
    const stop = new AbortController();
    const ended = await bash(`trap '' TERM; echo pid $$; while :; do sleep 0.1; done`, {
      signal: stop.signal,
      graceMs: 100,
      onLine: () => stop.abort(),
    });
    expect(ended.cut).toBe('signal');
    expect(await gone(pidIn(ended.tail))).toBe(true);
    expect(await bash('echo never', { signal: stop.signal })).toMatchObject({ cut: 'signal', tail: '' });
  });

  it('says which program could not be started', async () => {
    await expect(bounded('/no/such', [], { minutes: 1, signal, log })).rejects.toThrow(
      /\/no\/such could not be started/,
    );
  });
});
