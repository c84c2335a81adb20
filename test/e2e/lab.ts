import { Resolver } from 'node:dns/promises';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { KINDS } from '../../api/kinds.ts';
import { auditLog } from '../../lab/cluster/control.ts';
import { INGRESS_IP } from '../../lab/cluster/ingress.ts';
import { CGROUP, DNS_IP } from '../../lab/cluster/layout.ts';
import { tryKubectl } from '../../lab/kubectl.ts';
import { adminKubeconfig } from '../../lab/paths.ts';
import { readCluster } from '../../src/cli/source/source.ts';
import { type Moment, momentsOf } from '../../src/insight/plan/rolling.ts';
import { createClient } from '../../src/kube/client.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import {
  apiVersionOf,
  DaemonSet,
  Deployment,
  Job,
  Namespace,
  pathOf,
  type Resource,
  Secret,
  StatefulSet,
} from '../../src/kube/resource.ts';
import { realClock } from '../../src/real/clock.ts';
import { realCloud } from '../../src/real/cloud.ts';
import { loadCredentials } from '../../src/real/credentials.ts';
import { connect } from '../../src/real/transport.ts';
import { loginBy } from './login.ts';
import { type Eyes, type Stage, until } from './stage.ts';

/** Names of Services, as the cluster's DNS tells them: this process is in its network, not on one of its hosts. */
const resolver = new Resolver();
resolver.setServers([DNS_IP]);
export async function addressOf(host: string): Promise<string> {
  // Published names, of which only the lab's DNS knows.
  if (host.endsWith('.test')) return INGRESS_IP;
  if (!host.endsWith('.svc.cluster.local')) return host;
  for (let left = 15; ; left--) {
    const [address] = await resolver.resolve4(host).catch(error => (left > 0 ? [] : Promise.reject(error)));
    if (address !== undefined) return address;
    // As resolvers do: a DNS server that is restarted is asked again.
    await pause(1000);
  }
}

const connection = connect(loadCredentials({ kubeconfig: adminKubeconfig, env: {} }), { userAgent: 'story' });
const onLab = createClient(connection, realClock);

/** Somebody's keys may be slow to come while the machine is busy; the operator's own deadline is shorter. */
const cloud = realCloud({
  clock: realClock,
  dial: async (host, port) => ({ host: await addressOf(host), port }),
  deadline: 30_000,
});

const resourceOf = (object: AnyObject) => {
  if (object.kind === 'Secret') return Secret;
  const found = KINDS.find(kind => kind.kind === object.kind && apiVersionOf(kind) === object.apiVersion);
  if (!found) throw new Error(`a story applies no ${object.kind}`);
  return found;
};

/** Processes of the operator in the lab, by their command line and cgroup. */
function operatorPids(): number[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(Number)
    .filter(pid => {
      try {
        return (
          readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('/app/openstack-operator.js') &&
          readFileSync(`/proc/${pid}/cgroup`, 'utf8').includes(`/${CGROUP}/`)
        );
      } catch {
        return false; // It ended meanwhile.
      }
    });
}

/**
 * Every change of a workload or Job, told when it stops, in the order of the changes: each kind has a watch of its own, and
 * on a busy machine one lags behind another. Versions count in one row, because the lab has one etcd.
 */
async function watchWorkloads(namespace: string): ReturnType<Eyes['watch']> {
  const moments: Moment[] = [];
  const note = momentsOf(() => performance.now(), moments);
  const end = new AbortController();
  const streams: Promise<void>[] = [];
  const seen: { readonly object: AnyObject; readonly how: 'written' | 'deleted' }[] = [];
  const follow = async (resource: Resource): Promise<void> => {
    const { items, resourceVersion } = await onLab.list(resource, { namespace });
    for (const item of items) note(item, 'seen');
    const query = { watch: 'true', resourceVersion, timeoutSeconds: '3600' };
    const path = pathOf(resource, namespace);
    const answer = await connection.watch({ method: 'GET', path, query }, end.signal);
    if (!('events' in answer)) throw new Error(`no watch of ${resource.kind}: status ${answer.status}`);
    const { events } = answer;
    const reading = async (): Promise<void> => {
      for await (const { type, object } of events)
        seen.push({ object: object as AnyObject, how: type === 'DELETED' ? 'deleted' : 'written' });
    };
    streams.push(reading());
  };
  for (const resource of [Deployment, StatefulSet, DaemonSet, Job]) await follow(resource);
  return {
    moments,
    async stop() {
      end.abort();
      await Promise.allSettled(streams);
      const version = ({ object }: (typeof seen)[number]) => Number(object.metadata.resourceVersion);
      for (const { object, how } of seen.sort((a, b) => version(a) - version(b))) note(object, how);
    },
  };
}

const began = Date.now();
/** The API server starts a new one when the old one is full, also in the middle of a story. */
function auditLogs(): string[] {
  const folder = dirname(auditLog);
  const full = readdirSync(folder).filter(
    name => /^audit-.*\.log$/.test(name) && statSync(join(folder, name)).mtimeMs > began,
  );
  return [...full.sort().map(name => join(folder, name)), auditLog];
}

interface Audit {
  /** Without a name where nobody was known yet. */
  user: { username?: string };
  verb: string;
  requestURI: string;
}

export interface LabStage extends Stage, Eyes {
  /** Runs a command in the first container of a pod. */
  tryExec(pod: string, command: readonly string[]): Promise<{ readonly code: number; readonly text: string }>;
}

/** `manager`: under which name it applies. A plan takes its edit for kubectl's. */
export async function labStage(namespace: string, manager = 'story'): Promise<LabStage> {
  const ref = (name: string) => ({ namespace, name });
  if ((await onLab.get(Namespace, { namespace: '', name: namespace })) === undefined)
    await onLab.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  const stage: LabStage = {
    namespace,
    async apply(object) {
      const own = object as AnyObject;
      const body = { ...own, metadata: { ...own.metadata, namespace } };
      await onLab.apply(resourceOf(own), body, { manager, force: true });
    },
    get: (resource, name) => onLab.get(resource, ref(name)),
    list: async resource => (await onLab.list(resource, { namespace })).items,
    patch: async (resource, name, patch) => void (await onLab.patch(resource, ref(name), patch, { type: 'merge' })),
    async remove(resource, name) {
      const found = await onLab.get(resource, ref(name));
      if (found) await onLab.delete(resource, ref(name), { uid: found.metadata.uid ?? '' });
    },
    pass: seconds => pause(seconds * 1000),
    async killOperator() {
      for (const pid of operatorPids()) process.kill(pid, 'SIGKILL');
      // The kubelet brings it back after a moment; a second kill has to find a process.
      await until(stage, 'the operator runs again', 120, async () => operatorPids().length > 0);
    },
    writes: () =>
      auditLogs()
        .flatMap(file => readFileSync(file, 'utf8').split('\n'))
        .filter(line => line.includes(':openstack-operator"'))
        .map(line => JSON.parse(line) as Audit)
        .filter(a => a.user.username?.endsWith(':openstack-operator') && !['get', 'list', 'watch'].includes(a.verb))
        .filter(a => !/\/(events|leases)/.test(a.requestURI))
        .map(a => `${a.verb} ${a.requestURI}`),
    login: password => loginBy(cloud, namespace, password),
    async look() {
      const { view } = await readCluster(connection, namespace, 'whole', 'the lab');
      return { objects: view.objects as readonly AnyObject[], at: view.now };
    },
    watch: () => watchWorkloads(namespace),
    async tryExec(pod, command) {
      const { code, stdout } = await tryKubectl(['-n', namespace, 'exec', pod, '--', ...command]);
      return { code, text: stdout };
    },
  };
  return stage;
}
