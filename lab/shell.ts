import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createWriteStream, openSync } from 'node:fs';

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface Options {
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  readonly input?: string | Buffer;
  /** Everything the program says is added here. */
  readonly log?: string;
  /** Called for each line on standard output or error, for progress. */
  readonly onLine?: (line: string) => void;
}

/** Programs of ours that still run; Ctrl-C stops them by pid before we leave. */
const children = new Set<ChildProcess>();

/** `unshare` waits for its child and blocks SIGTERM meanwhile; killed, it takes the child along. */
export async function stopChildren(): Promise<void> {
  for (const child of children) child.kill('SIGTERM');
  await sleep(500);
  for (const child of children) child.kill('SIGKILL');
}

/** Run to the end and answer with the exit code, whatever it is. */
export function run(command: string, args: readonly string[], options: Options = {}): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      env: options.env ?? process.env,
      cwd: options.cwd,
      stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    });
    children.add(child);
    const log = options.log === undefined ? undefined : createWriteStream(options.log, { flags: 'a' });
    log?.write(`\n$ ${command} ${args.join(' ')}\n`);
    const text: { stdout: string; stderr: string } = { stdout: '', stderr: '' };
    const listen = (name: 'stdout' | 'stderr'): void => {
      let rest = '';
      child[name]?.setEncoding('utf8').on('data', (chunk: string) => {
        log?.write(chunk);
        // A build can say more than a string can hold; the log has all of it.
        text[name] = (text[name] + chunk).slice(-4_000_000);
        if (options.onLine === undefined) return;
        const lines = (rest + chunk).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) options.onLine(line);
      });
    };
    listen('stdout');
    listen('stderr');
    child.on('error', error => {
      children.delete(child);
      log?.end();
      reject(new Error(`${command} could not be started: ${error.message}`));
    });
    child.on('close', (code, signal) => {
      children.delete(child);
      log?.end();
      resolve({ code: code ?? (signal === null ? 1 : 128), ...text });
    });
    if (options.input !== undefined) child.stdin?.end(options.input);
  });
}

/** Runs it; on failure the error holds the end of the program's own output. */
export async function must(command: string, args: readonly string[], options: Options = {}): Promise<string> {
  const ran = await run(command, args, options);
  if (ran.code === 0) return ran.stdout;
  const words = (ran.stderr.trim() || ran.stdout.trim()).split('\n').slice(-12).join('\n');
  const where = options.log === undefined ? '' : `\nAll of its output: ${options.log}`;
  throw new Error(`${command} ${args.slice(0, 6).join(' ')} ended with ${ran.code}:\n${words}${where}`);
}

export function bash(script: string, options: Options = {}): Promise<string> {
  return must('bash', ['-euo', 'pipefail', '-c', script], options);
}

/** The terminal is the program's own; answers with its exit code. */
export function interactive(command: string, args: readonly string[], env?: NodeJS.ProcessEnv): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: 'inherit', env: env ?? process.env });
    // The terminal sends Ctrl-C to the whole group; the program decides what it means.
    const ignore = (): void => undefined;
    process.on('SIGINT', ignore);
    child.on('error', reject);
    child.on('close', (code, signal) => {
      process.off('SIGINT', ignore);
      resolve(code ?? (signal === null ? 1 : 128));
    });
  });
}

/** A daemon that outlives us, in its own session, with its output in a file. Answers with its pid. */
export function daemon(command: string, args: readonly string[], log: string, env?: NodeJS.ProcessEnv): number {
  const out = openSync(log, 'a');
  const child = spawn(command, args, {
    detached: true,
    stdio: ['ignore', out, out],
    env: env ?? process.env,
    cwd: '/',
  });
  child.on('error', () => undefined);
  child.unref();
  if (child.pid === undefined) throw new Error(`${command} could not be started; is it executable?`);
  return child.pid;
}

export const sleep = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms));

/** Ask until it says yes. `alive` lets a dead daemon end the wait at once instead of by time. */
export async function until(
  what: string,
  seconds: number,
  ask: () => Promise<boolean>,
  alive: () => boolean = () => true,
): Promise<void> {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    if (await ask()) return;
    if (!alive()) throw new Error(`${what}: the process died while we waited for it`);
    if (Date.now() > end) throw new Error(`${what}: not there after ${seconds} s`);
    await sleep(200);
  }
}

/** True when the program is on PATH. */
export function has(program: string): Promise<boolean> {
  return new Promise(resolve => {
    execFile('sh', ['-c', `command -v "$0"`, program], error => resolve(error === null));
  });
}
