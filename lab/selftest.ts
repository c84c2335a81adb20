import { join } from 'node:path';
import { startVitest } from 'vitest/node';
import { repo } from './paths.ts';

/** The tests of the lab itself. They start labs, so no other run of tests includes them. */
export async function selftest(): Promise<number> {
  const vitest = await startVitest('test', [join(repo, 'lab')], {
    config: false,
    root: repo,
    watch: false,
    include: ['lab/**/*.real.test.ts'],
    fileParallelism: false,
  });
  await vitest.close();
  return vitest.state.getCountOfFailedTests() === 0 && vitest.state.getFiles().length > 0 ? 0 : 1;
}
