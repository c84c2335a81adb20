import { describe, expect, it } from 'vitest';
import { password } from './clock.ts';

const random = { next: () => 0, bytes: (length: number) => new Uint8Array(length) };

describe('password', () => {
  it('is as long as asked for, and never longer than bcrypt reads', () => {
    expect(password(random)).toHaveLength(32);
    expect(password(random, 72)).toHaveLength(72);
    expect(() => password(random, 73)).toThrow(/bcrypt reads 72/);
  });
});
