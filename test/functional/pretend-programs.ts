import type { Programs } from '../../src/embedded/controllers/program.ts';

/** The stories need one program that fails. */
export const storyPrograms: Programs = run =>
  run.argv[0] === 'fail' ? { exit: 3, message: 'asked to fail', after: 30 } : undefined;
