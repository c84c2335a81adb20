import { describe, expect, it } from 'vitest';
import { MariaDB } from '../../../api/openstack/mariadb.ts';
import type { Cx } from '../plan/cx.ts';
import type { Managed } from '../plan/managed.ts';
import type { Outcome } from '../plan/outcome.ts';
import { plan, type Row, rowsOf } from '../plan/row.ts';
import { stall, wait } from '../plan/unmet.ts';
import { type EachPass, isEach, runEach, undoEach } from './each.ts';

interface Spec {
  cells: readonly string[];
}
type Nova = Managed & { spec: Spec; status?: { cells?: readonly object[] } };

const row = rowsOf<Nova>();
const nova = (cells: readonly string[], status: object = {}): Nova =>
  ({ apiVersion: 'v1', kind: 'Nova', metadata: { name: 'nova', uid: 'u' }, spec: { cells }, status }) as Nova;
const slow = wait({ reason: 'Progressing', what: 'it starts', who: 'Cluster', next: 'go on' });
const sick = stall({ reason: 'JobFailed', what: 'it failed', who: 'User', next: 'mend it' });

interface Story {
  readonly runs?: Readonly<Record<string, () => Promise<string>>>;
  readonly undo?: (name: string) => Promise<void>;
  /** Marks that the cache shows. */
  readonly marked?: readonly string[];
  readonly first?: string;
  readonly early?: Readonly<Record<string, string>>;
}

/** A pass that notes what the row asked of it. */
function passOf(story: Story, log: string[]): EachPass<Nova> {
  return {
    cx: mark => ({ name: mark }) as Cx<Nova>,
    prune: async mark => void log.push(`prune ${mark}`),
    marked: () => story.marked ?? [],
    text: text => text.replaceAll('secret', '***'),
    again: ms => void log.push(`again ${ms}`),
    reported: {},
  };
}

function cellsRow(story: Story, log: string[]): Row<Nova, ReadonlyMap<string, string>> {
  return row.each('CellsReady', {
    over: object => (object.spec as Spec).cells.map(name => ({ name })),
    first: story.first ?? 'cell0',
    status: 'cells',
    run: async (cx, cell) => {
      log.push(`run ${cell.name} as ${cx.name}`);
      const early = story.early?.[cell.name];
      if (early !== undefined) cx.usable(early);
      cx.line({ hash: `hash of ${cell.name}` });
      return (await story.runs?.[cell.name]?.()) ?? cell.name;
    },
    undo: async (_cx, name) => {
      log.push(`undo ${name}`);
      await story.undo?.(name);
    },
  });
}

async function ran(object: Nova, story: Story = {}) {
  const log: string[] = [];
  const pass = passOf(story, log);
  const cells = cellsRow(story, log);
  if (!isEach<Nova>(cells)) throw new Error('not a row of keys');
  const outcome = await runEach<Nova>(object, pass, cells, {});
  return { log, outcome, lines: pass.reported.cells };
}

const given = (outcome: Outcome): unknown =>
  outcome.is === 'ok' ? outcome.value : 'yields' in outcome ? outcome.yields?.value : undefined;

describe('row.each', () => {
  it('runs every key under a mark of its own and gives all values', async () => {
    const { log, outcome, lines } = await ran(nova(['cell0', 'cell1']));
    expect(log).toEqual([
      'run cell0 as CellsReady.cell0',
      'run cell1 as CellsReady.cell1',
      'prune CellsReady.cell0',
      'prune CellsReady.cell1',
    ]);
    expect(outcome).toEqual({
      is: 'ok',
      value: new Map([
        ['cell0', 'cell0'],
        ['cell1', 'cell1'],
      ]),
    });
    expect(lines).toEqual([
      { name: 'cell0', ready: true, hash: 'hash of cell0' },
      { name: 'cell1', ready: true, hash: 'hash of cell1' },
    ]);
  });

  it('gives nothing before the first can be used, wherever it stands in the list, though the others run', async () => {
    const { log, outcome } = await ran(nova(['alpha', 'cell0']), { runs: { cell0: () => Promise.reject(slow) } });
    expect(log.filter(line => line.startsWith('run'))).toEqual([
      'run alpha as CellsReady.alpha',
      'run cell0 as CellsReady.cell0',
    ]);
    expect(outcome).toMatchObject({ is: 'wait', reason: 'Progressing', message: expect.stringMatching(/^cell0: /) });
    expect(given(outcome)).toBeUndefined();
  });

  it('goes on with the rest as soon as the first can be used, though it is not through', async () => {
    const story = { early: { cell0: 'mapped' }, runs: { cell0: () => Promise.reject(slow) } };
    const { outcome, lines } = await ran(nova(['cell0', 'cell1']), story);
    expect(outcome.is).toBe('wait');
    expect(given(outcome)).toEqual(
      new Map([
        ['cell0', 'mapped'],
        ['cell1', 'cell1'],
      ]),
    );
    expect(lines).toMatchObject([
      { name: 'cell0', ready: false, reason: 'Progressing' },
      { name: 'cell1', ready: true },
    ]);
  });

  it('holds nobody for one broken key, tells of the worst, and prunes only what ran to its end (rule 7)', async () => {
    const runs = { cell1: () => Promise.reject(slow), cell2: () => Promise.reject(sick) };
    const { log, outcome, lines } = await ran(nova(['cell0', 'cell1', 'cell2', 'cell3']), { runs });
    expect(outcome).toMatchObject({ is: 'stall', reason: 'JobFailed', message: 'cell2: it failed. User: mend it' });
    expect(given(outcome)).toEqual(
      new Map([
        ['cell0', 'cell0'],
        ['cell3', 'cell3'],
      ]),
    );
    expect(log.filter(line => line.startsWith('prune'))).toEqual(['prune CellsReady.cell0', 'prune CellsReady.cell3']);
    expect(lines).toHaveLength(4);
  });

  it('retries for an error even when another key stands still', async () => {
    const broken = new Error('boom secret');
    const runs = { cell1: () => Promise.reject(sick), cell2: () => Promise.reject(broken) };
    const { outcome, lines } = await ran(nova(['cell0', 'cell1', 'cell2']), { runs });
    expect(outcome).toMatchObject({ is: 'error', error: broken });
    expect(lines).toMatchObject([{}, {}, { message: expect.stringContaining('boom ***') }]);
  });

  it('looks again when any key asks for it', async () => {
    const later = wait({ reason: 'Later', what: 'x', who: 'Operator', next: 'y', after: 5000 });
    const { log } = await ran(nova(['cell0', 'cell1']), { runs: { cell1: () => Promise.reject(later) } });
    expect(log).toContain('again 5000');
  });

  it('takes back a key that vanished, then prunes it and drops its line', async () => {
    const before = nova(['cell0'], {
      cells: [
        { name: 'cell0', ready: true },
        { name: 'cell1', ready: true },
      ],
    });
    const { log, lines, outcome } = await ran(before);
    expect(log).toEqual(expect.arrayContaining(['undo cell1', 'prune CellsReady.cell1']));
    expect(log.indexOf('undo cell1')).toBeLessThan(log.indexOf('prune CellsReady.cell1'));
    expect(outcome.is).toBe('ok');
    expect(lines).toMatchObject([{ name: 'cell0' }]);
  });

  it('finds a vanished key by the marks on what it made, when a crash ate its line', async () => {
    const { log } = await ran(nova(['cell0']), { marked: ['cell0', 'cell7'] });
    expect(log.filter(line => line.startsWith('undo'))).toEqual(['undo cell7']);
  });

  it('keeps the line and what a vanished key made while it can not be taken back, and holds nobody', async () => {
    const before = nova(['cell0'], { cells: [{ name: 'cell1', ready: true, hash: 'old' }] });
    const { log, lines, outcome } = await ran(before, { undo: () => Promise.reject(sick) });
    expect(log).not.toContain('prune CellsReady.cell1');
    expect(lines).toMatchObject([
      { name: 'cell0', ready: true },
      { name: 'cell1', ready: false, reason: 'JobFailed', hash: 'old' },
    ]);
    expect(outcome).toMatchObject({ is: 'stall', message: expect.stringMatching(/^cell1: /) });
    expect(given(outcome)).toEqual(new Map([['cell0', 'cell0']]));
  });

  it('keeps what a key said of itself until it says otherwise', async () => {
    const before = nova(['cell0', 'cell1'], { cells: [{ name: 'cell1', ready: true, uuid: 'u1' }] });
    const { lines } = await ran(before, { runs: { cell1: () => Promise.reject(slow) } });
    expect(lines).toMatchObject([{}, { name: 'cell1', ready: false, reason: 'Progressing', uuid: 'u1' }]);
  });

  it('needs no first', async () => {
    const { outcome } = await ran(nova(['a', 'b']), { first: 'none', runs: { a: () => Promise.reject(slow) } });
    expect(given(outcome)).toEqual(new Map([['b', 'b']]));
  });

  it('takes back all keys of a deleted object, the first one last, and leaves pruning to the owner', async () => {
    const log: string[] = [];
    const story = { marked: ['cell9'] };
    const cells = cellsRow(story, log);
    if (!isEach<Nova>(cells)) throw new Error('not a row of keys');
    const object = nova(['cell0', 'cell1']);
    expect(await undoEach<Nova>(object, passOf(story, log), cells)).toMatchObject({ is: 'ok' });
    expect(log).toEqual(['undo cell1', 'undo cell9', 'undo cell0']);
    log.length = 0;
    const stuck = cellsRow({ undo: name => (name === 'cell1' ? Promise.reject(sick) : Promise.resolve()) }, log);
    if (!isEach<Nova>(stuck)) throw new Error('not a row of keys');
    expect(await undoEach<Nova>(object, passOf({}, log), stuck)).toMatchObject({ is: 'stall' });
    expect(log).not.toContain('undo cell0');
  });

  it('has a place in the order of a plan like any row', () => {
    const input = row('InputReady', { run: async () => 'x' });
    const cells = row.each('CellsReady', { needs: { input }, over: () => [], run: async () => 1 });
    const api = row('APIReady', { needs: { cells }, run: async (_cx, { cells }) => cells.size });
    expect(plan<Nova>(MariaDB, { api }).rows.map(r => r.type)).toEqual(['InputReady', 'CellsReady', 'APIReady']);
  });
});
