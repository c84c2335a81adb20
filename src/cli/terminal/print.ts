import { styleText } from 'node:util';

export type Style = 'green' | 'yellow' | 'red' | 'gray' | 'cyan' | 'bold';

/** Where an answer is printed: how wide it may be, and whether colours help there. */
export interface Paper {
  /** Columns of the terminal; undefined elsewhere, where nothing is cut. */
  readonly width: number | undefined;
  paint(style: Style, text: string): string;
}

export function paperOf(
  out: { isTTY?: boolean; columns?: number },
  env: Readonly<Record<string, string | undefined>>,
): Paper {
  const colour = out.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb';
  const columns = out.isTTY ? (out.columns ?? Number(env.COLUMNS ?? 0)) : Number(env.COLUMNS ?? 0);
  return {
    width: columns > 0 ? columns : undefined,
    paint: (style, text) => (colour ? styleText(style, text, { validateStream: false }) : text),
  };
}

export interface Cell {
  readonly text: string;
  readonly style?: Style;
}

const GAP = 2;
const cell = (value: string | Cell): Cell => (typeof value === 'string' ? { text: value } : value);
const cut = (text: string, width: number): string =>
  text.length <= width ? text : width < 2 ? text.slice(0, width) : `${text.slice(0, width - 1)}…`;

/** The last column takes what is left of the width and is cut there; the others are as wide as they need. */
export function table(paper: Paper, head: readonly string[], rows: readonly (readonly (string | Cell)[])[]): string {
  const cells = rows.map(row => row.map(cell));
  const widths = head.map((name, column) => Math.max(name.length, ...cells.map(row => row[column]?.text.length ?? 0)));
  const fixed = widths.slice(0, -1).reduce((sum, width) => sum + width + GAP, 0);
  const left = paper.width === undefined ? Number.POSITIVE_INFINITY : Math.max(12, paper.width - fixed);
  const line = (row: readonly Cell[], style?: Style): string =>
    row
      .map(({ text, style: own }, column) => {
        const shown = column === head.length - 1 ? cut(text, left) : text.padEnd(widths[column] ?? 0);
        const used = own ?? style;
        return used && text !== '' ? paper.paint(used, shown) : shown;
      })
      .join(' '.repeat(GAP))
      .trimEnd();
  return [line(head.map(cell), 'bold'), ...cells.map(row => line(row))].join('\n');
}

/** Breaks a text into lines of the paper's width, each after the first under its beginning. */
export function wrapped(paper: Paper, prefix: string, text: string): string {
  const width = (paper.width ?? 100) - prefix.length;
  const lines: string[] = [];
  for (const paragraph of text.split('\n')) {
    let line = '';
    for (const word of paragraph.split(' ')) {
      if (line !== '' && line.length + 1 + word.length > Math.max(30, width)) {
        lines.push(line);
        line = word;
      } else line = line === '' ? word : `${line} ${word}`;
    }
    lines.push(line);
  }
  return lines.map((line, index) => (index === 0 ? prefix : ' '.repeat(prefix.length)) + line).join('\n');
}
