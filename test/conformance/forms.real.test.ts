import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { kindNamed } from '../../api/kinds.ts';
import { crdOf } from '../../api/schema/crd.ts';
import { type Client, createClient } from '../../src/kube/client.ts';
import type { AnyObject, Condition } from '../../src/kube/object.ts';
import { CustomResourceDefinition } from '../../src/kube/resource.ts';
import { realClock } from '../../src/real/clock.ts';
import { loadCredentials } from '../../src/real/credentials.ts';
import { type Connection, connect } from '../../src/real/transport.ts';
import { FINALIZER, FINALIZER_MANAGER } from '../../src/runtime/plan/names.ts';
import { type ApiServer, startApiServer } from './apiserver.ts';

const Cinder = kindNamed('Cinder')!;
const ref = { namespace: 'default', name: 'old' };
const ODD = "a' $(id)";

/** As an operator of before had it: no text has a form. */
function withoutForms(crd: object): AnyObject {
  return JSON.parse(JSON.stringify(crd, (key, value) => (key === 'pattern' ? undefined : value))) as AnyObject;
}

const cinder = (spec: object): AnyObject => ({
  apiVersion: 'openstack.k8s.io/v1alpha1',
  kind: 'Cinder',
  metadata: ref,
  spec: spec as never,
});
const backend = (volumeGroup: string) => ({ backends: [{ name: 'lvm', type: 'lvm', volumeGroup }] });

describe('an object that was there before its fields had a form, on a real kube-apiserver', () => {
  let server: ApiServer;
  let connection: Connection;
  let admin: Client;
  beforeAll(async () => {
    server = await startApiServer();
    connection = connect(loadCredentials({ kubeconfig: server.kubeconfig('admin'), env: {} }), { userAgent: 'forms' });
    admin = createClient(connection, realClock);
    await admin.create(CustomResourceDefinition, withoutForms(crdOf(Cinder)));
    await vi.waitUntil(established, { timeout: 60_000 });
    await admin.apply(Cinder, cinder(backend(ODD)), { manager: 'kubectl' });
    const { apiVersion, kind } = cinder({});
    const body = { apiVersion, kind, metadata: { ...ref, finalizers: [FINALIZER] } };
    await admin.apply(Cinder, body, { manager: FINALIZER_MANAGER, force: true });
    const crd = await admin.get<AnyObject>(CustomResourceDefinition, {
      namespace: '',
      name: 'cinders.openstack.k8s.io',
    });
    const { spec } = crdOf(Cinder) as unknown as AnyObject;
    await admin.patch(
      CustomResourceDefinition,
      { namespace: '', name: crd!.metadata.name },
      { spec },
      { type: 'merge' },
    );
    // The forms are in force when a new object with such a value is refused.
    const fresh = { ...cinder(backend(ODD)), metadata: { namespace: 'default', name: 'new' } };
    const refused = () =>
      admin.apply(Cinder, fresh, { manager: 'kubectl', dryRun: true }).then(
        () => '',
        error => (error as Error).message,
      );
    await vi.waitUntil(async () => /volumeGroup/.test(await refused()), { timeout: 30_000, interval: 500 });
  }, 120_000);
  afterAll(async () => {
    await connection.close();
    await server.stop();
  }, 60_000);

  async function established(): Promise<boolean> {
    const crd = await admin.get<AnyObject>(CustomResourceDefinition, {
      namespace: '',
      name: 'cinders.openstack.k8s.io',
    });
    const { conditions = [] } = (crd?.status ?? {}) as { conditions?: Condition[] };
    return conditions.some(({ type, status }) => type === 'Established' && status === 'True');
  }

  it('takes an edit of another field, and refuses another odd value by the name of the field', async () => {
    await admin.patch(Cinder, ref, { spec: { replicas: 2 } }, { type: 'merge' });
    const worse = admin.patch(Cinder, ref, { spec: backend(`${ODD} x`) }, { type: 'merge' });
    await expect(worse).rejects.toThrow(/volumeGroup/);
  });

  it('takes a status', async () => {
    const status = { conditions: [] };
    await admin.patch(Cinder, ref, { status }, { type: 'merge', subresource: 'status' });
  });

  it('can be deleted: its finalizer can be taken away', async () => {
    const live = await admin.get<AnyObject>(Cinder, ref);
    await admin.delete(Cinder, ref, { uid: live!.metadata.uid! });
    const { apiVersion, kind } = cinder({});
    const body = { apiVersion, kind, metadata: { ...ref, uid: live!.metadata.uid!, finalizers: [] } };
    await admin.apply(Cinder, body, { manager: FINALIZER_MANAGER, force: true });
    expect(await admin.get(Cinder, ref)).toBeUndefined();
  });
});
