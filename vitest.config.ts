import { basename } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { ALONE, SLOW } from './test/house/files.ts';
import { Lines } from './test/house/reporter.ts';

/**
 * What takes longest starts first, so that no core waits for the other at the end. Files of one project follow each other,
 * because its workers are kept from file to file.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = (SLOW as readonly string[]).indexOf(basename(moduleId, '.test.ts'));
      return at === -1 ? SLOW.length : at;
    };
    const last = ({ project }: TestSpecification): number => (project.name === 'alone' ? 1 : 0);
    const sorted = await super.sort(files);
    return sorted.sort((a, b) => last(a) - last(b) || rank(a) - rank(b));
  }
}

const report = process.env.VITEST_REPORT;
const exclude = ['**/node_modules/**', '**/*.{real,lab}.test.ts'];

export default defineConfig({
  test: {
    testTimeout: 30_000,
    // Vitest leaves one core to itself; on two that halves the speed.
    maxWorkers: '100%',
    sequence: { sequencer: LongestFirst },
    // Set by test/run.ts, which prints less and reads the report.
    reporters: report === undefined ? ['default'] : [new Lines(), ['json', { outputFile: report }]],
    coverage: { provider: 'v8', include: ['api/**/*.ts', 'src/**/*.ts'], reporter: ['text-summary', 'json-summary'] },
    projects: [
      {
        extends: true,
        test: {
          name: 'alone',
          include: [...ALONE],
          exclude,
        },
      },
      {
        extends: true,
        test: {
          name: 'simulated',
          include: [
            '{api,src,ui}/**/*.test.ts',
            'test/{functional,e2e,chaos,defects,contract,fuzz,golden,house}/**/*.test.ts',
          ],
          exclude: [...exclude, ...ALONE],
          // Loading the code again for each file took half of the time.
          isolate: false,
          // Snapshots of clouds are many young objects: with V8's default a tenth of the time went into collecting them.
          execArgv: ['--max-semi-space-size=32'],
        },
      },
    ],
  },
});
