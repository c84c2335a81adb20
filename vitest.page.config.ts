import { defineConfig } from 'vitest/config';

/** The page in a real browser. */
export default defineConfig({
  test: {
    include: ['test/page/**/*.page.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 300_000,
    fileParallelism: false,
  },
});
