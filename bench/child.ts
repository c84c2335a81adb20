import { type ChildProcess, fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { build } from 'esbuild';
import { nodeFlags } from '../lab/images/entrypoint.ts';

export interface Beat {
  readonly gap: number;
  readonly work: number;
  readonly heapUsed: number;
  readonly external: number;
  readonly synced: boolean;
  readonly ready: boolean;
}

/**
 * As the Dockerfile runs it: a heap that can't grow to what the machine has, a small young generation, one helper
 * thread, and code that is compiled when it is hot and not before. Measured at rest: 111 MiB with the first two flags
 * alone (semi-space 2), 83 MiB with all four.
 */
const NODE_FLAGS = [...nodeFlags(), ...(process.env.BENCH_FLAGS?.split(' ') ?? [])];
const OUT = 'dist/bench-operator.js';

/** The same bundling as the operator's own (build.mjs). */
export async function bundle(): Promise<void> {
  await build({
    entryPoints: ['bench/process.ts'],
    outfile: OUT,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    legalComments: 'none',
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
    logLevel: 'warning',
  });
}

/** An operator in a process of its own, and what the kernel and the process say about it. */
export class OperatorProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  last: Beat | undefined;

  constructor(env: Record<string, string>) {
    this.#child = fork(OUT, [], { execArgv: NODE_FLAGS, env: { PATH: process.env.PATH ?? '', ...env } });
    this.#child.on('message', message => {
      this.last = message as Beat;
    });
    this.#ended = new Promise(resolve => this.#child.once('exit', () => resolve()));
    process.once('exit', () => this.#child.kill('SIGKILL'));
  }

  /** What comes first: the work's end, or the operator's, which makes waiting for anything else useless. */
  during<T>(work: Promise<T>): Promise<T> {
    const death = this.#ended.then((): never => {
      throw new Error(`the operator ended with ${this.#child.exitCode ?? this.#child.signalCode}`);
    });
    return Promise.race([work, death]);
  }

  /** Bytes, by the kernel's account. */
  rss(): number {
    return this.#memory('VmRSS');
  }
  peak(): number {
    return this.#memory('VmHWM');
  }

  cpuSeconds(): number {
    const fields = readFileSync(`/proc/${this.#child.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    // utime and stime in ticks of 10 ms.
    return (Number(fields[11]) + Number(fields[12])) / 100;
  }

  #memory(name: string): number {
    const text = readFileSync(`/proc/${this.#child.pid}/status`, 'utf8');
    return Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(text)?.[1] ?? 0) * 1024;
  }

  resetStalls(): void {
    this.#child.send('reset');
  }

  async synced(seconds = 300): Promise<void> {
    await this.during(until(() => this.last?.synced === true && this.last.ready, 'the operator has synced', seconds));
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGTERM');
    const patience = setTimeout(() => this.#child.kill('SIGKILL'), 10_000);
    await this.#ended;
    clearTimeout(patience);
  }
}

export const pause = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms));

export async function until(done: () => boolean | Promise<boolean>, what: string, seconds: number): Promise<void> {
  const end = performance.now() + seconds * 1000;
  while (!(await done())) {
    if (performance.now() > end) throw new Error(`not within ${seconds} s: ${what}`);
    await pause(100);
  }
}
