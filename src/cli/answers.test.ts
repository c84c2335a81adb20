import { describe, expect, it } from 'vitest';
import { hidden } from './answers.ts';
import { hiding } from './secrets.ts';

const secret = (password: string) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 's' },
  data: { password: Buffer.from(password).toString('base64') },
});

describe('what leaves', () => {
  it.each(['correct horse', 'quote " and \\ stroke', 'two\nlines of it', 'üñïçødé ✓ secret'])(
    'holds no %j',
    password => {
      const { hide } = { hide: hiding([secret(password)]) };
      const answer = { causes: [{ what: `login failed with ${password}`, count: 1 }], fine: 'nothing here' };
      expect(hidden({ hide }, answer)).toEqual({
        causes: [{ what: 'login failed with (secret)', count: 1 }],
        fine: 'nothing here',
      });
    },
  );

  it('is untouched where there is nothing to hide', () => {
    const answer = { a: ['correct', 'horse'], b: undefined };
    expect(hidden({ hide: hiding([secret('correct horse')]) }, answer)).toBe(answer);
  });
});
