import { describe, expect, it } from 'vitest';
import { NoAnswer, type Response, type Transport } from '../../kube/transport.ts';
import { PLANS } from '../../operator/plans.ts';
import { createSecretMemory } from './secrets.ts';
import { readCluster } from './source.ts';

const list = (items: object[] = []): Response => ({
  status: 200,
  headers: {},
  body: { items, metadata: { resourceVersion: '1' } },
});
const failed = (status: number): Response => ({ status, headers: {}, body: 'no' });

const transport = (answer: (path: string) => Response): Transport => ({
  send: async request => answer(request.path),
  watch: async () => ({ status: 500, refusal: failed(500) }),
});
const read = (answer: (path: string) => Response) =>
  readCluster(transport(answer), 'openstack', 'look', 'kubeconfig x');

describe('a cluster that does not let us see', () => {
  it('no answer', () =>
    expect(
      read(() => {
        throw new NoAnswer('GET /: connection refused');
      }),
    ).rejects.toThrow(/no answer from the API server \(kubeconfig x\).*connection refused/));
  it('unknown user', () => expect(read(() => failed(401))).rejects.toThrow(/does not know you/));
  it('no CRDs', () =>
    expect(read(() => failed(404))).rejects.toThrow(
      /CRDs of openstack-operator are not in this cluster.*make install/,
    ));
  it('no permission: the verb and the resource', () =>
    expect(read(() => failed(403))).rejects.toThrow(
      /no permission to list openstackcontrolplanes.openstack.k8s.io in openstack: ask for verb list/,
    ));
  it('some permission: a note says what the answer lacks', async () => {
    const { notes } = await read(path => (path.endsWith('/nodes') ? failed(403) : list()));
    expect(notes).toEqual(['no permission to list nodes: ask for verb list on it']);
  });
  it('older CRDs', async () => {
    const { notes } = await read(path => (path.endsWith('/novacells') ? failed(404) : list()));
    expect(notes).toEqual([expect.stringMatching(/CRDs are older than this program: it has no NovaCell/)]);
  });
  it('takes the data out of Secrets unless asked for it', async () => {
    const secret = { metadata: { name: 's', namespace: 'openstack' }, data: { password: 'eA==' } };
    const { view } = await read(path => list(path.endsWith('/secrets') ? [secret] : []));
    expect(view.get('Secret', 'openstack', 's')).toEqual({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: secret.metadata,
    });
  });

  it('who looks again is told no content of Secrets until one changes, and none of namespaces without a cloud', async () => {
    const kind = { apiVersion: 'openstack.k8s.io/v1alpha1', kind: 'Keystone' };
    const keystone = { ...kind, metadata: { name: 'keystone', namespace: 'cloud', uid: 'k' } };
    const secret = { metadata: { name: 's', namespace: 'cloud', uid: 's', resourceVersion: '7' }, data: { a: 'eA==' } };
    const asked: string[] = [];
    const cluster: Transport = {
      ...transport(() => failed(500)),
      async send({ path, accept }) {
        if (path.endsWith('/secrets'))
          asked.push(`${path}${accept?.includes('PartialObjectMetadataList') ? ' names' : ''}`);
        if (path.endsWith('/secrets')) return list([secret]);
        return list(path.endsWith('/keystones') ? [keystone] : []);
      },
    };
    const memory = createSecretMemory();
    for (const depth of ['look', 'look', 'config'] as const)
      await readCluster(cluster, undefined, depth, 'kubeconfig x', memory);
    const path = '/api/v1/namespaces/cloud/secrets';
    expect(asked).toEqual([path, `${path} names`, `${path} names`]);
  });

  it.each([
    ['workloads', 'daemonsets deployments jobs statefulsets'],
    // Pods may have printed values of Secrets.
    ['pods', 'daemonsets deployments jobs pods replicasets secrets statefulsets'],
  ] as const)('a question about %s asks for no more, and needs no permission for Secrets', async (depth, wanted) => {
    const asked: string[] = [];
    const answer = (path: string): Response => {
      if (!path.includes('openstack.')) asked.push(path.split('/').at(-1) ?? '');
      return path.endsWith('/secrets') ? failed(403) : list();
    };
    const { notes } = await readCluster(transport(answer), 'elsewhere', depth, 'kubeconfig x');
    expect([asked.sort().join(' '), notes]).toEqual([wanted, []]);
  });

  it('a plan reads everything that some controller writes', async () => {
    const asked = new Set<string>();
    const answer = (path: string): Response => {
      asked.add(path.split('/').at(-1) ?? '');
      return list();
    };
    await readCluster(transport(answer), 'openstack', 'whole', 'kubeconfig x');
    const written = PLANS.flatMap(plan => plan.manages.map(resource => resource.plural));
    expect(written.filter(plural => !asked.has(plural))).toEqual([]);
    expect(written).toContain('cronjobs');
  });
});
