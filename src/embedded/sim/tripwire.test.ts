import { randomBytes, webcrypto } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { tripwire } from './tripwire.ts';

describe('tripwire', () => {
  it.each<[string, () => unknown]>([
    ['setTimeout', () => clearTimeout(setTimeout(() => {}, 1))],
    ['timers/promises', () => wait(1)],
    ['AbortSignal.timeout', () => AbortSignal.timeout(1)],
    ['fs', () => readFile('/dev/null')],
    ['WebCrypto', () => webcrypto.subtle.digest('SHA-256', new Uint8Array(1))],
    ['randomBytes with a callback', () => new Promise(resolve => randomBytes(8, resolve))],
    ['Date.now', () => Date.now()],
    ['new Date()', () => new Date()],
    ['Math.random', () => Math.random()],
    ['performance.now', () => performance.now()],
  ])('catches %s', async (_name, reach) => {
    await expect(tripwire(async () => void (await reach()))).rejects.toThrow(/Left the simulation/);
  });

  it('lets promises, ticks and immediates pass, and gives the result', async () => {
    const result = await tripwire(async () => {
      await new Promise<void>(resolve => setImmediate(resolve));
      await new Promise<void>(resolve => process.nextTick(resolve));
      queueMicrotask(() => {});
      return new Date(0).toISOString();
    });
    expect(result).toBe('1970-01-01T00:00:00.000Z');
  });

  it('gives the clock and the generator back', async () => {
    await tripwire(async () => {});
    expect(Math.random.toString()).toContain('native code');
    expect(Date.toString()).toContain('native code');
    expect(performance.now.toString()).not.toContain('record');
  });

  it('passes on the failure of the body itself', async () => {
    await expect(
      tripwire(async () => {
        throw new Error('own');
      }),
    ).rejects.toThrow('own');
  });
});
