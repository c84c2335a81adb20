import { CEPH_IMAGE, type CephStorage } from '../../../api/openstack/cephstorage.ts';
import type { ObjectOf } from '../../../api/schema/kind.ts';
import type { AnyObject, DeepReadonly } from '../../kube/object.ts';
import {
  CephBlockPool,
  CephClient,
  CephCluster,
  ConfigMap,
  CustomResourceDefinition,
  type Resource,
  resourceName,
} from '../../kube/resource.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import { RETAINED_LABEL } from '../../runtime/plan/names.ts';
import { conditionOf } from '../../runtime/plan/ready.ts';
import { fieldMissing, subjectOf, wait } from '../../runtime/plan/unmet.ts';
import { mirrored } from '../images.ts';
import { CLIENTS, type Client, capsOf, type Pool } from './keys.ts';
import { clientSecret } from './link.ts';

/**
 * A Ceph that Rook runs in this namespace. Rook makes cluster, pools and users from objects of its own; once it has, all
 * is as with a cluster outside. What others made is used as it is and never written; what we made outlives us.
 */

export type Context = Cx<ObjectOf<typeof CephStorage>>;
type Live = DeepReadonly<AnyObject>;

interface RookStatus {
  readonly phase?: string;
  readonly message?: string;
  readonly observedGeneration?: number;
  readonly ceph?: { readonly health?: string };
  readonly info?: { readonly secretName?: string };
}

/** Objects without our label are in no watch of ours; monitors move, and Rook writes that only to its own ConfigMap. */
const LOOK_AGAIN_MS = 60_000;

/** Ceph's own default; Rook has none. */
const REPLICAS = 3;

const statusOf = (live: Live): RookStatus => live.status ?? {};
const ours = (cx: Context, live: Live): boolean => live.metadata.labels?.[RETAINED_LABEL] === cx.name;
const find = async (cx: Context, resource: Resource, name: string): Promise<Live | undefined> =>
  cx.get(resource, name) ?? (await cx.live(resource, name));

function installed(cx: Context, resource: Resource): void {
  const crd = resourceName(resource);
  if (cx.get(CustomResourceDefinition, crd) === undefined)
    throw wait({
      reason: 'RookNotFound',
      about: subjectOf(CustomResourceDefinition, crd),
      what: `CustomResourceDefinition ${crd} does not exist, and spec.rook asks Rook for a cluster`,
      who: 'User',
      next: 'install Rook, or name an existing cluster in spec.external',
    });
}

async function have(cx: Context, resource: Resource, name: string, spec: () => object): Promise<Live> {
  const live = await find(cx, resource, name);
  if (live === undefined || ours(cx, live))
    return cx.apply(resource, { metadata: { name }, spec: spec() }, { retain: true });
  cx.again(LOOK_AGAIN_MS);
  return live;
}

/** Rook's word on one of its objects. `Connected` is what it calls a cluster elsewhere that it only administers. */
function settled(cx: Context, live: Live): void {
  const { phase, message, observedGeneration = Number.POSITIVE_INFINITY } = statusOf(live);
  // A user may have set Rook to skip the object, which then never catches up.
  const behind = ours(cx, live) && observedGeneration < (live.metadata.generation ?? 0);
  const what = `${live.kind} ${live.metadata.name}`;
  const about = { kind: live.kind, name: live.metadata.name };
  const said = message ? `: ${message}` : '';
  if (phase === 'Failure')
    throw wait({
      reason: 'RookFailed',
      about,
      said: message,
      what: `Rook failed at ${what}${said}`,
      who: 'User',
      next: 'look at its Events and at the log of rook-ceph-operator, and fix the cause; Rook retries by itself',
    });
  if (behind || (phase !== 'Ready' && phase !== 'Connected'))
    throw wait({
      reason: 'RookNotReady',
      about,
      said: message,
      what: behind ? `Rook has not seen the last change of ${what}` : `${what} is ${phase ?? 'not begun'}${said}`,
      who: 'Cluster',
      next: 'Rook brings it up, if its operator runs and watches this namespace',
    });
}

export async function runCluster(cx: Context): Promise<void> {
  const { rook } = cx.spec;
  if (rook === undefined) return;
  for (const resource of [CephCluster, CephBlockPool, CephClient]) installed(cx, resource);
  const live = await have(cx, CephCluster, rook.clusterName, () => {
    const { storage, network, monitors } = rook;
    if (Object.keys(storage ?? {}).length === 0)
      throw fieldMissing(
        'spec.rook.storage',
        `CephCluster ${rook.clusterName} does not exist or is ours, and spec.rook.storage does not say which disks it gets`,
        'set spec.rook.storage, e.g. {useAllNodes: true, useAllDevices: true}, or name an existing CephCluster in spec.rook.clusterName',
      );
    return {
      cephVersion: { image: rook.cephImage === CEPH_IMAGE ? mirrored(CEPH_IMAGE, cx.spec, cx.env) : rook.cephImage },
      // On every node: two clusters in one folder would take each other's monitors for their own.
      dataDirHostPath: `/var/lib/rook/${cx.namespace}`,
      mon: { count: monitors, allowMultiplePerNode: false },
      mgr: { count: monitors > 1 ? 2 : 1, allowMultiplePerNode: false },
      storage,
      ...(network && { network }),
    };
  });
  const { health } = statusOf(live).ceph ?? {};
  if (health) cx.report({ health });
  settled(cx, live);
}

/**
 * `a=10.0.0.1:6789,b=10.0.0.2:3300` as mon_host. A monitor at 3300 speaks the second protocol only. Sorted, because
 * Rook writes them in any order, and a new order would roll every pod that reads ceph.conf.
 */
export const monHost = (endpoints: string): string =>
  [...endpoints.matchAll(/=\s*([^,\s]+):(\d+)/g)]
    .map(([, host, port]) => (port === '3300' ? `[v2:${host}:3300]` : `[v2:${host}:3300,v1:${host}:${port}]`))
    .sort()
    .join(',');

export async function rookLogin(cx: Context): Promise<{ readonly conf: string; readonly fsid: string }> {
  cx.again(LOOK_AGAIN_MS);
  const fsid = (await cx.secretIfAny('rook-ceph-mon'))?.fsid;
  const endpoints = (await cx.live(ConfigMap, 'rook-ceph-mon-endpoints'))?.data as
    | { readonly data?: string }
    | undefined;
  const monitors = monHost(endpoints?.data ?? '');
  if (!fsid || !monitors)
    throw wait({
      reason: 'RookNotReady',
      what: fsid ? 'ConfigMap rook-ceph-mon-endpoints names no monitor' : 'Secret rook-ceph-mon has no fsid',
      who: 'Cluster',
      next: 'Rook writes it when the first monitors run',
    });
  return { fsid, conf: `[global]\nfsid = ${fsid}\nmon_host = ${monitors}\n` };
}

/** Named like the Secrets that services read, so that several CephStorages can share a cluster. */
export const rookUsers = (cx: Context): readonly string[] => CLIENTS.map(client => clientSecret(cx.name, client));

/** Users that Rook makes, with the keys that it chose. */
export async function rookKeys(
  cx: Context,
  pools: readonly Pool[],
): Promise<Map<Client, { readonly user: string; readonly key: string }>> {
  const keys = CLIENTS.map(async client => {
    const user = clientSecret(cx.name, client);
    const caps = Object.fromEntries(Object.entries(capsOf(client, pools)).filter(([, cap]) => cap !== ''));
    // Ceph gives out keys of another type by now, which the libraries in Kolla's images can not read (openstack-facts 13).
    const live = await have(cx, CephClient, user, () => ({ caps, security: { cephx: { keyType: 'aes' } } }));
    settled(cx, live);
    const secret = statusOf(live).info?.secretName ?? `rook-ceph-client-${user}`;
    const key = (await cx.secretIfAny(secret))?.[user];
    if (!key)
      throw wait({
        reason: 'RookNotReady',
        what: `Secret ${secret} does not have the key of CephClient ${user}`,
        who: 'Cluster',
        next: 'Rook puts it there',
      });
    return [client, { user, key }] as const;
  });
  return new Map(await cx.all(keys));
}

export async function blockPools(cx: Context, pools: readonly Pool[]): Promise<void> {
  const made = pools.map(async ({ name, replicas: size = REPLICAS, deviceClass }) => {
    const spec = { replicated: { size, requireSafeReplicaSize: size > 1 }, ...(deviceClass && { deviceClass }) };
    settled(cx, await have(cx, CephBlockPool, name, () => spec));
  });
  await cx.all(made);
}

/** Only where the policy says Delete. Rook keeps a pool that has images, and a cluster that has pools, and says so. */
export async function drop(cx: Context, resource: Resource, names: readonly string[]): Promise<void> {
  const gone = names.map(async name => {
    const live = await find(cx, resource, name);
    if (live === undefined || !ours(cx, live)) return;
    const held = ['PoolDeletionIsBlocked', 'DeletionIsBlocked'].map(type => conditionOf(live, type));
    const why = held.find(condition => condition?.status === 'True');
    if (live.metadata.deletionTimestamp && why)
      throw wait({
        reason: 'Terminating',
        about: subjectOf(resource, name),
        said: why.message,
        what: `Rook does not delete ${resource.kind} ${name}: ${why.message}`,
        who: 'User',
        next: 'remove what is in it',
      });
    await cx.remove(resource, name);
  });
  await cx.all(gone);
}

/** What must be looked at of Rook itself. */
export const ROOK_READS = [ConfigMap, CustomResourceDefinition] as const;
