import { styleText } from 'node:util';

export interface Line {
  readonly kind: string;
  readonly name: string;
  readonly ready: string;
  readonly reason: string;
  readonly message: string;
}

const COLOURS = { True: 'green', False: 'yellow', Unknown: 'gray' } as const;

/** A table that follows what it shows: repainted in place on a terminal, one line per change elsewhere. */
export class Live {
  readonly #out: NodeJS.WriteStream;
  readonly #began = performance.now();
  #painted = 0;
  #last = new Map<string, string>();

  constructor(out: NodeJS.WriteStream) {
    this.#out = out;
  }

  show(lines: readonly Line[]): void {
    if (this.#out.isTTY) this.#repaint(lines);
    else this.#append(lines);
  }

  /** Below the table; it is not repainted after this. */
  say(text: string): void {
    this.#out.write(`${text}\n`);
    this.#painted = 0;
  }

  #repaint(lines: readonly Line[]): void {
    const rows = [
      ['KIND', 'NAME', 'READY', 'REASON', 'MESSAGE'],
      ...lines.map(l => [l.kind, l.name, l.ready, l.reason, l.message]),
    ];
    const widths = [0, 1, 2, 3].map(column => Math.max(...rows.map(row => row[column]!.length)));
    const text = rows.map((row, index) => {
      const cells = row.map((cell, column) => (column < 4 ? cell.padEnd(widths[column]!) : cell));
      if (index > 0) cells[2] = styleText(COLOURS[row[2] as keyof typeof COLOURS] ?? 'gray', cells[2]!);
      const used = widths.reduce((a, b) => a + b + 2, 0);
      cells[4] = row[4]!.slice(0, Math.max(0, (this.#out.columns ?? 120) - used - 1));
      return cells.join('  ').trimEnd();
    });
    const up = this.#painted > 0 ? `\x1b[${this.#painted}A\x1b[J` : '';
    this.#out.write(`${up}${text.join('\n')}\n${this.#elapsed()}\n`);
    this.#painted = text.length + 1;
  }

  #append(lines: readonly Line[]): void {
    for (const { kind, name, ready, reason, message } of lines) {
      const text = `${kind} ${name}: ${ready === 'True' ? 'Ready' : `${reason || 'Created'} ${message}`}`.trimEnd();
      if (this.#last.get(`${kind} ${name}`) === text) continue;
      this.#last.set(`${kind} ${name}`, text);
      this.#out.write(`${this.#elapsed()} ${text}\n`);
    }
  }

  #elapsed(): string {
    return `${((performance.now() - this.#began) / 1000).toFixed(1).padStart(6)} s`;
  }
}
