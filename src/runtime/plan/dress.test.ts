import { describe, expect, it } from 'vitest';
import type { AnyObject } from '../../kube/object.ts';
import { ConfigMap, Deployment } from '../../kube/resource.ts';
import { dress, notOurs } from './dress.ts';
import type { Managed } from './managed.ts';

const owner: Managed = {
  apiVersion: 'openstack.k8s.io/v1alpha1',
  kind: 'Keystone',
  metadata: { name: 'keystone', namespace: 'ns', uid: 'u1' },
  spec: {},
};
const ref = (kind: string, name: string, uid: string) => ({ apiVersion: 'v1', kind, name, uid, controller: true });
const live = (metadata: Partial<AnyObject['metadata']>): AnyObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'x', ...metadata },
});
const managed = { 'openstack.k8s.io/managed': 'true' };

describe('dress', () => {
  it('adds kind, place, labels and owner, and keeps the labels of the body', () => {
    const object = dress(
      owner,
      ConfigMap,
      { metadata: { name: 'x', labels: { own: 'y' } }, data: { a: '1' } },
      'RowReady',
    );
    expect(object).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap', data: { a: '1' } });
    expect(object.metadata).toMatchObject({ name: 'x', namespace: 'ns' });
    expect(object.metadata.labels).toMatchObject({ own: 'y', ...managed, 'openstack.k8s.io/row': 'RowReady' });
    expect(object.metadata.ownerReferences).toEqual([
      { ...ref('Keystone', 'keystone', 'u1'), apiVersion: owner.apiVersion, blockOwnerDeletion: true },
    ]);
  });

  it('rule 18: what is retained has no owner and says whose it was', () => {
    const { metadata } = dress(owner, ConfigMap, { metadata: { name: 'x' } }, 'RowReady', true);
    expect(metadata.ownerReferences).toBeUndefined();
    expect(metadata.labels).toMatchObject({ 'openstack.k8s.io/retained-for': 'keystone' });
  });

  it('rule 2: pods carry the label by which they are watched', () => {
    const body = { metadata: { name: 'x' }, spec: { template: { metadata: { labels: { app: 'x' } }, spec: {} } } };
    expect(dress(owner, Deployment, body, 'RowReady').spec).toMatchObject({
      template: { metadata: { labels: { app: 'x', ...managed } } },
    });
  });
});

describe('notOurs', () => {
  for (const [what, object, reason] of [
    ['ours', live({ ownerReferences: [ref('Keystone', 'keystone', 'u1')] }), undefined],
    ['retained, with our label', live({ labels: managed }), undefined],
    ['handed over', live({ annotations: { 'openstack.k8s.io/adopt': 'true' } }), undefined],
    ['a stranger', live({}), 'AlreadyExists'],
    ["another object's", live({ labels: managed, ownerReferences: [ref('Glance', 'glance', 'u2')] }), 'NameTaken'],
    [
      'of an earlier object of our name',
      live({ labels: managed, ownerReferences: [ref('Keystone', 'keystone', 'u0')] }),
      'Terminating',
    ],
    [
      'being deleted',
      live({ deletionTimestamp: 'now', ownerReferences: [ref('Keystone', 'keystone', 'u1')] }),
      'Terminating',
    ],
  ] as const)
    it(what, () => expect(notOurs(owner, object)?.reason).toBe(reason));
});
