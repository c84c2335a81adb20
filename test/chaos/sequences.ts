import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { Cloud, type Rest } from '../functional/cloud.ts';
import { cloudWith } from '../functional/services.ts';
import { inNamespace, isReadyIn, onSharedServers, ownedBy, ownerIdOf, shareServers } from '../functional/shared.ts';

/*
 * Two clouds in two namespaces on one external MariaDB, RabbitMQ and Ceph, and random edits, deletions and re-creations of
 * both, with crashes of the operator between. After each step: nothing of the other cloud is lost, nothing stays of what was
 * deleted under Delete, and what was kept under Retain is what a new cloud runs on.
 */

const NAMESPACES = ['openstack', 'other'] as const;
type Name = (typeof NAMESPACES)[number];
type Policy = 'Retain' | 'Delete';
const OPTIONAL = ['placement', 'glance', 'ceph'] as const;
type Section = (typeof OPTIONAL)[number];

interface Model {
  /** What the user asked for; undefined: no cloud. */
  asked: { policy: Policy; on: readonly Section[] } | undefined;
  /** Data that must be there, by name: databases and pools. */
  readonly kept: Set<string>;
}

/** mulberry32: small, and the same everywhere. */
export function numbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const specOf = (namespace: Name, { policy, on }: NonNullable<Model['asked']>) => {
  const ceph = { external: { secret: 'ceph-admin' } };
  const sections = Object.fromEntries(
    OPTIONAL.map(name => [name, { enabled: on.includes(name), ...(name === 'ceph' && ceph) }]),
  );
  return inNamespace(namespace, cloudWith({ ...onSharedServers, ...sections, deletionPolicy: policy }));
};

const isData = (line: string): boolean => /^(database|pool) (?!user )/.test(line);
const nameIn = (line: string): string => line.split(' ').slice(0, 2).join(' ');

let servers: Promise<Rest> | undefined;

/** The servers without a cloud on them, made once per worker. */
function sharedServers(): Promise<Rest> {
  servers ??= make();
  return servers;

  async function make(): Promise<Rest> {
    const cloud = await Cloud.start({ seed: 0 });
    await shareServers(cloud, NAMESPACES);
    await cloud.settle();
    return cloud.rest();
  }
}

/** Runs one sequence of three to six steps; throws with what was done when something is lost or left. */
export async function sequence(seed: number): Promise<void> {
  const next = numbers(seed);
  const pick = <T>(all: readonly T[]): T => all[Math.floor(next() * all.length)]!;
  const steps = 3 + (seed % 4);
  const cloud = await Cloud.start({ seed, from: await sharedServers() });
  const models: Record<Name, Model> = {
    openstack: { asked: undefined, kept: new Set() },
    other: { asked: undefined, kept: new Set() },
  };
  const story: string[] = [];
  const fail = (what: string): never => {
    throw new Error(`seed ${seed}, ${what}\n${story.map((line, index) => `  ${index + 1}. ${line}`).join('\n')}`);
  };

  /** Every row that the operator writes anew would lose this. */
  const sign = (): void => {
    const [server] = Object.values(cloud.backends.disks.sql);
    for (const database of Object.values(server?.databases ?? {}))
      if (database.schemas.length > 0) database.volumeTypes ??= { sentinel: {} };
  };
  const linesOf = (name: Name): readonly string[] => {
    const id = ownerIdOf(cloud, name);
    return id === undefined ? [] : ownedBy(cloud, id);
  };
  const check = (name: Name): void => {
    const lines = linesOf(name);
    const there = new Set(lines.filter(isData).map(nameIn));
    for (const data of models[name].kept) if (!there.has(data)) fail(`${data} of ${name} is lost`);
    const [server] = Object.values(cloud.backends.disks.sql);
    for (const data of models[name].kept) {
      const [kind, database = ''] = data.split(' ');
      const found = server?.databases[database];
      if (kind === 'database' && found && !found.volumeTypes?.sentinel) fail(`${data} of ${name} was made anew`);
    }
  };
  /** `crash`: in the middle of what the step set off. */
  const settle = async (crash: boolean): Promise<void> => {
    if (crash) {
      await cloud.sim.run(Math.floor(next() * 60_000));
      cloud.crashOperator();
      cloud.startOperator();
    }
    await cloud.sim.run(pick([120_000, 300_000]));
    try {
      await cloud.settle();
    } catch (error) {
      // What is lost says more than that somebody does not rest because of it.
      for (const each of NAMESPACES) check(each);
      fail(`does not come to rest: ${String(error).slice(0, 300)}`);
    }
  };
  const apply = async (name: Name, asked: NonNullable<Model['asked']>, crash: boolean): Promise<void> => {
    models[name].asked = asked;
    cloud.apply(specOf(name, asked));
    await settle(crash);
    if (!isReadyIn(cloud, name, OpenStackControlPlane, 'slice')) {
      const status = cloud.hands.get(OpenStackControlPlane, name, 'slice')?.status as { conditions?: unknown[] };
      fail(`${name} is not Ready: ${JSON.stringify(status?.conditions?.[0])}`);
    }
    sign();
    for (const line of linesOf(name).filter(isData)) models[name].kept.add(nameIn(line));
  };
  /** Of what the user switched off before, data stays whatever the policy: its object was not deleted under Delete. */
  const offOf = (name: Name): readonly string[] => {
    const { on = [] } = models[name].asked ?? {};
    const prefixes = OPTIONAL.filter(section => !on.includes(section)).map(section =>
      section === 'ceph' ? 'pool ' : `database ${section}`,
    );
    return [...models[name].kept].filter(data => prefixes.some(prefix => data.startsWith(prefix)));
  };
  const remove = async (name: Name, crash: boolean): Promise<void> => {
    const { policy } = models[name].asked!;
    const off = offOf(name);
    models[name].asked = undefined;
    if (policy === 'Delete') {
      models[name].kept.clear();
      for (const data of off) models[name].kept.add(data);
    }
    cloud.hands.remove(OpenStackControlPlane, name, 'slice');
    await settle(crash);
    if (cloud.hands.get(OpenStackControlPlane, name, 'slice')) fail(`${name} is not gone`);
    const left = linesOf(name).filter(line => !(isData(line) && models[name].kept.has(nameIn(line))));
    // Keys of pools that stay go with them.
    const wrong = left.filter(line => policy === 'Delete' || !line.startsWith('ceph user '));
    if (wrong.length > 0 && !(off.length > 0 && wrong.every(line => line.startsWith('ceph user '))))
      fail(`of ${name} stays ${wrong.join(', ')}`);
  };

  for (let step = 0; step < steps; step++) {
    const name = pick(NAMESPACES);
    const { asked } = models[name];
    const on = OPTIONAL.filter(() => next() < 0.5);
    const policy = pick(['Retain', 'Delete'] as const);
    const crash = next() < 0.3;
    if (asked === undefined || next() < 0.5) {
      // Data of Glance and its pools depend on each other only where Glance is told so: here it is not.
      story.push(
        `${asked ? 'edit' : 'create'} ${name}: ${policy}, ${on.join(' ') || 'the slice'}${crash ? ', crash' : ''}`,
      );
      await apply(name, { policy, on }, crash);
    } else {
      story.push(`delete ${name} (${asked.policy})${crash ? ', crash' : ''}`);
      await remove(name, crash);
    }
    for (const each of NAMESPACES) check(each);
  }
}
