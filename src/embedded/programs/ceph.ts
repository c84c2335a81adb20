import type { Exit, Outcome, Run } from '../controllers/program.ts';
import type { CephCluster, Net } from '../servers/state.ts';

/** What the Job of a CephStorage does in a cluster that is simulated: its script, read line by line. */
export function cephJob(run: Run, net: Net): Outcome {
  return { after: 2_000, end: () => work(run, net) };
}

const TAKEN = 77;

const fsidIn = (conf: string): string => /^\s*fsid\s*=\s*"?([0-9a-fA-F-]{36})/m.exec(conf)?.[1] ?? '';

/** Whether Ceph refuses one of the keys that a process has: they were not imported yet. */
export function cephRefuses(run: Run, { disks }: Net): boolean {
  const files = [...run.files('/etc/ceph')].map(file => run.file(`/etc/ceph/${file}`) ?? '');
  const fsid = files.map(fsidIn).find(Boolean) ?? '';
  const known = disks.ceph?.[fsid]?.users ?? {};
  return files.flatMap(text => [...keysIn(text)]).some(([user, key]) => known[user]?.key !== key);
}

function work(run: Run, net: Net): Exit {
  const script = run.file('/var/lib/openstack/ceph/ceph.sh') ?? '';
  const fsid = fsidIn(run.file('/etc/ceph/ceph.conf') ?? '');
  net.disks.ceph ??= {};
  net.disks.ceph[fsid] ??= { pools: {}, users: {} };
  const cluster = net.disks.ceph[fsid];
  const value = (name: string): string => new RegExp(`^${name}='([^']*)'$`, 'm').exec(script)?.[1] ?? '';
  const me: Who = {
    owner: value('OWNER'),
    adopts: value('ADOPT').split(',').filter(Boolean),
    keys: keysIn(run.file('/etc/ceph/clients.keyring') ?? ''),
  };
  if (me.owner === '') {
    // Ready-made keys, which the script only tries.
    for (const [name, key] of me.keys) cluster.users[name] ??= { key, pools: [] };
    return { exit: 0 };
  }
  if (/[^A-Za-z0-9_.=-]/.test(me.owner)) return { exit: 22, message: `invalid chars in ${me.owner}` };
  const names = (command: string) =>
    [...script.matchAll(new RegExp(`^${command} '([^']*)'`, 'gm'))].map(match => match[1]!);
  if (/^drop_pool\(\)/m.test(script)) return drop(cluster, me, names('older'), net);
  return setUp(cluster, me, names('pool'), names('user'), net);
}

interface Who {
  readonly owner: string;
  readonly adopts: readonly string[];
  /** By user. */
  readonly keys: ReadonlyMap<string, string>;
}

const keysIn = (text: string): Map<string, string> =>
  new Map([...text.matchAll(/^\[client\.([^\]]+)\]\s+key = (\S+)/gm)].map(match => [match[1]!, match[2]!]));

/** Ceph knows one of our keys, and it opens the pool. */
const opens = ({ users }: CephCluster, { keys }: Who, pool: string): boolean =>
  [...keys].some(([user, key]) => users[user]?.key === key && users[user]?.pools.includes(pool));

const adopted = ({ adopts }: Who, name: string, mark: string | undefined): boolean =>
  adopts.includes(name) || adopts.includes(mark?.split('=')[1] ?? '-');

const taken = (what: string, name: string, mark: string | undefined): Exit => ({
  exit: TAKEN,
  message: mark
    ? `${what} ${name} belongs to ${holderOf(mark)}`
    : `${what} ${name} carries no owner mark of this operator`,
});

const holderOf = (mark: string): string => {
  const [, id, kind, name] = mark.split('=');
  return `${kind} ${name} of owner ${id}`;
};

function setUp(cluster: CephCluster, me: Who, pools: readonly string[], users: readonly string[], net: Net): Exit {
  for (const name of pools) {
    const have = cluster.pools[name];
    const ours = have?.owner === me.owner || (have && !have.owner && opens(cluster, me, name));
    if (have && !ours && !adopted(me, name, have.owner)) return taken('pool', name, have.owner);
  }
  for (const name of users) {
    const have = cluster.users[name];
    const ours = have?.owner === me.owner || (have && !have.owner && have.key === me.keys.get(name));
    if (have && !ours && !adopted(me, name, have.owner)) return taken('user', `client.${name}`, have.owner);
  }
  net.mutated();
  for (const name of pools) cluster.pools[name] = { ...cluster.pools[name], owner: me.owner };
  for (const name of users) cluster.users[name] = { key: me.keys.get(name) ?? '', owner: me.owner, pools: [...pools] };
  return { exit: 0 };
}

function drop(cluster: CephCluster, me: Who, older: readonly string[], net: Net): Exit {
  net.mutated();
  for (const [name, { owner }] of Object.entries(cluster.pools))
    if (owner === me.owner || (!owner && older.includes(name) && opens(cluster, me, name))) delete cluster.pools[name];
  for (const [name, key] of me.keys) {
    const have = cluster.users[name];
    if (have && (have.owner === me.owner || (!have.owner && have.key === key))) delete cluster.users[name];
  }
  return { exit: 0 };
}
