import { deflateSync, inflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { chunk, decode, encode, type Picture } from './png.ts';

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');

/** Rows of filtered bytes, RGB, as a file. */
function file(width: number, rows: readonly (readonly number[])[]): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(rows.length, 4);
  head.set([8, 2, 0, 0, 0], 8);
  return Buffer.concat([SIGNATURE, chunk('IHDR', head), chunk('IDAT', deflateSync(Buffer.from(rows.flat())))]);
}

/** Of what encode writes: the colours of the palette in the order of the pixels. */
function drawn(png: Buffer): number[] {
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
  const part = (type: string): Buffer => {
    const at = png.indexOf(type);
    return png.subarray(at + 4, at + 4 + png.readUInt32BE(at - 4));
  };
  const rows = inflateSync(part('IDAT'));
  return Array.from({ length: width * height }, (_, index) =>
    part('PLTE').readUIntBE(rows[Math.floor(index / width) * (width + 1) + 1 + (index % width)]! * 3, 3),
  );
}

describe('pictures', () => {
  it.each([
    ['none', [0, 10, 20, 30, 40, 50, 60]],
    ['left', [1, 10, 20, 30, 30, 30, 30]],
    ['up', [2, 9, 18, 27, 36, 45, 54]],
    ['average', [3, 10, 19, 29, 33, 38, 42]],
    ['Paeth', [4, 9, 18, 27, 30, 30, 30]],
  ])('are read whatever the filter: %s', (_name, second) => {
    const { pixels } = decode(file(2, [[0, 1, 2, 3, 4, 5, 6], second]));
    expect([...pixels].map(colour => colour.toString(16))).toEqual(['10203', '40506', 'a141e', '28323c']);
  });

  it('of few colours stay as they are', () => {
    const pixels = Uint32Array.from({ length: 12 }, (_, index) => (index % 5) * 0x10203);
    expect(drawn(encode({ width: 4, height: 3, pixels }))).toEqual([...pixels]);
  });

  it('of many colours keep those of areas, and lose little of the rest', () => {
    const shade = (index: number): number => ((index * 7919) % 256) * 65536 + ((index * 104729) % 256) * 256 + 128;
    const pixels = Uint32Array.from({ length: 10_000 }, (_, index) => (index < 5000 ? 0xfbfbfc : shade(index)));
    const picture: Picture = { width: 100, height: 100, pixels };
    const found = drawn(encode(picture));
    expect(new Set(found).size).toBeLessThanOrEqual(256);
    expect(found.slice(0, 5000).every(colour => colour === 0xfbfbfc)).toBe(true);
    const far = found.map((colour, index) => Math.abs((colour >> 16) - (pixels[index]! >> 16)));
    expect(Math.max(...far)).toBeLessThan(32);
  });
});
