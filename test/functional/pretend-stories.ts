import { expect, it } from 'vitest';
import type { Pretenders } from '../../src/embedded/controllers/controllers.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import {
  ConfigMap,
  CustomResourceDefinition,
  DaemonSet,
  Deployment,
  Event,
  Job,
  Namespace,
  Node,
  PersistentVolumeClaim,
  Pod,
  pathOf,
  ReplicaSet,
  type Resource,
  Secret,
  Service,
  StatefulSet,
} from '../../src/kube/resource.ts';
import type { Request, Response } from '../../src/kube/transport.ts';

/** Where the stories happen: the Store on virtual time, or a real kube-apiserver. */
export interface Ground {
  readonly pretenders: Pretenders;
  send(request: Request): Promise<Response>;
  /** Lets time pass until the objects of the path satisfy the check. */
  until(resource: Resource, namespace: string, check: (objects: Obj[]) => boolean): Promise<void>;
  /** Lets everything that is under way end; answers how many writes the pretenders sent in a while after that. */
  writesAtRest(): Promise<number>;
}

interface Conditioned {
  type: string;
  status: string;
  reason?: string;
}
type Fields = Record<string, unknown> & { conditions?: Conditioned[] };
export type Obj = AnyObject & { spec: Fields; status?: Fields };

const container = { name: 'main', image: 'example.com/main:1' };
const template = (labels: Record<string, string>, spec: object = {}) => ({
  metadata: { labels },
  spec: { containers: [container], ...spec },
});

export function stories(ground: () => Promise<Ground>): void {
  let serial = 0;

  /** A namespace of its own, and verbs in it. */
  async function scene() {
    const g = await ground();
    const ns = `story-${++serial}`;
    const send = async (request: Request) => {
      const answer = await g.send(request);
      if (answer.status >= 300) throw new Error(`${request.method} ${request.path}: ${JSON.stringify(answer.body)}`);
      return answer.body as Obj;
    };
    const create = (r: Resource, name: string, body: object) =>
      send({
        method: 'POST',
        path: pathOf(r, r.namespaced ? ns : ''),
        body: {
          apiVersion: r.group === '' ? r.version : `${r.group}/${r.version}`,
          kind: r.kind,
          metadata: { name },
          ...body,
        },
      });
    const read = async (r: Resource, name: string) => {
      const answer = await g.send({ method: 'GET', path: pathOf(r, r.namespaced ? ns : '', name) });
      return answer.status === 200 ? (answer.body as Obj) : undefined;
    };
    const patch = (r: Resource, name: string, body: object) =>
      send({
        method: 'PATCH',
        path: pathOf(r, r.namespaced ? ns : '', name),
        body,
        contentType: 'application/merge-patch+json',
      });
    const remove = (r: Resource, name: string, propagationPolicy = 'Background') =>
      send({
        method: 'DELETE',
        path: pathOf(r, r.namespaced ? ns : '', name),
        body: { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy },
      });
    const until = (r: Resource, check: (objects: Obj[]) => boolean) => g.until(r, r.namespaced ? ns : '', check);
    const list = async (r: Resource) => {
      const { items } = (await send({ method: 'GET', path: pathOf(r, ns) })) as unknown as { items: Obj[] };
      return items;
    };
    await create(Namespace, ns, {});
    return { g, ns, create, read, patch, remove, until, list };
  }

  const is = (o: Obj | undefined, type: string, status = 'True') =>
    o?.status?.conditions?.some(c => c.type === type && c.status === status) ?? false;
  const named = (objects: Obj[], name: string) => objects.find(o => o.metadata.name === name);
  const app = { app: 'x' };
  const workload = (spec: object = {}, podSpec: object = {}) => ({
    spec: { selector: { matchLabels: app }, template: template(app, podSpec), ...spec },
  });

  it('a Deployment becomes available, rolls with its budget, keeps its history and goes with its pods', async () => {
    const { create, until, patch, list, read, remove } = await scene();
    await create(Deployment, 'web', workload({ replicas: 3, revisionHistoryLimit: 1 }));
    await until(Deployment, d => is(named(d, 'web'), 'Available') && named(d, 'web')?.status?.availableReplicas === 3);
    expect((await read(Deployment, 'web'))?.metadata.annotations?.['deployment.kubernetes.io/revision']).toBe('1');
    for (const image of ['example.com/main:2', 'example.com/main:3', 'example.com/main:4']) {
      await patch(Deployment, 'web', { spec: { template: { spec: { containers: [{ ...container, image }] } } } });
      let least = 3;
      await until(Deployment, d => {
        const web = named(d, 'web')!;
        least = Math.min(least, Number(web.status?.availableReplicas ?? 0));
        const done = web.status?.conditions?.some(c => c.reason === 'NewReplicaSetAvailable') ?? false;
        return done && web.status?.observedGeneration === web.metadata.generation && web.status?.updatedReplicas === 3;
      });
      // 25 % of three rounds down to none.
      expect(least).toBe(3);
    }
    await until(ReplicaSet, sets => sets.length === 2);
    expect((await list(Pod)).filter(p => p.metadata.deletionTimestamp === undefined)).toHaveLength(3);
    await remove(Deployment, 'web');
    await until(Pod, pods => pods.length === 0);
    expect(await list(ReplicaSet)).toHaveLength(0);
  });

  it('a Deployment with strategy Recreate never runs two generations at once', async () => {
    const { create, until, patch } = await scene();
    await create(Deployment, 'one', workload({ replicas: 2, strategy: { type: 'Recreate' } }));
    await until(Deployment, d => named(d, 'one')?.status?.availableReplicas === 2);
    await patch(Deployment, 'one', { spec: { template: { metadata: { labels: { app: 'x', v: '2' } } } } });
    let mixed = false;
    await until(Pod, pods => {
      const versions = new Set(pods.map(p => p.metadata.labels?.v));
      mixed ||= versions.size > 1;
      return pods.length === 2 && versions.has('2') && pods.every(p => is(p, 'Ready'));
    });
    expect(mixed).toBe(false);
  });

  it('a StatefulSet comes up in order, keeps claims over its pods, and rolls from the top', async () => {
    const { create, until, patch, list, remove, read } = await scene();
    await create(Service, 'db', { spec: { clusterIP: 'None', selector: app, ports: [{ port: 3306 }] } });
    const claim = {
      metadata: { name: 'data' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    };
    await create(StatefulSet, 'db', workload({ replicas: 2, serviceName: 'db', volumeClaimTemplates: [claim] }));
    let early = false;
    await until(Pod, pods => {
      early ||= named(pods, 'db-1') !== undefined && !is(named(pods, 'db-0'), 'Ready');
      return pods.length === 2 && pods.every(p => is(p, 'Ready'));
    });
    expect(early).toBe(false);
    const [uid] = (await list(PersistentVolumeClaim)).map(c => c.metadata.uid);
    await until(StatefulSet, s => named(s, 'db')?.status?.currentReplicas === 2);
    const first = (await read(StatefulSet, 'db'))?.status?.currentRevision;
    await patch(StatefulSet, 'db', { spec: { template: { metadata: { labels: { app: 'x', v: '2' } } } } });
    let wrong = false;
    await until(Pod, pods => {
      wrong ||= named(pods, 'db-0')?.metadata.labels?.v === '2' && named(pods, 'db-1')?.metadata.labels?.v !== '2';
      return pods.length === 2 && pods.every(p => p.metadata.labels?.v === '2' && is(p, 'Ready'));
    });
    expect(wrong).toBe(false);
    await until(StatefulSet, s => {
      const status = named(s, 'db')?.status;
      return status?.currentRevision === status?.updateRevision && status?.currentRevision !== first;
    });
    await patch(StatefulSet, 'db', { spec: { replicas: 1 } });
    await until(Pod, pods => pods.length === 1 && named(pods, 'db-0') !== undefined);
    await remove(StatefulSet, 'db');
    await until(Pod, pods => pods.length === 0);
    expect((await list(PersistentVolumeClaim)).map(c => c.metadata.uid)).toContain(uid);
  });

  it('a Parallel StatefulSet starts all members at once', async () => {
    const { create, until } = await scene();
    await create(StatefulSet, 'mq', workload({ replicas: 3, serviceName: 'mq', podManagementPolicy: 'Parallel' }));
    let together = false;
    await until(Pod, pods => {
      together ||= pods.length === 3 && pods.every(p => !is(p, 'Ready'));
      return pods.length === 3 && pods.every(p => is(p, 'Ready'));
    });
    expect(together).toBe(true);
  });

  it('a DaemonSet runs on the nodes that its selector matches', async () => {
    const { create, until, patch, ns } = await scene();
    const on = { [`story/${ns}`]: 'yes' };
    await create(DaemonSet, 'agent', workload({}, { nodeSelector: on }));
    await until(DaemonSet, s => named(s, 'agent')?.status?.observedGeneration === 1);
    await patch(Node, 'node-1', { metadata: { labels: on } });
    await until(Pod, p => p.length === 1 && p.every(x => is(x, 'Ready') && x.spec.nodeName === 'node-1'));
    await until(DaemonSet, s => named(s, 'agent')?.status?.numberReady === 1);
    await patch(Node, 'node-1', { metadata: { labels: { [`story/${ns}`]: null } } });
    await until(Pod, p => p.length === 0);
  });

  it('a Job completes with both conditions, and a failing one stops at its limit with the message of its pod', async () => {
    const { create, until, read, list } = await scene();
    const jobOf = (command: string[], spec: object = {}) => ({
      spec: { ...spec, template: { spec: { restartPolicy: 'Never', containers: [{ ...container, command }] } } },
    });
    await create(Job, 'good', jobOf(['true']));
    await create(Job, 'bad', jobOf(['fail'], { backoffLimit: 0 }));
    await until(Job, j => is(named(j, 'good'), 'Complete') && is(named(j, 'bad'), 'Failed'));
    const [good, bad] = [await read(Job, 'good'), await read(Job, 'bad')];
    expect(is(good, 'SuccessCriteriaMet')).toBe(true);
    expect(good?.status?.succeeded).toBe(1);
    expect(bad?.status?.conditions?.map(c => [c.type, c.reason])).toEqual([
      ['FailureTarget', 'BackoffLimitExceeded'],
      ['Failed', 'BackoffLimitExceeded'],
    ]);
    const pod = (await list(Pod)).find(p => p.metadata.ownerReferences?.[0]?.name === 'bad');
    expect(pod?.status?.containerStatuses).toMatchObject([
      { state: { terminated: { exitCode: 3, message: 'asked to fail' } } },
    ]);
  });

  it('a finished Job goes when its time to live is over, with its pod', async () => {
    const { create, until } = await scene();
    const spec = { ttlSecondsAfterFinished: 1, template: template({}, { restartPolicy: 'Never' }) };
    await create(Job, 'short', { spec });
    await until(Pod, p => p.length === 1);
    await until(Job, j => j.length === 0);
    await until(Pod, p => p.length === 0);
  });

  it('a pod waits for its Secret and says so, then starts', async () => {
    const { create, until } = await scene();
    const volumes = [{ name: 'v', secret: { secretName: 'later' } }];
    await create(Pod, 'mounts', { spec: { containers: [container], volumes } });
    const env = [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'later', key: 'a' } } }];
    await create(Pod, 'reads', { spec: { containers: [{ ...container, env }] } });
    await until(Event, e => e.some(x => x.reason === 'FailedMount' && String(x.note).includes('"later" not found')));
    await until(Pod, p => JSON.stringify(named(p, 'reads')?.status).includes('CreateContainerConfigError'));
    await create(Secret, 'later', {});
    await create(ConfigMap, 'later', { data: { a: '1' } });
    await until(Pod, p => is(named(p, 'mounts'), 'Ready') && is(named(p, 'reads'), 'Ready'));
  });

  it('an image that is nowhere keeps the pod waiting in ImagePullBackOff', async () => {
    const { create, until } = await scene();
    await create(Pod, 'p', { spec: { containers: [{ name: 'c', image: 'example.com/no-such:1' }] } });
    await until(Pod, p => JSON.stringify(named(p, 'p')?.status).includes('ErrImagePull'));
  });

  it('a claim of an unknown class stays Pending with an event, and binds once the class exists', async () => {
    const { create, until, ns, read } = await scene();
    const spec = {
      accessModes: ['ReadWriteOnce'],
      storageClassName: `fast-${ns}`,
      resources: { requests: { storage: '1Gi' } },
    };
    await create(PersistentVolumeClaim, 'c', { spec });
    await until(Event, e => e.some(x => x.reason === 'ProvisioningFailed'));
    expect((await read(PersistentVolumeClaim, 'c'))?.status?.phase).toBe('Pending');
    const StorageClass = {
      group: 'storage.k8s.io',
      version: 'v1',
      kind: 'StorageClass',
      plural: 'storageclasses',
      namespaced: false,
    };
    await create(StorageClass, `fast-${ns}`, { provisioner: 'example.com/p' });
    await until(PersistentVolumeClaim, c => named(c, 'c')?.status?.phase === 'Bound');
  });

  it('a killed pod starts again in place and counts it', async () => {
    const { g, ns, create, until } = await scene();
    await create(Pod, 'p', { spec: { containers: [container] } });
    await until(Pod, p => is(named(p, 'p'), 'Ready'));
    g.pretenders.kill(ns, 'p');
    const restarts = (o: Obj | undefined) =>
      (o?.status?.containerStatuses as { restartCount: number }[] | undefined)?.[0]?.restartCount ?? 0;
    await until(Pod, p => restarts(named(p, 'p')) === 1 && is(named(p, 'p'), 'Ready'));
  });

  it('resolves a Service to its ready pods, a member of a headless one, and nothing else', async () => {
    const { g, ns, create, until } = await scene();
    await create(Service, 'db', { spec: { clusterIP: 'None', selector: app, ports: [{ port: 3306 }] } });
    await create(Service, 'front', { spec: { selector: app, ports: [{ port: 80 }] } });
    await create(StatefulSet, 'db', workload({ replicas: 2, serviceName: 'db' }));
    expect(g.pretenders.resolve(`front.${ns}.svc`, 80)).toEqual([]);
    await until(StatefulSet, s => named(s, 'db')?.status?.readyReplicas === 2);
    const names = (host: string, port: number) => g.pretenders.resolve(host, port).map(p => p.metadata.name);
    expect(names(`front.${ns}.svc.cluster.local`, 80)).toEqual(['db-0', 'db-1']);
    expect(names(`db-1.db.${ns}.svc`, 3306)).toEqual(['db-1']);
    expect(names(`front.${ns}.svc`, 81)).toEqual([]);
    expect(names(`back.${ns}.svc`, 80)).toEqual([]);
  });

  it('dependents go with their owner: in the background, before it in the foreground, or not at all', async () => {
    const { create, until, remove, read, list } = await scene();
    const own = async (name: string) => {
      const owner = await create(ConfigMap, name, {});
      const ref = { apiVersion: 'v1', kind: 'ConfigMap', name, uid: owner.metadata.uid, blockOwnerDeletion: true };
      await create(Secret, `of-${name}`, { metadata: { name: `of-${name}`, ownerReferences: [ref] } });
    };
    for (const name of ['background', 'foreground', 'orphan']) await own(name);
    await remove(ConfigMap, 'background', 'Background');
    await until(Secret, s => named(s, 'of-background') === undefined);
    await remove(ConfigMap, 'foreground', 'Foreground');
    await until(ConfigMap, c => named(c, 'foreground') === undefined);
    expect(await read(Secret, 'of-foreground')).toBeUndefined();
    await remove(ConfigMap, 'orphan', 'Orphan');
    await until(ConfigMap, c => named(c, 'orphan') === undefined);
    expect((await read(Secret, 'of-orphan'))?.metadata.ownerReferences ?? []).toEqual([]);
    const ghost = { apiVersion: 'v1', kind: 'ConfigMap', name: 'ghost', uid: 'b3f1c2d0-0000-4000-8000-000000000000' };
    await create(Secret, 'stray', { metadata: { name: 'stray', ownerReferences: [ghost] } });
    await until(Secret, s => named(s, 'stray') === undefined);
    expect((await list(Secret)).map(s => s.metadata.name)).toEqual(['of-orphan']);
  });

  it('a custom resource owns as well, from the moment its definition exists', async () => {
    const { create, until, remove, ns } = await scene();
    const Toy: Resource = { group: `${ns}.example.com`, version: 'v1', kind: 'Toy', plural: 'toys', namespaced: true };
    const schema = { openAPIV3Schema: { type: 'object' } };
    await create(CustomResourceDefinition, `toys.${Toy.group}`, {
      spec: {
        group: Toy.group,
        scope: 'Namespaced',
        names: { kind: 'Toy', plural: 'toys', singular: 'toy', listKind: 'ToyList' },
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    });
    await until(CustomResourceDefinition, c => is(named(c, `toys.${Toy.group}`), 'Established'));
    const toy = await create(Toy, 'bear', {});
    const ref = { apiVersion: `${Toy.group}/v1`, kind: 'Toy', name: 'bear', uid: toy.metadata.uid };
    await create(Secret, 'of-bear', { metadata: { name: 'of-bear', ownerReferences: [ref] } });
    await remove(Toy, 'bear');
    await until(Secret, s => s.length === 0);
  });

  it('a node that falls silent makes its pods not ready; they serve again when it is back', async () => {
    const { g, create, until, list } = await scene();
    await create(Deployment, 'web', workload({ replicas: 1 }));
    await until(Deployment, d => named(d, 'web')?.status?.availableReplicas === 1);
    const node = String((await list(Pod))[0]?.spec.nodeName);
    g.pretenders.failNode(node);
    await until(Node, n => is(named(n, node), 'Ready', 'Unknown'));
    await until(Deployment, d => is(named(d, 'web'), 'Available', 'False'));
    g.pretenders.healNode(node);
    await until(Deployment, d => is(named(d, 'web'), 'Available'));
  });

  it('a namespace that is deleted is emptied and goes', async () => {
    const { ns, create, until, remove, list } = await scene();
    await create(Deployment, 'web', workload({ replicas: 2 }));
    await create(StatefulSet, 'db', workload({ replicas: 1, serviceName: 'db' }));
    await create(ConfigMap, 'c', {});
    await until(Pod, p => p.length === 3 && p.every(x => is(x, 'Ready')));
    await remove(Namespace, ns);
    await until(Namespace, n => named(n, ns) === undefined);
    for (const r of [Pod, Deployment, StatefulSet, ReplicaSet, ConfigMap, Event]) expect(await list(r)).toEqual([]);
  });

  it('14: at rest the pretenders write nothing', async () => {
    const { g, create, until } = await scene();
    await create(Deployment, 'web', workload({ replicas: 2 }));
    await create(StatefulSet, 'db', workload({ replicas: 1, serviceName: 'db' }));
    await create(Job, 'job', { spec: { template: template({}, { restartPolicy: 'Never' }) } });
    await create(Pod, 'lost', { spec: { containers: [{ ...container, image: 'example.com/no-such:1' }] } });
    const volumes = [{ name: 'v', secret: { secretName: 'never' } }];
    await create(Pod, 'waits', { spec: { containers: [container], volumes } });
    await until(Deployment, d => named(d, 'web')?.status?.availableReplicas === 2);
    expect(await g.writesAtRest()).toBe(0);
  });
}
