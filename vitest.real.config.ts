import { defineConfig } from 'vitest/config';

/** Tests against real servers, one file at a time: each starts its own. */
export default defineConfig({
  test: {
    include: ['test/**/*.real.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 600_000,
    fileParallelism: false,
  },
});
