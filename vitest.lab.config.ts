import { defineConfig } from 'vitest/config';

/** Stories on the lab, one after the other; each builds on the one before, so the first that fails ends the file. */
export default defineConfig({
  test: {
    include: ['test/e2e/**/*.lab.test.ts'],
    hookTimeout: 600_000,
    fileParallelism: false,
    bail: 1,
    reporters: ['verbose'],
    disableConsoleIntercept: true,
  },
});
