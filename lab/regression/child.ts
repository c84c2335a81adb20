import { spawn } from 'node:child_process';
import { closeSync, openSync, writeSync } from 'node:fs';

export interface Ended {
  readonly code: number;
  /** Why it did not end by itself. */
  readonly cut?: 'time' | 'signal';
  readonly seconds: number;
  /** The end of its output. */
  readonly tail: string;
}

export interface Bounds {
  readonly minutes: number;
  readonly signal: AbortSignal;
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** Everything it says is added here. */
  readonly log: string;
  readonly onLine?: (line: string) => void;
  /** Between asking it to end and ending it. */
  readonly graceMs?: number;
}

/** What it said last, for a message. */
const TAIL = 2000;
const LATE_MS = 2000;

/**
 * A program of our own that ends by itself, after some minutes, or when the signal is aborted: it is then asked to end and
 * ended, together with what it started. It leads a process group, so that no other process can be meant.
 */
export function bounded(command: string, args: readonly string[], bounds: Bounds): Promise<Ended> {
  const { minutes, signal, env = process.env, cwd, log, onLine, graceMs = 10_000 } = bounds;
  const began = performance.now();
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      resolve({ code: 130, cut: 'signal', seconds: 0, tail: '' });
      return;
    }
    const file = openSync(log, 'a');
    writeSync(file, `\n$ ${command} ${args.join(' ')}\n`);
    const child = spawn(command, args, { env, cwd, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    let tail = '';
    for (const stream of [child.stdout, child.stderr]) {
      let rest = '';
      stream.setEncoding('utf8').on('data', (text: string) => {
        if (!settled) writeSync(file, text);
        tail = (tail + text).slice(-TAIL);
        const lines = (rest + text).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) onLine?.(line);
      });
    }
    let settled = false;
    let cut: Ended['cut'];
    let last: NodeJS.Timeout | undefined;
    const tell = (what: NodeJS.Signals): void => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, what);
      } catch {
        // It ended meanwhile.
      }
    };
    const end = (why: NonNullable<Ended['cut']>): void => {
      if (cut !== undefined) return;
      cut = why;
      tell('SIGTERM');
      last = setTimeout(() => tell('SIGKILL'), graceMs);
    };
    const timer = setTimeout(() => end('time'), minutes * 60_000);
    const stop = (): void => end('signal');
    signal.addEventListener('abort', stop);
    const settle = (): void => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      clearTimeout(last);
      signal.removeEventListener('abort', stop);
      // Of what it started, nothing is to go on when it was ended.
      if (cut !== undefined) tell('SIGKILL');
      closeSync(file);
    };
    child.on('error', error => {
      settle();
      reject(new Error(`${command} could not be started: ${error.message}`));
    });
    child.on('exit', (code, killed) => {
      const seconds = (performance.now() - began) / 1000;
      const answer = (): void => {
        settle();
        resolve({ code: code ?? (killed === null ? 1 : 128), ...(cut !== undefined && { cut }), seconds, tail });
      };
      // A process that it left behind may hold the pipes open; what was said by then is enough.
      const late = setTimeout(answer, LATE_MS);
      child.on('close', () => {
        clearTimeout(late);
        answer();
      });
    });
  });
}
