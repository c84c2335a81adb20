import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/** When the process started, from the kernel: a pid alone may by now belong to somebody else. */
export function startedAt(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The program's name stands in brackets and may hold spaces; the 22nd field counts from there.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}

export interface Holder {
  readonly pid: number;
  readonly started: string;
  readonly what: string;
}

export function holder(path: string): Holder | undefined {
  try {
    const held = JSON.parse(readFileSync(path, 'utf8')) as Holder;
    return startedAt(held.pid) === held.started ? held : undefined;
  } catch {
    return undefined;
  }
}

/** Take the lock or answer who has it. A lock whose process is gone is taken over. */
export function take(path: string, what: string): Holder | undefined {
  mkdirSync(dirname(path), { recursive: true });
  const mine = JSON.stringify({ pid: process.pid, started: startedAt(process.pid) ?? '', what });
  for (let turn = 0; turn < 3; turn++) {
    try {
      const file = openSync(path, 'wx');
      writeSync(file, mine);
      closeSync(file);
      return undefined;
    } catch {
      const held = holder(path);
      if (held !== undefined) return held;
      rmSync(path, { force: true });
    }
  }
  return holder(path) ?? { pid: 0, started: '', what: 'somebody' };
}

export function release(path: string): void {
  if (holder(path)?.pid === process.pid) rmSync(path, { force: true });
}
