import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  applyPatch,
  type ResetFields,
  resetFieldsOf,
  resetFieldsOfCustom,
  trackUpdate,
} from '../../../src/embedded/apply/apply.ts';
import type { AnyObject, Status } from '../../../src/kube/object.ts';
import { type ApiServer, startApiServer } from '../apiserver.ts';
import { realSide, type Side } from '../wire.ts';
import { stable } from './compare.ts';
import type { Json } from './generate.ts';
import { customKinds } from './schemas.ts';
import { typeOf } from './story.ts';

/**
 * The fuzz compares with the field manager; this compares with the server around it: what a create starts from,
 * which fields are reset, when ownership is worked out. Each step's managedFields must come out of our functions too.
 */
const CLOUD = 'fuzz.openstack.org/v1/Cloud';
const root: Record<string, string> = {
  'v1/ConfigMap': '/api/v1/namespaces/default/configmaps',
  'v1/Secret': '/api/v1/namespaces/default/secrets',
  'v1/Service': '/api/v1/namespaces/default/services',
  'v1/PersistentVolumeClaim': '/api/v1/namespaces/default/persistentvolumeclaims',
  'apps/v1/Deployment': '/apis/apps/v1/namespaces/default/deployments',
  'apps/v1/StatefulSet': '/apis/apps/v1/namespaces/default/statefulsets',
  'policy/v1/PodDisruptionBudget': '/apis/policy/v1/namespaces/default/poddisruptionbudgets',
  'coordination.k8s.io/v1/Lease': '/apis/coordination.k8s.io/v1/namespaces/default/leases',
  'rbac.authorization.k8s.io/v1/RoleBinding': '/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings',
  [CLOUD]: '/apis/fuzz.openstack.org/v1/namespaces/default/clouds',
};

type Step = { how: 'create' | 'replace' | 'merge' | 'apply' | 'force'; body: Json; manager: string; sub?: 'status' };

describe('ownership on a real kube-apiserver', () => {
  let server: ApiServer;
  let real: Side;
  beforeAll(async () => {
    server = await startApiServer();
    real = realSide(server, server.token('admin'));
    const group = 'fuzz.openstack.org';
    const schema = { openAPIV3Schema: customKinds[CLOUD] };
    const version = { name: 'v1', served: true, storage: true, schema, subresources: { status: {} } };
    const names = { kind: 'Cloud', plural: 'clouds', singular: 'cloud', listKind: 'CloudList' };
    const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    const made = await real.send({
      method: 'POST',
      path: crds,
      body: {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: `clouds.${group}` },
        spec: { group, scope: 'Namespaced', names, versions: [version] },
      } as unknown as AnyObject,
    });
    if (made.status !== 201) throw new Error(JSON.stringify(made.body));
    const served = async () => (await real.send({ method: 'GET', path: root[CLOUD]! })).status === 200;
    await vi.waitUntil(served, { timeout: 60_000, interval: 200 });
  }, 180_000);
  afterAll(async () => {
    real?.close();
    await server?.stop();
  });

  async function run(kind: string, name: string, steps: Step[]): Promise<void> {
    const slash = kind.lastIndexOf('/');
    const expected = { apiVersion: kind.slice(0, slash), kind: kind.slice(slash + 1) };
    const type = typeOf(kind);
    for (const [i, step] of steps.entries()) {
      const sub = step.sub ?? '';
      const path = `${root[kind]}/${name}`;
      const got = await real.send({ method: 'GET', path });
      const before = got.status === 200 ? (got.body as AnyObject) : undefined;
      const { metadata = {}, ...rest } = step.body as { metadata?: Json };
      const body = { ...expected, metadata: { name, namespace: 'default', ...metadata }, ...rest } as AnyObject;
      const applying = step.how === 'apply' || step.how === 'force';
      const types = { merge: 'application/merge-patch+json', apply: 'application/apply-patch+yaml' };
      const contentType = applying ? types.apply : step.how === 'merge' ? types.merge : 'application/json';
      const method = step.how === 'create' ? 'POST' : step.how === 'replace' ? 'PUT' : 'PATCH';
      const sent = step.how === 'merge' ? step.body : step.how === 'replace' ? { ...before, ...rest } : body;
      const answer = await real.send({
        method,
        path: step.how === 'create' ? root[kind]! : sub === '' ? path : `${path}/${sub}`,
        query: { fieldManager: step.manager, ...(step.how === 'force' ? { force: 'true' } : {}) },
        contentType,
        body: sent as AnyObject,
      });
      const resetFields: ResetFields =
        kind === CLOUD ? resetFieldsOfCustom(sub, true) : resetFieldsOf(expected.apiVersion, expected.kind, sub);
      const after = answer.body as AnyObject;
      const where = `step ${i} ${step.how} of ${kind}: ${JSON.stringify(after).slice(0, 300)}`;
      const write = { manager: step.manager, subresource: sub, type, time: '2026-01-01T00:00:00Z', resetFields };
      if (applying) {
        const ours = applyPatch({ ...write, live: before, patch: body, force: step.how === 'force', expected });
        if ('failure' in ours) {
          const { code, reason, message, details } = answer.body as unknown as Status;
          // The server walks through a Go map: the message is sorted, its causes come in any order.
          const sorted = (causes: readonly object[] = []) =>
            [...causes].sort((x, y) => (JSON.stringify(x) < JSON.stringify(y) ? -1 : 1));
          const { causes: expectedCauses, ...rest } = ours.failure;
          expect({ code, reason: reason ?? '', message }, where).toEqual(rest);
          expect(sorted(details?.causes), where).toEqual(sorted(expectedCauses));
        } else {
          expect(answer.status, where).toBeLessThan(300);
          expect(owners(after), where).toEqual(owners(ours.object));
        }
        continue;
      }
      expect(answer.status, where).toBeLessThan(300);
      const ours = trackUpdate({ ...write, before, after: unallocated(before, after) });
      expect(owners(after), where).toEqual(owners(ours));
    }
  }

  /** Without times, and in no order but ours: entries are sorted by time. */
  const owners = (object: AnyObject): unknown[] =>
    (object.metadata.managedFields ?? [])
      .map(({ time: _, ...entry }) => entry)
      .sort((a, b) => (stable(a) < stable(b) ? -1 : 1));

  /** As the field manager saw it: before managedFields were written, before addresses were given out, with the old status. */
  function unallocated(before: AnyObject | undefined, after: AnyObject): AnyObject {
    const object = structuredClone(after);
    if (before) object.metadata.managedFields = before.metadata.managedFields!;
    else delete object.metadata.managedFields;
    // Admission adds this after ownership is worked out.
    if (after.kind === 'PersistentVolumeClaim' && !before) delete object.metadata.finalizers;
    if (after.kind === 'Service' && !before) {
      for (const name of ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy'])
        delete (object.spec as Json)[name];
    }
    return object;
  }

  const container = (more: Json = {}): Json => ({ name: 'api', image: 'registry.invalid/api:1', ...more });
  const workload = (more: Json, containers: Json[] = [container()]): Json => ({
    spec: {
      selector: { matchLabels: { app: 'x' } },
      template: { metadata: { labels: { app: 'x' } }, spec: { containers } },
      ...more,
    },
  });

  it('ConfigMap', () =>
    run('v1/ConfigMap', 'a', [
      {
        how: 'create',
        body: { data: { a: '1', b: '2' }, metadata: { labels: { x: 'y' } } },
        manager: 'kubectl-create',
      },
      { how: 'apply', body: { data: { c: '3' } }, manager: 'ours' },
      { how: 'apply', body: { data: { c: '4', a: '2' } }, manager: 'theirs' },
      { how: 'force', body: { data: { c: '4', a: '2' } }, manager: 'theirs' },
      { how: 'merge', body: { data: { a: null, d: '5' } }, manager: 'kubectl-patch' },
      { how: 'apply', body: {}, manager: 'theirs' },
      { how: 'apply', body: { data: { c: 4 } }, manager: 'ours' },
      { how: 'apply', body: { spec: {} }, manager: 'ours' },
      { how: 'replace', body: { data: { z: '1' } }, manager: 'kubectl-replace' },
    ]));

  it('ConfigMap made by apply', () =>
    run('v1/ConfigMap', 'b', [
      { how: 'apply', body: { data: { a: '1' }, metadata: { finalizers: ['a.org/x'] } }, manager: 'ours' },
      { how: 'apply', body: { data: {}, metadata: { finalizers: ['a.org/x', 'a.org/x'] } }, manager: 'ours' },
      { how: 'apply', body: { data: {} }, manager: 'ours' },
    ]));

  it('Secret', () =>
    run('v1/Secret', 's', [
      { how: 'create', body: { data: { a: 'MQ==' }, type: 'Opaque' }, manager: 'm' },
      { how: 'apply', body: { data: { b: 'MQ==' } }, manager: 'ours' },
    ]));

  it('Deployment', () =>
    run('apps/v1/Deployment', 'd', [
      { how: 'create', body: workload({ replicas: 2 }, [container({ ports: [{ containerPort: 80 }] })]), manager: 'm' },
      { how: 'apply', body: workload({}, [container({ env: [{ name: 'A', value: '1' }] })]), manager: 'ours' },
      { how: 'merge', body: { status: { replicas: 1, observedGeneration: 1 } }, manager: 'dc', sub: 'status' },
      { how: 'apply', body: workload({ replicas: 3 }), manager: 'ours' },
      { how: 'force', body: workload({ replicas: 3 }), manager: 'ours' },
      { how: 'merge', body: { spec: { replicas: 4 }, status: { replicas: 9 } }, manager: 'hpa' },
    ]));

  it('Deployment made by apply', () =>
    run('apps/v1/Deployment', 'e', [
      { how: 'apply', body: workload({ strategy: { type: 'Recreate' } }), manager: 'ours' },
      { how: 'apply', body: workload({}, [container({ resources: { limits: { cpu: '1000m' } } })]), manager: 'ours' },
    ]));

  it('StatefulSet', () =>
    run('apps/v1/StatefulSet', 's', [
      { how: 'create', body: workload({ serviceName: 's', replicas: 3 }), manager: 'm' },
      { how: 'force', body: workload({ serviceName: 's', replicas: 1 }), manager: 'ours' },
      { how: 'apply', body: { status: { replicas: 1, currentReplicas: 1 } }, manager: 'sc', sub: 'status' },
    ]));

  it('Service', () =>
    run('v1/Service', 's', [
      { how: 'create', body: { spec: { selector: { a: 'b' }, ports: [{ port: 80 }] } }, manager: 'm' },
      {
        how: 'apply',
        body: {
          spec: {
            ports: [
              { port: 443, name: 'tls' },
              { port: 80, name: 'http' },
            ],
          },
        },
        manager: 'ours',
      },
      {
        how: 'force',
        body: {
          spec: {
            ports: [
              { port: 443, name: 'tls' },
              { port: 80, name: 'http' },
            ],
          },
        },
        manager: 'ours',
      },
    ]));

  it('PersistentVolumeClaim, PodDisruptionBudget, Lease, RoleBinding', async () => {
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
    await run('v1/PersistentVolumeClaim', 'p', [
      { how: 'create', body: { spec }, manager: 'm' },
      { how: 'apply', body: { spec, metadata: { labels: { a: 'b' } } }, manager: 'ours' },
    ]);
    await run('policy/v1/PodDisruptionBudget', 'p', [
      { how: 'create', body: { spec: { maxUnavailable: 1, selector: { matchLabels: { a: 'b' } } } }, manager: 'm' },
      { how: 'force', body: { spec: { maxUnavailable: '10%' } }, manager: 'ours' },
    ]);
    await run('coordination.k8s.io/v1/Lease', 'l', [
      { how: 'create', body: { spec: { holderIdentity: 'a', leaseDurationSeconds: 15 } }, manager: 'm' },
      { how: 'replace', body: { spec: { holderIdentity: 'b', leaseDurationSeconds: 15 } }, manager: 'n' },
    ]);
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' };
    await run('rbac.authorization.k8s.io/v1/RoleBinding', 'r', [
      {
        how: 'create',
        body: { roleRef, subjects: [{ kind: 'ServiceAccount', name: 'x', namespace: 'default' }] },
        manager: 'm',
      },
      { how: 'apply', body: { roleRef }, manager: 'ours' },
    ]);
  });

  it('custom resource', () =>
    run(CLOUD, 'c', [
      {
        how: 'create',
        body: { spec: { replicas: 1, cells: [{ name: 'a', hosts: ['x'] }] }, status: { phase: 'P' } },
        manager: 'm',
      },
      { how: 'apply', body: { spec: { release: 'r', cells: [{ name: 'b' }] } }, manager: 'ours' },
      {
        how: 'apply',
        body: { status: { phase: 'Q', conditions: [{ type: 'Ready', status: 'True' }] } },
        manager: 'ours',
        sub: 'status',
      },
      { how: 'apply', body: { status: { phase: 'Q' }, spec: { replicas: 9 } }, manager: 'ours', sub: 'status' },
      { how: 'apply', body: { spec: { replicas: 2, networks: ['n'], vlans: [1, 2] } }, manager: 'ours' },
      { how: 'force', body: { spec: { replicas: 2, networks: ['n'], vlans: [1, 2] } }, manager: 'ours' },
      {
        how: 'merge',
        body: { spec: { labels: { a: 'b' }, nodeSelector: { x: 'y' }, paused: null } },
        manager: 'kubectl-edit',
      },
      { how: 'apply', body: { spec: { cells: [{ name: 'b', endpoints: [{ port: 1 }] }] } }, manager: 'ours' },
      { how: 'apply', body: { spec: { unknown: 1 } }, manager: 'ours' },
      { how: 'apply', body: { spec: { replicas: 'many' } }, manager: 'ours' },
    ]));
});
