import { crc32, deflateSync, inflateSync } from 'node:zlib';

/** Pictures of flat colours and text need no 16 million colours: with 256 of them a file is a third as long. */

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
const PALETTE = 256;
/** So many of the most frequent colours are areas: they stay as they are, however near each other. */
const AREAS = 32;

export interface Picture {
  readonly width: number;
  readonly height: number;
  /** 0xRRGGBB, row by row. */
  readonly pixels: Uint32Array;
}

/** What Chromium writes: 8 bits per channel, RGB or RGBA, not interlaced. */
export function decode(png: Buffer): Picture {
  let [width, height, channels] = [0, 0, 3];
  const data: Buffer[] = [];
  for (let at = SIGNATURE.length; at < png.length; ) {
    const length = png.readUInt32BE(at);
    const type = png.toString('latin1', at + 4, at + 8);
    const body = png.subarray(at + 8, at + 8 + length);
    at += 12 + length;
    if (type === 'IDAT') data.push(body);
    if (type !== 'IHDR') continue;
    [width, height] = [body.readUInt32BE(0), body.readUInt32BE(4)];
    const [depth, colour, , , interlaced] = body.subarray(8);
    if (depth !== 8 || (colour !== 2 && colour !== 6) || interlaced !== 0)
      throw new Error(`a PNG of another kind: depth ${depth}, colour ${colour}, interlace ${interlaced}`);
    channels = colour === 6 ? 4 : 3;
  }
  const bytes = unfiltered(inflateSync(Buffer.concat(data)), width * channels, height, channels);
  const pixels = Uint32Array.from({ length: width * height }, (_, index) => bytes.readUIntBE(index * channels, 3));
  return { width, height, pixels };
}

/** https://www.w3.org/TR/png-3/#9Filters */
function unfiltered(raw: Buffer, stride: number, height: number, channels: number): Buffer {
  const out = Buffer.alloc(stride * height);
  for (let row = 0; row < height; row++) {
    const filter = raw[row * (stride + 1)];
    for (let column = 0; column < stride; column++) {
      const at = row * stride + column;
      const left = column >= channels ? out[at - channels]! : 0;
      const up = row > 0 ? out[at - stride]! : 0;
      const corner = column >= channels && row > 0 ? out[at - stride - channels]! : 0;
      out[at] = raw[row * (stride + 1) + 1 + column]! + guess(filter, left, up, corner);
    }
  }
  return out;
}

function guess(filter: number | undefined, left: number, up: number, corner: number): number {
  if (filter === 1) return left;
  if (filter === 2) return up;
  if (filter === 3) return (left + up) >> 1;
  if (filter !== 4) return 0;
  const [a, b, c] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)];
  return a <= b && a <= c ? left : b <= c ? up : corner;
}

export function encode({ width, height, pixels }: Picture): Buffer {
  const palette = paletteOf(pixels);
  const known = new Map<number, number>(palette.map((colour, index) => [colour, index]));
  const rows = Buffer.alloc((width + 1) * height);
  for (const [index, colour] of pixels.entries()) {
    const found = known.get(colour) ?? nearest(palette, colour);
    known.set(colour, found);
    rows[Math.floor(index / width) * (width + 1) + 1 + (index % width)] = found;
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 3, 0, 0, 0], 8);
  const colours = Buffer.alloc(palette.length * 3);
  for (const [index, colour] of palette.entries()) colours.writeUIntBE(colour, index * 3, 3);
  const data = deflateSync(rows, { level: 9, memLevel: 9 });
  const body = [chunk('IHDR', head), chunk('PLTE', colours), chunk('IDAT', data), chunk('IEND', Buffer.alloc(0))];
  return Buffer.concat([SIGNATURE, ...body]);
}

export function chunk(type: string, body: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), body]);
  const out = Buffer.alloc(8 + named.length);
  out.writeUInt32BE(body.length, 0);
  named.copy(out, 4);
  out.writeUInt32BE(crc32(named), 4 + named.length);
  return out;
}

/** The colours of areas as they are; of the shades between, the most frequent of each neighbourhood. */
function paletteOf(pixels: Uint32Array): readonly number[] {
  const counts = new Map<number, number>();
  for (const colour of pixels) counts.set(colour, (counts.get(colour) ?? 0) + 1);
  const frequent = [...counts].sort(([, a], [, b]) => b - a).map(([colour]) => colour);
  let palette: readonly number[] = frequent;
  for (let bits = 1; bits < 8 && palette.length > PALETTE; bits++) {
    const mask = 0x010101 * ((0xff << bits) & 0xff);
    const seen = new Set<number>();
    palette = frequent.filter((colour, index) => {
      const isNew = !seen.has(colour & mask);
      seen.add(colour & mask);
      return isNew || index < AREAS;
    });
  }
  return palette;
}

function nearest(palette: readonly number[], colour: number): number {
  const part = (of: number, by: number): number => (of >> by) & 255;
  let [best, least] = [0, Number.POSITIVE_INFINITY];
  for (const [index, other] of palette.entries()) {
    const distance = [16, 8, 0].reduce((sum, by) => sum + (part(colour, by) - part(other, by)) ** 2, 0);
    if (distance < least) [best, least] = [index, distance];
  }
  return best;
}
