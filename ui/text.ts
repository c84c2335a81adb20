/** Texts in pictures, cut to the room that they have: how wide one is depends on the fonts that the browser finds. */

export interface Style {
  /** Pixels. */
  readonly size: number;
  readonly weight?: number;
}

let pen: CanvasRenderingContext2D | null | undefined;
const widths = new Map<string, number>();
/** Steps of a roll-out come and go; their names are short. */
const MOST_KNOWN = 2000;

function widthOf(text: string, { size, weight = 400 }: Style): number {
  pen ??= document.createElement('canvas').getContext('2d');
  const font = `${weight} ${size}px ${getComputedStyle(document.body).fontFamily}`;
  const key = `${font} ${text}`;
  let width = widths.get(key);
  if (width === undefined) {
    if (pen) pen.font = font;
    width = pen?.measureText(text).width ?? text.length * size * 0.6;
    if (widths.size >= MOST_KNOWN) widths.clear();
    widths.set(key, width);
  }
  return width;
}

export function fitted(text: string, room: number, style: Style): string {
  if (widthOf(text, style) <= room) return text;
  let [fits, tooLong] = [0, text.length];
  while (tooLong - fits > 1) {
    const middle = Math.floor((fits + tooLong) / 2);
    if (widthOf(`${text.slice(0, middle)}…`, style) <= room) fits = middle;
    else tooLong = middle;
  }
  return `${text.slice(0, fits).trimEnd()}…`;
}
