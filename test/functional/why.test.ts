import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { Nova } from '../../api/openstack/nova.ts';
import { commandOf } from '../../src/embedded/controllers/program.ts';
import { stateOf } from '../../src/insight/status/status.ts';
import { type View, viewOf } from '../../src/insight/view/view.ts';
import { type Cause, type Why, why } from '../../src/insight/why/why.ts';
import { Pod } from '../../src/kube/resource.ts';
import { type Breakage, type Expected, PAIRS, SINGLE } from './breakages.ts';
import { Cloud, NS, type Rest } from './cloud.ts';
import { inOtherWords, sameBut } from './reworded.ts';
import { ours, slice } from './stories.ts';

let ready: Promise<Rest> | undefined;
const readySlice = (): Promise<Rest> => {
  ready ??= Cloud.start().then(async cloud => {
    cloud.apply(slice());
    await cloud.ready(OpenStackControlPlane, 'slice');
    await cloud.settle();
    return cloud.rest();
  });
  return ready;
};

/** Long enough for back-offs and for patience with Jobs to run out. */
const AFTER = 900;

async function breaking(breakages: readonly Breakage[]): Promise<Broken> {
  const begins = breakages.some(b => b.begins === 'applied') ? 'applied' : breakages[0]!.begins;
  // Programs work until the cloud stands.
  let sick = begins !== 'ready';
  const cloud = await Cloud.start({
    ...(begins === 'ready' && { from: await readySlice(), seed: 2 }),
    programs: run => (sick ? breakages.map(b => b.program?.(run)).find(outcome => outcome !== undefined) : undefined),
    faults: { intercept: request => breakages.map(b => b.request?.(request)).find(fault => fault !== undefined) },
    backendFaults: call => {
      for (const breakage of breakages) breakage.call?.(call);
    },
  });
  if (begins === 'ready') await cloud.settle();
  sick = true;
  const spec = Object.assign({}, ...breakages.map(b => b.spec));
  for (const { act } of breakages) if (begins !== 'ready') await act?.(cloud);
  if (begins === 'applied' || Object.keys(spec).length > 0) cloud.apply(slice(spec));
  for (const { act } of breakages) if (begins === 'ready') await act?.(cloud);
  await cloud.sim.run(Math.max(...breakages.map(b => b.after ?? AFTER)) * 1000);
  const view = viewOf(cloud.store.objects(), cloud.sim.clock.wall());
  const open = view.ours.filter(object => stateOf(object) !== 'ready').map(o => `${o.kind} ${o.metadata.name}`);
  return { view, answer: why(view), open };
}

interface Broken {
  readonly view: View;
  readonly answer: Why;
  readonly open: readonly string[];
}

/** Twice: with the operator's words, and with others for each of its texts, by which nothing may change but these texts. */
async function broken(...breakages: readonly Breakage[]): Promise<Broken> {
  const [plain, other] = await inOtherWords(() => breaking(breakages));
  sameBut(plain.view, other.view);
  return plain;
}

const short = (cause: Cause) => `${cause.reason}: ${cause.root.kind} ${cause.root.name}`;

function check(answer: Why, open: readonly string[], expected: readonly Expected[]): void {
  const found = answer.causes.map(short);
  expect(found, JSON.stringify(answer, null, 1)).toHaveLength(expected.length);
  for (const { reason, root, who, command } of expected) {
    const cause = answer.causes.find(c => c.reason === reason && `${c.root.kind} ${c.root.name}`.startsWith(root));
    expect(cause && short(cause), `${reason} ${root} among ${found.join(', ')}`).toBeDefined();
    expect(cause?.who).toBe(who);
    expect(cause?.command).toMatch(command);
    expect(cause?.chain.length).toBeGreaterThan(0);
  }
  // Nothing that is not ready is left without an explanation.
  const explained = new Set(
    answer.causes.flatMap(c => [
      ...c.consequences,
      ...c.chain.map(link => link.what),
      ...(c.root.kind ? [`${c.root.kind} ${c.root.name}`] : []),
    ]),
  );
  expect(open.filter(object => !explained.has(object))).toEqual([]);
}

describe('why names the cause, who acts and the next command', { timeout: 120_000 }, () => {
  it.each(SINGLE.map(breakage => [breakage.id, breakage] as const))('%s', async (_id, breakage) => {
    const { answer, open } = await broken(breakage);
    check(answer, open, [breakage.expected]);
  });

  const named = (id: string): Breakage => SINGLE.find(breakage => breakage.id === id)!;
  it.each(PAIRS)('%s and %s', async (one, other) => {
    const { answer, open } = await broken(named(one), named(other));
    check(answer, open, [named(one).expected, named(other).expected]);
  });

  it("a cell's database is down: the cell and what is above it are consequences, the other cell is not", async () => {
    let sick = false;
    const cloud = await Cloud.start({
      from: await readySlice(),
      seed: 4,
      programs: run =>
        sick && run.pod.metadata.name === 'celldb-0' && /mariadbd|mysqld/.test(commandOf(run))
          ? { exit: 1, message: '[ERROR] Plugin InnoDB init function returned error', after: 1_000 }
          : undefined,
    });
    const fake = { novaComputeTemplates: { fake: { computeDriver: 'fake' } } };
    const cells = { cell0: {}, cell1: { ...fake, databaseInstance: 'celldb' }, cell2: fake };
    cloud.apply(ours('MariaDB', 'celldb'), ours('Nova', 'nova', { cellTemplates: cells }));
    await cloud.ready(Nova, 'nova');
    await cloud.settle();
    sick = true;
    cloud.hands.remove(Pod, NS, 'celldb-0');
    await cloud.sim.run(AFTER * 1000);
    const view = viewOf(cloud.store.objects(), cloud.sim.clock.wall());
    const { causes } = why(view);
    expect(causes.map(short)).toEqual(['CrashLoop: Pod celldb-0']);
    expect(causes[0]?.consequences).toContain('Nova nova');
    expect(causes[0]?.consequences.filter(name => name.includes('cell2'))).toEqual([]);
    const cell = view.get('NovaCell', NS, 'nova-cell1');
    expect(why(view, cell).causes.map(short)).toEqual(stateOf(cell!) === 'ready' ? [] : ['CrashLoop: Pod celldb-0']);
    expect(why(view, view.get('Keystone', NS, 'keystone')).causes).toEqual([]);
  });

  it('there are at least 30, and 10 of them pairs', () => {
    expect(PAIRS.length).toBeGreaterThanOrEqual(10);
    expect(SINGLE.length + PAIRS.length).toBeGreaterThanOrEqual(40);
  });

  it('finds nothing where nothing is wrong', async () => {
    const cloud = await Cloud.start({ from: await readySlice(), seed: 2 });
    await cloud.sim.run(AFTER * 1000);
    expect(why(viewOf(cloud.store.objects(), cloud.sim.clock.wall()))).toEqual({ causes: [], moving: [] });
  });

  it('knows no breakage by its name', () => {
    const sources = readdirSync('src/insight').map(file => readFileSync(`src/insight/${file}`, 'utf8'));
    for (const { id } of SINGLE) expect(sources.filter(text => text.includes(id))).toEqual([]);
  });
});
