/**
 * Test files that need a process of their own: they open sockets, start processes, use the machine's clock, or replace
 * modules for those that are loaded after them. All others share one process per core, with the code loaded once.
 */
const FOLDERS = ['src/real', 'src/server', 'src/cli', 'lab', 'evidence', 'bench', 'release'];
const FILES = [
  'src/embedded/sim/tripwire.test.ts',
  'test/house/rows.test.ts',
  ...['bad-command', 'canary', 'commands', 'hash-key'].map(name => `test/functional/${name}.test.ts`),
];
export const ALONE: readonly string[] = [...FOLDERS.map(folder => `${folder}/**/*.test.{ts,mjs}`), ...FILES];
export const isAlone = (path: string): boolean =>
  FILES.includes(path) || FOLDERS.some(folder => path.startsWith(`${folder}/`));

/** Those that take longest, longest first, by their names. A file that is not named here only starts later. */
export const SLOW = [
  ...['samples', 'nodes', 'transport', 'tls', 'leaving', 'rotation', 'ownership', 'roles', 'hardening'],
  ...[
    'plan',
    'exposure',
    'hosts',
    'sequences',
    'registry',
    'why',
    'jobs',
    'nova',
    'faults',
    'bad-input',
    'housekeeping',
  ],
  ...['ceph', 'hostile', 'override', 'restart', 'random'],
] as const;
