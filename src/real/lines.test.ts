import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { linesOf } from './lines.ts';

async function* cut(bytes: Buffer, sizes: number[]): AsyncGenerator<Uint8Array> {
  let at = 0;
  for (let i = 0; at < bytes.length; i++) {
    const size = sizes[i % sizes.length]!;
    yield new Uint8Array(bytes.buffer, bytes.byteOffset + at, Math.min(size, bytes.length - at));
    at += size;
  }
}
const collect = async (chunks: AsyncIterable<Uint8Array>) => {
  const out: string[] = [];
  for await (const line of linesOf(chunks)) out.push(line);
  return out;
};

describe('lines', () => {
  it('come out whole however the bytes were cut, letters of several bytes included', async () => {
    const line = fc
      .string({ unit: 'binary', minLength: 1, maxLength: 30 })
      .filter(text => text.trim() !== '' && !text.includes('\n'));
    const sizes = fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 });
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 8 }), sizes, fc.boolean(), async (lines, chunks, ended) => {
        const text = lines.join('\n') + (ended ? '\n' : '');
        const wellFormed = lines.map(item => Buffer.from(item).toString());
        expect(await collect(cut(Buffer.from(text), chunks))).toEqual(wellFormed);
      }),
    );
  });

  it('let others have a turn of the event loop, however much has already arrived', async () => {
    const out: string[] = [];
    let seen: number | undefined;
    setImmediate(() => {
      seen = out.length;
    });
    for await (const line of linesOf(cut(Buffer.from('{}\n'.repeat(1000)), [3000]))) out.push(line);
    expect(out.length).toBe(1000);
    expect(seen).toBeLessThanOrEqual(100);
  });

  it('22: a line of megabytes, over many chunks, parses', async () => {
    const big = JSON.stringify({ data: 'x'.repeat(8 * 1024 * 1024) });
    const lines = await collect(cut(Buffer.from(`{}\n${big}\n{}\n`), [16_384]));
    expect([lines.length, lines[1]!.length, JSON.parse(lines[1]!).data.length]).toEqual([
      3,
      big.length,
      8 * 1024 * 1024,
    ]);
  });

  it('22: searches each byte once, however many chunks a line takes', async () => {
    let searched = 0;
    class Counted extends Uint8Array {
      override indexOf(value: number, from = 0): number {
        searched += this.length - from;
        return super.indexOf(value, from);
      }
    }
    async function* chunks() {
      for (let i = 0; i < 2_000; i++) yield new Counted(1_000).fill(120);
      yield new Counted([10]);
    }
    expect((await collect(chunks()))[0]).toHaveLength(2_000_000);
    expect(searched).toBeLessThan(2_100_000);
  });

  it('refuses a line without end', async () => {
    async function* endless() {
      const chunk = new Uint8Array(16 * 1024 * 1024).fill(120);
      for (;;) yield chunk;
    }
    await expect(collect(endless())).rejects.toThrow('longer than');
  });
});
