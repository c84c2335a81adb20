import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { paths } from './paths.ts';

/** Seconds of the last runs of each phase, newest last. */
export type History = Record<string, number[]>;

/** Enough to see a trend, few enough that an old slow machine is forgotten. */
const KEEP = 10;

export function readHistory(path = paths.history): History {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as History;
  } catch {
    return {};
  }
}

export function remember(history: History, phase: string, seconds: number): History {
  const before = history[phase] ?? [];
  return { ...history, [phase]: [...before, Math.round(seconds * 10) / 10].slice(-KEEP) };
}

/** The middle of earlier runs, which one disturbed run can't move. */
export function expected(history: History, phase: string): number | undefined {
  const times = [...(history[phase] ?? [])].sort((a, b) => a - b);
  return times[Math.floor(times.length / 2)];
}

export function seconds(value: number): string {
  if (value < 100) return `${value.toFixed(1)} s`;
  return `${Math.floor(value / 60)} min ${String(Math.round(value % 60)).padStart(2, '0')} s`;
}

function bar(elapsed: number, whole: number | undefined): string {
  if (whole === undefined) return `${seconds(elapsed)}, first time here: no estimate`;
  const done = Math.min(0.99, elapsed / Math.max(whole, 0.1));
  const full = Math.round(done * 20);
  const left = whole - elapsed;
  const eta = left > 0 ? `about ${seconds(left)} left` : `${seconds(-left)} longer than usual`;
  return `[${'#'.repeat(full)}${'.'.repeat(20 - full)}] ${seconds(elapsed)}, ${eta}`;
}

/**
 * One line that says what runs, how far it is and how long it will take, and one line for the record when it ends.
 * Not on a terminal: only the record, and a sign of life every 30 s for a log that somebody tails.
 */
export async function phase<T>(
  name: string,
  title: string,
  work: (note: (text: string) => void) => Promise<T>,
): Promise<T> {
  const start = process.hrtime.bigint();
  const elapsed = (): number => Number(process.hrtime.bigint() - start) / 1e9;
  const whole = expected(readHistory(), name);
  const tty = process.stderr.isTTY === true;
  let detail = '';
  const draw = (): void => {
    if (tty)
      process.stderr.write(
        `\r\u001b[K  ${title}  ${bar(elapsed(), whole)}${detail === '' ? '' : `  ${detail}`}`.slice(0, 200),
      );
    else process.stderr.write(`  ... ${title}  ${bar(elapsed(), whole)}${detail === '' ? '' : `  ${detail}`}\n`);
  };
  const timer = setInterval(draw, tty ? 250 : 30_000);
  try {
    const result = await work(text => {
      detail = text.trim().slice(0, 60);
    });
    const took = elapsed();
    if (tty) process.stderr.write('\r\u001b[K');
    process.stderr.write(`  ${title.padEnd(58, ' .')} ${seconds(took)}\n`);
    mkdirSync(dirname(paths.history), { recursive: true });
    const next = JSON.stringify(remember(readHistory(), name, took), null, 1);
    writeFileSync(`${paths.history}.tmp`, next);
    renameSync(`${paths.history}.tmp`, paths.history);
    return result;
  } catch (error) {
    if (tty) process.stderr.write('\r\u001b[K');
    process.stderr.write(`  ${title.padEnd(58, ' .')} failed after ${seconds(elapsed())}\n`);
    throw error;
  } finally {
    clearInterval(timer);
  }
}
