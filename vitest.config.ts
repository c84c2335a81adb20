import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: [
      '{api,src,ui,lab,evidence,bench}/**/*.test.ts',
      'release/*.test.mjs',
      'test/{functional,e2e,chaos,defects,contract,fuzz,golden,house}/**/*.test.ts',
    ],
    exclude: ['**/node_modules/**', '**/*.{real,lab}.test.ts'],
    testTimeout: 30_000,
    // Vitest leaves one core to itself; on two that halves the speed.
    maxWorkers: '100%',
    coverage: { provider: 'v8', include: ['api/**/*.ts', 'src/**/*.ts'], reporter: ['text-summary', 'json-summary'] },
  },
});
