import { describe, it } from 'vitest';
import { sequence } from './sequences.ts';

/** All of them: `make sequences`. */
const [first = 1, count = 8] = (process.env.SEQUENCES ?? '').split(',').filter(Boolean).map(Number);

describe('two clouds on shared servers under random edits, deletions and re-creations', () => {
  it.each(Array.from({ length: count }, (_, index) => first + index))(
    'sequence %i loses nothing and leaves nothing',
    sequence,
    120_000,
  );
});
