import { type Entry, filesOf, holds, keyOf, type Level } from './entries.ts';
import type { Feature } from './features.ts';

/** What can be said of a feature at a level: by its worst run. */
export type State = 'failed' | 'none' | 'stale' | 'holds';
export const SIGNS: Readonly<Record<State, string>> = { holds: '✓', stale: '○', failed: '✗', none: '–' };
const WORST: readonly State[] = ['failed', 'none', 'stale', 'holds'];

export interface Column {
  readonly title: string;
  readonly level: Level;
  readonly release?: string;
}

/** Levels in the order of what they prove; the lab once per release. */
export const columnsOf = (releases: readonly string[]): readonly Column[] => [
  { title: 'simulated', level: 'simulated' },
  { title: 'real API', level: 'api' },
  ...releases.map(release => ({ title: `lab ${release}`, level: 'real' as const, release })),
];

export interface Known {
  readonly entries: readonly Entry[];
  /** The hash that a run with these files has in the tree as it is now. */
  readonly hash: (files: readonly string[]) => string;
}

export const entryOf = ({ entries }: Known, name: string, { level, release }: Column): Entry | undefined =>
  entries.find(each => keyOf(each) === keyOf({ name, level, ...(release !== undefined && { release }) }));

export function stateOfRun(known: Known, name: string, column: Column): State {
  const entry = entryOf(known, name, column);
  if (entry === undefined || entry.result === 'skipped') return 'none';
  if (entry.result === 'failed') return 'failed';
  return holds(entry, known.hash(filesOf(name))) ? 'holds' : 'stale';
}

export function stateOf(known: Known, feature: Feature, column: Column): State {
  const runs = feature[column.level] ?? [];
  if (runs.length === 0) return 'none';
  const states = runs.map(name => stateOfRun(known, name, column));
  return WORST.find(state => states.includes(state)) ?? 'none';
}

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |\n`;

function table(
  known: Known,
  title: string,
  rows: readonly Feature[],
  columns: readonly Column[],
  docs: string,
): string {
  const head = row([title, ...columns.map(column => column.title)]);
  const line = `|---|${columns.map(() => ':-:|').join('')}\n`;
  const body = rows.map(feature =>
    row([feature.what.replaceAll('](', `](${docs}`), ...columns.map(column => SIGNS[stateOf(known, feature, column)])]),
  );
  return head + line + body.join('');
}

const LEGEND = `${SIGNS.holds} passed with the code of this tree, ${SIGNS.stale} passed and not repeated since the code changed, ${SIGNS.failed} failed when last run, ${SIGNS.none} not seen.`;

/** What stands between the markers of the README. */
export function readmeTable(
  known: Known,
  groups: Readonly<Record<string, readonly Feature[]>>,
  columns: readonly Column[],
): string {
  const tables = Object.entries(groups).map(([title, rows]) => table(known, title, rows, columns, 'docs/'));
  return `${LEGEND}\n\n${tables.join('\n')}`;
}

const [BEGIN, END] = ['<!-- status:begin -->', '<!-- status:end -->'];

export function withTable(readme: string, text: string): string {
  const [from, to] = [readme.indexOf(BEGIN), readme.indexOf(END)];
  if (from < 0 || to < from) throw new Error(`README.md needs the lines ${BEGIN} and ${END}, in this order`);
  return `${readme.slice(0, from + BEGIN.length)}\n${text}${readme.slice(to)}`;
}

const day = (date: string): string => date.slice(0, 10);

function testsOf({ tests }: Entry): string | undefined {
  if (tests === undefined) return undefined;
  const { passed, failed, skipped } = tests;
  return `${passed} of ${passed + failed} tests${skipped > 0 ? `, ${skipped} not run` : ''}`;
}

const figuresOf = ({ figures = {} }: Entry): string[] =>
  Object.entries(figures).map(([name, value]) => `${name} ${value}`);

const plain = (text: string): string => text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|');

/** `passed on 2026-11-17, 17 of 17 tests; Ready seconds 146. Not repeated since: the code changed` */
export function summaryOf(known: Known, name: string, column: Column): string {
  const entry = entryOf(known, name, column);
  if (entry === undefined) return 'not seen yet';
  const facts = [
    `${entry.result} on ${day(entry.date)}`,
    testsOf(entry),
    entry.commit && `commit ${entry.commit}`,
    ...figuresOf(entry),
  ].filter(Boolean);
  const state = stateOfRun(known, name, column);
  const why = entry.code === undefined ? 'no record of the code it ran with' : 'code changed';
  const more = [
    state === 'stale' && `**Not repeated since ${day(entry.date)}: ${why}.**`,
    entry.failure && `Failure: ${plain(entry.failure)}.`,
    entry.lastPassed && `It last passed on ${day(entry.lastPassed)}.`,
  ].filter(Boolean);
  return [`${facts.join(', ')}.`, ...more].join(' ');
}

/** Where a run is to be found, from docs/. */
const source = (name: string): string => `[\`${name}\`](../${filesOf(name)[0]})`;

const LEVELS: Readonly<Record<Level, string>> = { simulated: 'simulated', api: 'real API', real: 'lab' };

/** What a feature is shown by, and what limits that. */
function shown(feature: Feature): string {
  const parts = (['simulated', 'api', 'real'] as const)
    .filter(level => (feature[level] ?? []).length > 0)
    .map(level => `${LEVELS[level]}: ${(feature[level] ?? []).map(source).join(', ')}`);
  const by = parts.length > 0 ? `${parts.join('; ')}.` : 'no run shows it.';
  return `- ${feature.what}. ${by[0]?.toUpperCase()}${by.slice(1)}${feature.note ? ` ${feature.note}` : ''}\n`;
}

function runs(known: Known, groups: Readonly<Record<string, readonly Feature[]>>, columns: readonly Column[]): string {
  const all = Object.values(groups).flat();
  const lines = columns.flatMap(column => {
    const named = all.flatMap(feature => feature[column.level] ?? []);
    const recorded = known.entries.filter(each => each.level === column.level).map(each => each.name);
    return [...new Set([...named, ...recorded])]
      .sort()
      .map(name =>
        row([SIGNS[stateOfRun(known, name, column)], column.title, source(name), summaryOf(known, name, column)]),
      );
  });
  return `| | Where | Run | What was seen |\n|---|---|---|---|\n${lines.join('')}`;
}

/** docs/status.md. */
export function statusPage(
  known: Known,
  groups: Readonly<Record<string, readonly Feature[]>>,
  columns: readonly Column[],
): string {
  const sections = Object.entries(groups).map(
    ([title, rows]) => `## ${title}s\n\n${table(known, title, rows, columns, '')}\n${rows.map(shown).join('')}\n`,
  );
  return `# What was seen to work

Generated by \`make manifests\` from \`docs/evidence.json\`, which the runs themselves write, and from the table in
\`evidence/features.ts\`. Do not edit it.

"simulated" is the operator on the simulated cluster (\`make test\`, \`make test-page\`). "real API" is the operator, or a part of
it, on real servers (kube-apiserver, MariaDB, RabbitMQ, Keystone, oslo.config) without pods: \`make test-real\`,
\`make conformance\`, \`make test-options\`, \`make test-alerts\`. "lab" is real Kubernetes with a kubelet and real OpenStack:
\`make lab-regression\`.

${LEGEND} A feature is as good as the worst of its runs.

Each run is compared with a hash of \`src\`, \`api\`, \`lab\` and \`config\` (without their unit tests) and of its own test. When
these have changed since, it is shown as not repeated, until somebody repeats it.

${sections.join('')}## Runs

${runs(known, groups, columns)}`;
}
