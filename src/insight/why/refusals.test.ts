import { describe, expect, it } from 'vitest';
import type { AnyObject } from '../../kube/object.ts';
import { viewOf } from '../view/view.ts';
import { givenLogin, policyBetween } from './connections.ts';
import { refusalOf } from './refusals.ts';
import { placeOf } from './scheduling.ts';

const object = (kind: string, name: string, fields: object = {}, metadata: object = {}): AnyObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name, ...(kind === 'Node' ? {} : { namespace: 'here' }), ...metadata },
  ...fields,
});

describe('who refuses', () => {
  it.each([
    ['pods "x" is forbidden: exceeded quota: q1, requested: pods=1', 'ResourceQuota q1', 'describe resourcequota q1'],
    [
      'Internal error occurred: failed calling webhook "a.b.c": failed to call webhook: Post "https://svc.ns.svc:443/x": EOF',
      'Webhook a.b.c',
      'kubectl -n ns get pods',
    ],
    [
      'failed calling webhook "a.b.c": failed to call webhook: Post "https://10.0.0.1/x": EOF',
      'Webhook a.b.c',
      'webhookconf',
    ],
    ['admission webhook "a.b.c" denied the request: [team] label missing', 'Webhook a.b.c', 'a.b.c'],
    [
      'pods "x" is forbidden: violates PodSecurity "restricted:latest": runAsNonRoot != true',
      'Namespace here',
      'namespace here',
    ],
    [
      'pods "x" is forbidden: maximum memory usage per Container is 64Mi, but limit is 1Gi',
      'LimitRange ',
      'describe limitrange',
    ],
  ])('%s', (text, root, command) => {
    const refusal = refusalOf('here', text);
    expect(`${refusal?.root.kind} ${refusal?.root.name}`).toBe(root);
    expect(refusal?.command).toContain(command);
  });

  it('is nobody that is known', () => expect(refusalOf('here', 'the server is on fire')).toBeUndefined());
});

describe('why no node takes a pod', () => {
  const pod = object('Pod', 'p', { spec: { nodeSelector: { disk: 'ssd' } } });
  const node = (name: string, spec: object, disk = 'ssd') => object('Node', name, { spec }, { labels: { disk } });
  const claim = object('PersistentVolumeClaim', 'c', {}, { finalizers: ['kubernetes.io/pvc-protection'] });
  const hung = object('PersistentVolumeClaim', 'h', {}, { finalizers: ['example.org/hold'] });
  const taints = (key: string) => ({ taints: [{ key, value: 'v', effect: 'NoSchedule' }] });
  const view = viewOf(
    [
      claim,
      hung,
      node('a', { unschedulable: true }, 'hdd'),
      node('b', { unschedulable: true }),
      node('c', taints('gpu')),
    ],
    0,
  );
  it.each([
    ['0/3 nodes are available: 2 node(s) were unschedulable.', 'Cordoned Node b'],
    ['0/3 nodes are available: 1 node(s) had untolerated taint {gpu: v}.', 'Tainted Node c'],
    ['0/3 nodes are available: 1 node(s) had untolerated taint(s) {gpu: v}.', 'Tainted Node c'],
    ['persistentvolumeclaim "c" is being deleted', 'Terminating PersistentVolumeClaim c'],
    ['persistentvolumeclaim "h" is being deleted', 'Finalizer PersistentVolumeClaim h'],
    ["0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector.", undefined],
    ['0/3 nodes are available: 3 Insufficient memory.', undefined],
  ])('%s', (said, expected) => {
    const place = placeOf(view, pod, said);
    expect(place && `${place.reason} ${place.root.kind} ${place.root.name}`).toBe(expected);
  });
});

describe('what stands between two that are well', () => {
  const labels = { app: 'db' };
  const server = object('Pod', 'db-0', { status: { conditions: [{ type: 'Ready', status: 'True' }] } }, { labels });
  const service = object('Service', 'db', { spec: { selector: labels } });
  const caller = object('MariaDB', 'db');
  const policy = (name: string, spec: object, own = false) =>
    object('NetworkPolicy', name, { spec }, own ? { labels: { 'openstack.k8s.io/managed': 'true' } } : {});
  const text = 'MariaDB at db.here.svc.cluster.local:3306 does not answer (timeout)';
  const found = (...policies: AnyObject[]) =>
    policyBetween(viewOf([server, service, caller, ...policies], 0), caller, text)?.metadata.name;

  it.each([
    ['all are denied', [policy('deny', { podSelector: {} })], 'deny'],
    [
      'some are admitted',
      [policy('some', { podSelector: { matchLabels: labels }, ingress: [{ from: [{}] }] })],
      'some',
    ],
    ['all are admitted', [policy('open', { podSelector: {}, ingress: [{}] })], undefined],
    ['others are meant', [policy('other', { podSelector: { matchLabels: { app: 'web' } } })], undefined],
    [
      'others are meant by expression',
      [policy('other', { podSelector: { matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['db'] }] } })],
      undefined,
    ],
    ['only the way out is limited', [policy('out', { podSelector: {}, policyTypes: ['Egress'] })], undefined],
    ['it is ours', [policy('ours', { podSelector: {} }, true)], undefined],
  ])('%s', (_what, policies, expected) => expect(found(...policies)).toBe(expected));

  it('is a login of the user, and not one that we packed', () => {
    const keystone = object('Keystone', 'k', { spec: { databaseSecret: 'mine' } });
    const packed = object('Secret', 'mine', {}, { labels: { 'openstack.k8s.io/managed': 'true' } });
    const words = `(2003, "Can't connect to MySQL server on 'db.example.org'")`;
    expect(givenLogin(viewOf([], 0), keystone, words)).toEqual({ field: 'spec.databaseSecret', secret: 'mine' });
    expect(givenLogin(viewOf([packed], 0), keystone, words)).toBeUndefined();
    expect(givenLogin(viewOf([], 0), keystone, 'AMQP server is unreachable')).toBeUndefined();
  });
});
