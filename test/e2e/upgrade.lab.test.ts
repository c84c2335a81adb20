import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { KINDS } from '../../api/kinds.ts';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { deployCloud, CLOUD_NAMESPACE as namespace } from '../../lab/cloud.ts';
import { ceph } from '../../lab/cluster/ceph.ts';
import { NAMESPACE as AUTHORITY, ISSUER } from '../../lab/cluster/certificates.ts';
import { nodesOf } from '../../lab/cluster/layout.ts';
import type { CloudSpec } from '../../lab/extras.ts';
import type { Release } from '../../lab/images/names.ts';
import { deployOperator } from '../../lab/operator.ts';
import { previousCloud, previousFolder } from '../../lab/previous.ts';
import { readMark } from '../../src/cloud/ownership.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { Job, Pod, Secret } from '../../src/kube/resource.ts';
import { figure } from './figure.ts';
import { type LabStage, labStage } from './lab.ts';
import { ownerMarks, unmarked } from './marks.ts';
import { OpenStack } from './openstack.ts';
import { conditionOf, ready, until, valueIn } from './stage.ts';

const release = (process.env.LAB_RELEASES?.split(',')[0] ?? '2025.2') as Release;
const OPERATOR = 'openstack-operator-system';
/** UPGRADE_CLOUD=cloud-ceph.yaml: the whole control plane on Ceph with TLS. */
const FILE = previousCloud();
/** A roll that somebody decided on late shows by then. */
const WATCHED_SECONDS = 180;

/**
 * Sets whose pods an upgrade from 37013f9 or earlier replaces, as CHANGELOG says under `Restarts:`: Cinder on Ceph loses
 * capabilities, libvirt starts its next guests as another user, a switch in userspace sets up taps that are down.
 */
const ROLLS = /^(cinder-volume-|cinder-backup-|ovn-(controller|gateway)-|nova-[\w-]+-libvirt-[a-z0-9]{5},)/;

interface Status {
  readonly phase?: string;
  readonly podIP?: string;
  readonly observedGeneration?: number;
  readonly containerStatuses?: readonly { readonly restartCount: number }[];
}
const statusOf = (object: AnyObject): Status => (object.status ?? {}) as Status;

/**
 * On a lab without a cloud. The operator of PREVIOUS (a commit, HEAD~1 unless said, or a folder with sources) is installed
 * with its CRDs and deploys a cloud; then this one takes over.
 */
describe(`a newer operator takes over a cloud, ${release}`, { timeout: 1_800_000 }, () => {
  let stage: LabStage;
  let before: Map<string, string>;
  let done: Map<string, string>;
  let spec: CloudSpec;

  /** Pods that serve, by uid: a pod that was replaced has another, one that was started again has counted it. */
  const serving = async (): Promise<Map<string, string>> => {
    const pods = (await stage.list(Pod)).filter(pod => statusOf(pod).phase === 'Running');
    return new Map(
      pods.map(pod => [
        pod.metadata.uid ?? '',
        `${pod.metadata.name}, restarts ${(statusOf(pod).containerStatuses ?? []).map(each => each.restartCount).join(' ')}`,
      ]),
    );
  };
  /** By uid. Those of CronJobs come with the time of day. */
  const jobs = async (): Promise<Map<string, string>> => {
    const own = (await stage.list(Job)).filter(
      job => !job.metadata.ownerReferences?.some(({ kind }) => kind === 'CronJob'),
    );
    return new Map(own.map(({ metadata }) => [metadata.uid ?? '', metadata.name]));
  };
  const ours = async (): Promise<AnyObject[]> => {
    const lists = await Promise.all(KINDS.map(kind => stage.list(kind)));
    return lists.flat();
  };
  /** Kinds of which this operator has finished a pass without an error, as it counts itself. */
  const reconciled = async (): Promise<Set<string>> => {
    const [pod] = (await (await labStage(OPERATOR)).list(Pod)).filter(
      each => statusOf(each).phase === 'Running' && each.metadata.deletionTimestamp === undefined,
    );
    const answer = await fetch(`http://${pod ? statusOf(pod).podIP : ''}:8080/metrics`).catch(() => undefined);
    const page = (await answer?.text()) ?? '';
    const lines = page.matchAll(/^controller_runtime_reconcile_total\{([^}]*)\} (\d+)/gm);
    const labels = [...lines].filter(([, , count]) => Number(count) > 0).map(([, text]) => text ?? '');
    return new Set(
      labels.filter(text => !text.includes('result="error"')).map(text => /controller="([^"]+)"/.exec(text)?.[1] ?? ''),
    );
  };

  beforeAll(async () => {
    const previous = await previousFolder();
    await deployOperator(nodesOf(1), previous);
    const file = join(previous, 'lab', FILE);
    ({ spec } = parse(readFileSync(file, 'utf8')) as { spec: CloudSpec });
    const seconds = await deployCloud(nodesOf(1), release, { file });
    figure('earlier operator', basename(previous));
    figure('cloud', FILE);
    figure('Ready seconds with the earlier operator', Math.round(seconds));
    stage = await labStage(namespace);
    before = await serving();
    done = await jobs();
  }, 2_400_000);

  it('has a cloud to take over', () => {
    expect(before.size).toBeGreaterThan(10);
  });

  it('reconciles every object, no Job runs again, and no pod is replaced but those of the change log', async () => {
    await deployOperator(nodesOf(1));
    const kinds = [...new Set((await ours()).map(({ kind }) => kind))];
    let missing: string[] = kinds;
    await until(
      stage,
      () => `it has reconciled every kind; missing: ${missing.join(', ')}`,
      300,
      async () => {
        const seen = await reconciled();
        missing = kinds.filter(kind => !seen.has(kind));
        return missing.length === 0;
      },
    );
    const unready = async (): Promise<string[]> =>
      (await ours())
        .filter(object => {
          const current = statusOf(object).observedGeneration === object.metadata.generation;
          return !current || conditionOf(object)?.status !== 'True';
        })
        .map(object => `${object.kind} ${object.metadata.name}: ${conditionOf(object)?.message}`);
    let left: string[] = [];
    await until(
      stage,
      () => `every object is Ready: ${left.join('; ')}`,
      600,
      async () => {
        left = await unready();
        return left.length === 0;
      },
    );
    await stage.pass(WATCHED_SECONDS);
    const after = await serving();
    const told = (some: Map<string, string>, other: Map<string, string>): string[] =>
      [...some].filter(([uid, text]) => other.get(uid) !== text).map(([, text]) => text);
    const rolled = told(after, before).filter(text => ROLLS.test(text));
    const others = (texts: readonly string[]) => texts.filter(text => !ROLLS.test(text));
    expect({ before: others(told(before, after)), after: others(told(after, before)) }).toEqual({
      before: [],
      after: [],
    });
    expect(told(await jobs(), done)).toEqual([]);
    figure('pods replaced', rolled.length);
    expect(await unready()).toEqual([]);
    figure('objects taken over', (await ours()).length);
    figure('pods that stayed', after.size - rolled.length);
    figure('Jobs that did not run again', done.size);
    figure('seconds watched', WATCHED_SECONDS);
  });

  it('serves as before, and every server tells whose its databases, vhosts and users are', async () => {
    await ready(stage, OpenStackControlPlane, 'cloud');
    const password = await valueIn(stage, 'keystone-admin', 'password', Secret);
    const ca = spec.publicDomain && (await valueIn(await labStage(AUTHORITY), ISSUER, 'tls.crt', Secret));
    const published = ca ? { url: `https://keystone.${spec.publicDomain}`, ca } : undefined;
    const os = await OpenStack.login(namespace, password, published);
    const marks = await ownerMarks(stage, os);
    console.log(JSON.stringify(marks, undefined, 1));
    expect(Object.keys(marks.databases)).toContain('keystone');
    expect(Object.keys(marks.vhosts).length).toBeGreaterThan(1);
    expect(Object.keys(marks.busUsers).length).toBeGreaterThan(1);
    expect(Object.keys(marks.identityUsers)).toContain('admin');
    expect(unmarked(marks)).toEqual([]);
    if (!spec.ceph?.enabled) return;
    const pools = (JSON.parse(await ceph('osd', 'pool', 'ls', '-f', 'json')) as string[]).filter(name =>
      /^(images|volumes|vms|backups)/.test(name),
    );
    const owners = await Promise.all(
      pools.map(pool => ceph('osd', 'pool', 'application', 'get', pool, 'rbd', 'openstack_operator_owner')),
    );
    expect(pools.length).toBeGreaterThanOrEqual(4);
    const id = readMark(marks.databases.keystone)?.id;
    // Ceph takes neither colons nor slashes.
    expect(owners.map(text => text.trim())).toEqual(pools.map(() => `openstack-operator=${id}=CephStorage=ceph`));
    figure('pools marked', pools.length);
  });
});
