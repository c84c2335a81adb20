import { describe, expect, it } from 'vitest';
import { hidden, hiderOf } from './hide.ts';

const secret = (password: string) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 's' },
  data: { password: Buffer.from(password).toString('base64') },
});

describe('what leaves', () => {
  it.each(['correct horse', 'quote " and \\ stroke', 'üñïçødé ✓ secret'])('holds no %j', password => {
    const hide = hiderOf([secret(password)]);
    const answer = { causes: [{ what: `login failed with ${password}`, count: 1 }], fine: 'nothing here' };
    expect(hidden(hide, answer)).toEqual({
      causes: [{ what: 'login failed with (secret)', count: 1 }],
      fine: 'nothing here',
    });
  });

  it('holds no line of a value of several, and as many lines as before', () => {
    expect(hiderOf([secret('first line\nsecond line')])('first line\nx\nsecond line')).toBe('(secret)\nx\n(secret)');
  });

  it('is untouched where there is nothing to hide', () => {
    const answer = { a: ['correct', 'horse'], b: undefined };
    expect(hidden(hiderOf([secret('correct horse')]), answer)).toBe(answer);
  });
});
