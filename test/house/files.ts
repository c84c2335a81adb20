/**
 * Test files that need a process of their own: they open sockets, start processes, use the machine's clock, or replace
 * modules for those that are loaded after them. All others share one process per core, with the code loaded once.
 */
export const ALONE = [
  'src/{real,server,cli}/**/*.test.ts',
  '{lab,evidence,bench}/**/*.test.ts',
  'release/*.test.mjs',
  'src/embedded/sim/tripwire.test.ts',
  'test/functional/{bad-command,canary,commands,hash-key}.test.ts',
] as const;

/** Those that take longest, longest first. A file that is not named here only starts later. */
export const SLOW: readonly string[] = [];
