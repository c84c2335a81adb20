import { CephStorage } from '../../../api/openstack/cephstorage.ts';
import type { ObjectOf } from '../../../api/schema/kind.ts';
import { markOf } from '../../cloud/ownership.ts';
import { CephBlockPool, CephClient, CephCluster, Job, Pod, ReplicaSet, Secret } from '../../kube/resource.ts';
import { shortHash } from '../../runtime/plan/canonical.ts';
import { ADOPT_ANNOTATION } from '../../runtime/plan/names.ts';
import { plan, rowsOf } from '../../runtime/plan/row.ts';
import { fieldMissing, stall, subjectOf } from '../../runtime/plan/unmet.ts';
import { configSecret } from '../config/config.ts';
import { encoded } from '../encoded.ts';
import { imageOf } from '../images.ts';
import { noRotationRow, suffixOf } from '../links/credentials.ts';
import { podLabels } from '../names.ts';
import { type Process, podSpec } from '../pods/pod.ts';
import { REFERENCES, usersBy } from '../users.ts';
import { CLIENTS, type Client, capsOf, cephKey, fsidIn, keyIn, keyring, type Pool } from './keys.ts';
import { clientSecret, POOL_SUFFIX, poolsOf } from './link.ts';
import { blockPools, type Context, drop, ROOK_READS, rookKeys, rookLogin, rookUsers, runCluster } from './rook.ts';
import { type CephOwner, dropScript, SCRIPTS, setupFiles, setupScript, TAKEN } from './scripts.ts';

const row = rowsOf<ObjectOf<typeof CephStorage>>();

/** Names in a cluster that other clouds use as well: the suffix of the owner's id is theirs alone. */
const userOf = async (cx: Context, client: Client): Promise<string> =>
  `${cx.namespace}-${cx.name}-${client}-${suffixOf(await cx.owner())}`;

interface Login {
  readonly conf: string;
  readonly fsid: string;
  /** Who may make pools and users; absent when ready-made keys must do. */
  readonly admin?: { readonly user: string; readonly keyring: string };
}

async function login(cx: Context): Promise<Login> {
  const { external } = cx.spec;
  if (cx.spec.rook) return rookLogin(cx);
  if (external === undefined)
    throw fieldMissing(
      'spec.external',
      'neither spec.external nor spec.rook is set',
      'name the Secret of an existing cluster in spec.external.secret, or let Rook run one by spec.rook',
    );
  const { secret, keyringsSecret, adminUser } = external;
  const named = secret ?? keyringsSecret;
  if (named === undefined)
    throw fieldMissing(
      'spec.external',
      'spec.external has neither secret nor keyringsSecret',
      'name a Secret with ceph.conf and a keyring',
    );
  const field = secret ? 'spec.external.secret' : 'spec.external.keyringsSecret';
  const { 'ceph.conf': conf } = await cx.secret(named, ['ceph.conf'], field);
  const fsid = fsidIn(conf);
  if (fsid === undefined)
    throw stall({
      reason: 'SecretInvalid',
      about: subjectOf(Secret, named),
      what: `Secret ${named}, key ceph.conf has no fsid`,
      who: 'User',
      next: 'add fsid = <what `ceph fsid` says> to its [global] section',
    });
  if (secret === undefined || keyringsSecret !== undefined) return { conf, fsid };
  const key = `ceph.client.${adminUser}.keyring` as const;
  const data = await cx.secret(secret, [key], field);
  return { conf, fsid, admin: { user: adminUser, keyring: data[key] ?? '' } };
}

type Keys = Map<Client, { readonly user: string; readonly key: string }>;

/** Ready-made keys, by the service whose name their file carries. */
async function givenKeys(cx: Context, secret: string): Promise<Keys> {
  const data: Readonly<Record<string, string>> = await cx.secret(secret, [], 'spec.external.keyringsSecret');
  const keys: Keys = new Map();
  for (const client of CLIENTS) {
    const text = data[`ceph.client.${client}.keyring`];
    const key = text && keyIn(text, client);
    if (text && !key)
      throw stall({
        reason: 'SecretInvalid',
        about: subjectOf(Secret, secret),
        what: `Secret ${secret}, key ceph.client.${client}.keyring has no key of client.${client}`,
        who: 'User',
        next: `put the output of \`ceph auth get client.${client}\` there`,
      });
    if (key) keys.set(client, { user: client, key });
  }
  return keys;
}

const cluster = row('ClusterReady', {
  when: ({ spec }) => spec.rook !== undefined,
  manages: [CephCluster],
  reads: ROOK_READS,
  run: runCluster,
  undo: async cx => {
    const { rook, deletionPolicy } = cx.spec;
    if (rook && deletionPolicy === 'Delete') await drop(cx, CephCluster, [rook.clusterName]);
  },
});

const input = row('InputReady', {
  needs: { cluster },
  reads: ROOK_READS,
  run: async cx => {
    const found = await login(cx);
    cx.report({ fsid: found.fsid, release: cx.spec.release });
    return found;
  },
});

const keySecret = (cx: Context, client: Client): string => `${clientSecret(cx.name, client)}-key`;

async function ownKeys(cx: Context): Promise<Keys> {
  const keys: Keys = new Map();
  for (const client of CLIENTS) {
    const user = await userOf(cx, client);
    const make = () => ({ user, key: cephKey(cx.random, cx.serverTime()) });
    keys.set(client, await cx.generate(keySecret(cx, client), make, { retain: true }));
  }
  return keys;
}

function keysOf(cx: Context, { admin }: Login): Promise<Keys> {
  if (cx.spec.rook) return rookKeys(cx, poolsOf(cx.object));
  return admin ? ownKeys(cx) : givenKeys(cx, cx.spec.external?.keyringsSecret ?? '');
}

/** The suffix of pools that the spec does not name: that of our users. Those of a cloud of before there was one have none. */
async function poolSuffix(cx: Context, user: string | undefined): Promise<string> {
  const suffix = suffixOf(await cx.owner());
  return user?.endsWith(`-${suffix}`) ? suffix : '';
}

/** Keys of our own outlive this object, with the data that they open (rule 18). */
const keys = row('KeysReady', {
  needs: { input },
  manages: [Secret, CephClient],
  run: async (cx, { input: found }) => {
    const made = await keysOf(cx, found);
    // Earlier versions wrote the Secrets of the services in this row: services use them until the next row has.
    for (const client of made.keys()) {
      const given = cx.get(Secret, clientSecret(cx.name, client));
      if (given) cx.keep(given);
    }
    return made;
  },
  undo: async cx => {
    if (cx.spec.deletionPolicy !== 'Delete') return;
    if (cx.spec.rook) return drop(cx, CephClient, rookUsers(cx));
    for (const client of CLIENTS) await cx.remove(Secret, keySecret(cx, client));
  },
});

/** Makes pools and users with the administrator's key; with keys of others, looks whether they open the pools. */
async function runCeph(cx: Context, step: string, found: Login, script: string, rings: string, inputs: unknown[]) {
  const labels = podLabels('CephStorage', cx.name, step);
  const files = setupFiles(found.conf, found.admin, rings, script);
  const { release, images, imageRegistry, imagePullSecrets } = cx.spec;
  const process: Process = {
    name: step,
    // Its image has the tools of Ceph beside the libraries.
    image: imageOf('cinder-volume', { release, images, imageRegistry }, cx.env),
    argv: ['sh', `${SCRIPTS}/ceph.sh`],
    user: 42407,
    userName: 'cinder',
    direct: true,
  };
  const config = await configSecret(cx, files, `${cx.name}-${step}`);
  const pod = podSpec(
    { podProfile: 'restricted', ...(imagePullSecrets && { imagePullSecrets }) },
    process,
    config,
    labels,
  );
  const next = `name other pools in spec.pools, or hand it over by annotation ${ADOPT_ANNOTATION}=<name of the pool>`;
  const exits = { [TAKEN]: { reason: 'NameTaken', next } };
  const all = [found.fsid, ...inputs];
  await cx.job({ step, image: process.image, argv: process.argv, inputs: all, secret: true, labels, pod, exits });
}

async function ownerOf(cx: Context): Promise<CephOwner> {
  const { owner, adopt } = await cx.claim();
  // Ceph takes letters, digits and -_.= in the metadata of a pool, and nothing else.
  const words = (adopt ?? '').split(',').map(word => word.trim());
  return { mark: markOf(owner).replaceAll(/[:/]/g, '='), ...(adopt && { adopt: words.join(',') }) };
}

/** What an annotation let the object adopt, once the Job has succeeded. */
async function tellAdopted(cx: Context, pools: readonly Pool[]): Promise<void> {
  const { adopt = '', adopted } = await cx.claim();
  const words = adopt.split(',').map(word => word.trim());
  for (const { name } of pools) if (words.includes(name)) adopted?.(`Pool ${name}`, 'another owner');
}

const pools = row('PoolsReady', {
  needs: { input, keys },
  manages: [Job, Secret, CephBlockPool],
  reads: [Pod, ReplicaSet],
  run: async (cx, { input: found, keys }) => {
    const all = poolsOf(cx.object, found.admin && (await poolSuffix(cx, keys.get('glance')?.user)));
    if (cx.spec.rook) await blockPools(cx, all);
    const rings = [...keys]
      .map(([client, { user, key }]) => keyring(user, key, found.admin ? capsOf(client, all) : {}))
      .join('\n');
    const clients = [...keys].map(([client, { user }]) => ({ client, user }));
    const { script, inputs } = setupScript(found.admin !== undefined, all, clients, await ownerOf(cx));
    if (found.admin) await cx.effect();
    await runCeph(cx, 'pools', found, script, rings, [...inputs, shortHash(rings, found.conf)]);
    await tellAdopted(cx, all);
  },
  undo: async cx => {
    if (cx.spec.deletionPolicy !== 'Delete') return;
    const namesWith = (suffix?: string) => poolsOf(cx.object, suffix).map(({ name }) => name);
    if (cx.spec.rook) return drop(cx, CephBlockPool, namesWith());
    if (!cx.spec.external?.secret || cx.spec.external.keyringsSecret || !cx.acted()) return;
    const found = await login(cx);
    const kept = await cx.all(CLIENTS.map(client => cx.secretIfAny(keySecret(cx, client))));
    const users = kept.flatMap(data => (data?.user && data.key ? [{ user: data.user, key: data.key }] : []));
    const rings = users.map(({ user, key }) => keyring(user, key)).join('\n');
    const script = dropScript(
      users.map(({ user }) => user),
      namesWith(await poolSuffix(cx, users[0]?.user)),
      await ownerOf(cx),
    );
    await runCeph(cx, 'drop', found, script, rings, [cx.object.metadata.uid]);
  },
});

/**
 * One Secret per service, written when Ceph knows its key and has its pools: Cinder gives up on a cluster that refuses it
 * at its start, and Glance does not start.
 */
const clientSecrets = row('ClientSecretsReady', {
  needs: { input, keys, pools },
  manages: [Secret],
  run: async (cx, { input: found, keys }) => {
    const { conf, fsid } = found;
    for (const [client, { user, key }] of keys) {
      const suffix = found.admin ? await poolSuffix(cx, user) : '';
      const values = { user, key, conf, fsid, ...(suffix !== '' && { [POOL_SUFFIX]: suffix }) };
      await cx.apply(Secret, {
        metadata: { name: clientSecret(cx.name, client) },
        type: 'Opaque',
        data: encoded(values),
      });
    }
  },
});

const rotation = noRotationRow<ObjectOf<typeof CephStorage>>();

export const ceph = plan(
  CephStorage,
  { cluster, input, keys, pools, clientSecrets, rotation },
  { users: usersBy(REFERENCES.CephStorage), external: true },
);
