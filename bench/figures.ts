import { writeFileSync } from 'node:fs';
import { availableParallelism, cpus, totalmem } from 'node:os';

export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** At most this, where there is an aim. */
  readonly aim?: number;
}

export const MIB = 1024 * 1024;

export const figure = (name: string, value: number, unit: string, aim?: number): Figure => ({
  name,
  value: Math.round(value * 10) / 10,
  unit,
  ...(aim !== undefined && { aim }),
});

/** The figures as a table, one line each. Pure. */
export function table(figures: readonly Figure[]): string {
  const lines = figures.map(f => [
    f.name,
    `${f.value} ${f.unit}`.trim(),
    f.aim === undefined ? '' : `<= ${f.aim}`,
    f.aim === undefined ? '' : f.value <= f.aim ? 'met' : 'MISSED',
  ]);
  const width = (column: number) => Math.max(...lines.map(line => line[column]!.length));
  return lines
    .map(line =>
      line
        .map((cell, column) => cell.padEnd(width(column)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

export function write(path: string, figures: readonly Figure[], command: string, loadBefore: number): void {
  const machine = {
    cpu: cpus()[0]?.model.trim() ?? '',
    cores: availableParallelism(),
    memoryMiB: Math.round(totalmem() / MIB),
    node: process.version,
    loadBefore: Math.round(loadBefore * 10) / 10,
  };
  const results = { date: new Date().toISOString().slice(0, 10), command, machine, figures };
  writeFileSync(path, `${JSON.stringify(results, null, 2)}\n`);
}
