import { takingAnything } from '../../src/embedded/foreign.ts';
import type { Store } from '../../src/embedded/store/store.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import {
  CephBlockPool,
  CephClient,
  CephCluster,
  ConfigMap,
  pathOf,
  type Resource,
  Secret,
} from '../../src/kube/resource.ts';
import { type Cloud, NS } from './cloud.ts';
import { FSID } from './services.ts';

const ROOK = [CephBlockPool, CephClient, CephCluster] as const;
export const MONITORS = 'b=10.2.0.2:6789,a=10.2.0.1:6789';

export const cephCluster = (name: string): AnyObject => ({
  apiVersion: 'ceph.rook.io/v1',
  kind: 'CephCluster',
  metadata: { name, namespace: NS },
  spec: { dataDirHostPath: '/somewhere' },
});

/** Rook, as far as we look: what it is asked for is Ready at once, unless a story says otherwise. */
export function pretendRook() {
  const said = new Map<string, object>();
  const hidden = new Set<string>();
  let store: Store;
  const patch = (path: string, body: object): void => {
    const contentType = 'application/merge-patch+json';
    const answer = store.handle({ method: 'PATCH', path, contentType, body }, 'rook');
    if (answer.status >= 300) throw new Error(JSON.stringify(answer.body));
  };
  const write = (resource: Resource, owner: AnyObject, name: string, fields: object): void => {
    const path = pathOf(resource, NS, name);
    if (hidden.has(name) || store.handle({ method: 'GET', path }, 'rook').status === 200) return;
    const { apiVersion, kind, metadata } = owner;
    const ownerReferences = [{ apiVersion, kind, name: metadata.name, uid: metadata.uid, controller: true }];
    const body = { apiVersion: 'v1', kind: resource.kind, metadata: { name, ownerReferences }, ...fields };
    store.handle({ method: 'POST', path: pathOf(resource, NS), body }, 'rook');
  };
  const all = (resource: Resource): readonly AnyObject[] =>
    store.objects().filter(({ apiVersion, kind }) => apiVersion === 'ceph.rook.io/v1' && kind === resource.kind);

  const makes = (object: AnyObject): void => {
    const { name } = object.metadata;
    if (object.kind === 'CephClient') {
      const key = `AQ${name}==`;
      write(Secret, object, `rook-ceph-client-${name}`, { stringData: { [name]: key, userID: name, userKey: key } });
    }
    if (object.kind === 'CephCluster') {
      write(Secret, object, 'rook-ceph-mon', {
        stringData: { fsid: FSID, 'cluster-name': NS, 'mon-secret': 'AQmon==' },
      });
      write(ConfigMap, object, 'rook-ceph-mon-endpoints', { data: { data: MONITORS, maxMonId: '1' } });
    }
  };
  const act = (): void => {
    for (const resource of ROOK)
      for (const object of all(resource)) {
        const { name, deletionTimestamp, generation } = object.metadata;
        const path = pathOf(resource, NS, name);
        const word = said.get(`${object.kind} ${name}`);
        const pools = all(CephBlockPool).map(pool => pool.metadata.name);
        const held = object.kind === 'CephCluster' && pools.length > 0;
        const message = `has dependents: CephBlockPool: [${pools.join()}]`;
        if (!deletionTimestamp) {
          patch(path, { metadata: { finalizers: ['ceph.rook.io/held'] } });
          makes(object);
          const ceph = { health: 'HEALTH_OK' };
          patch(`${path}/status`, { status: { phase: 'Ready', ceph, observedGeneration: generation, ...word } });
        } else if (word) patch(`${path}/status`, { status: word });
        else if (held)
          patch(`${path}/status`, { status: { conditions: [{ type: 'DeletionIsBlocked', status: 'True', message }] } });
        else patch(path, { metadata: { finalizers: [] } });
      }
  };
  return {
    wrap: (inner: Store): Store => {
      store = inner;
      return {
        ...inner,
        handle: (request, user) => {
          const answer = inner.handle(request, user);
          if (request.method !== 'GET' && request.path.includes('/ceph.rook.io/')) act();
          return answer;
        },
      };
    },
    install: (cloud: Cloud): void => {
      for (const resource of ROOK) {
        const crd = takingAnything(resource) as AnyObject & { spec: { versions: object[] } };
        const versions = crd.spec.versions.map(version => ({ ...version, subresources: { status: {} } }));
        cloud.hands.apply({ ...crd, spec: { ...crd.spec, versions } });
      }
    },
    /** What it writes of an object (`CephBlockPool images`) instead of Ready; nothing: as ever. */
    says: (object: string, status?: object): void => {
      if (status) said.set(object, status);
      else said.delete(object);
      act();
    },
    /** A Secret or ConfigMap that it does not write, for now. */
    hides: (name: string, whether = true): void => {
      if (whether) hidden.add(name);
      else hidden.delete(name);
      act();
    },
  };
}
