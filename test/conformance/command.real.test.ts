import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KINDS } from '../../api/kinds.ts';
import { NovaCell } from '../../api/nova/cell.ts';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { crdOf } from '../../api/schema/crd.ts';
import { execute } from '../../src/cli/program.ts';
import { createClient } from '../../src/kube/client.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { CustomResourceDefinition, Namespace, type Resource } from '../../src/kube/resource.ts';
import { realClock } from '../../src/real/clock.ts';
import { loadCredentials } from '../../src/real/credentials.ts';
import { connect } from '../../src/real/transport.ts';
import { type ApiServer, startApiServer, type User } from './apiserver.ts';

/** What somebody meets at the terminal when a real kube-apiserver does not give everything. */

const NS = 'openstack';
let server: ApiServer;
let connection: ReturnType<typeof connect>;
let admin: ReturnType<typeof createClient>;

beforeAll(async () => {
  server = await startApiServer();
  connection = connect(loadCredentials({ kubeconfig: server.kubeconfig('admin'), env: {} }));
  admin = createClient(connection, realClock);
  await admin.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NS } });
});
afterAll(async () => {
  await connection?.close();
  await server?.stop();
});

async function as(user: User | string, ...words: string[]): Promise<{ text: string; code: number }> {
  let text = '';
  const write = (more: string): void => {
    text += more;
  };
  const paper = { width: undefined, paint: (_style: string, said: string) => said };
  const path = user.includes('/') ? user : server.kubeconfig(user as User);
  const code = await execute('kubectl openstack', [...words, '-n', NS, '--kubeconfig', path], {
    out: write,
    err: write,
    paper,
    repaints: false,
  });
  return { text, code };
}

async function until(what: string, done: () => Promise<boolean>): Promise<void> {
  for (let left = 150; !(await done()); left--) {
    if (left === 0) throw new Error(`not within 15 s: ${what}`);
    await new Promise(resolve => setTimeout(resolve, 100));
  }
}

const rbac = (kind: string): Resource => ({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind,
  plural: `${kind.toLowerCase()}s`,
  namespaced: true,
});

/** One story: a cluster that is given more and more. */
describe('a real API server that does not give everything', { timeout: 300_000 }, () => {
  it('a token that nobody knows', async () => {
    const path = server.kubeconfig('viewer').replace('viewer', 'stranger');
    writeFileSync(path, readFileSync(server.kubeconfig('viewer'), 'utf8').replace('token-of-viewer', 'hunter2'));
    const { text, code } = await as(path, 'status');
    expect(text).toMatch(/^kubectl openstack: the API server does not know you \(kubeconfig .*\): log in again\n$/);
    expect(code).toBe(1);
  });

  it('no CRDs', async () => {
    const { text, code } = await as('admin', 'status');
    expect(text).toMatch(
      /^kubectl openstack: the CRDs of openstack-operator are not in this cluster \(.*make install\n$/,
    );
    expect(code).toBe(1);
  });

  it('CRDs of an older version: says which kinds are not there, and answers with the others', async () => {
    for (const kind of KINDS.filter(one => one !== NovaCell))
      await admin.create(CustomResourceDefinition, crdOf(kind) as unknown as AnyObject);
    await until('all others are served', async () => {
      const { text } = await as('admin', 'status');
      return text.startsWith('No cloud') && text.endsWith('older than this program: it has no NovaCell\n');
    });
    await admin.create(OpenStackControlPlane, {
      apiVersion: 'openstack.k8s.io/v1alpha1',
      kind: 'OpenStackControlPlane',
      metadata: { name: 'cloud', namespace: NS, finalizers: ['example.org/hold'] },
    } as AnyObject);
    const { text, code } = await as('admin', 'status');
    expect(text).toMatch(/^openstack\/cloud {2}unseen/);
    expect(text).toContain("Note: the cluster's CRDs are older than this program: it has no NovaCell\n");
    expect(code).toBe(1);
    const plan = await as('admin', 'plan', '--operator');
    expect(plan.text).toContain("the cluster's CRDs are older than this program: it has no NovaCell");
  });

  it('no permission at all: the verb and the resource', async () => {
    for (const command of ['status', 'tree', 'why']) {
      const { text, code } = await as('viewer', command);
      expect(text).toMatch(
        /^kubectl openstack: no permission to list openstackcontrolplanes\.openstack\.k8s\.io in openstack: ask for verb list on it \(and on \d+ more of our kinds\)\n$/,
      );
      expect(code).toBe(1);
    }
  });

  it('permission for our kinds only: an answer, and which verb on which resource it lacks', async () => {
    await admin.create(CustomResourceDefinition, crdOf(NovaCell) as unknown as AnyObject);
    const rules = [...new Set(KINDS.map(kind => kind.group))].map(group => ({
      apiGroups: [group],
      resources: ['*'],
      verbs: ['list'],
    }));
    const metadata = { name: 'ours', namespace: NS };
    const group = 'rbac.authorization.k8s.io';
    await admin.create(rbac('Role'), { apiVersion: `${group}/v1`, kind: 'Role', metadata, rules } as AnyObject);
    await admin.create(rbac('RoleBinding'), {
      apiVersion: `${group}/v1`,
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup: group, kind: 'Role', name: 'ours' },
      subjects: [{ apiGroup: group, kind: 'User', name: 'viewer' }],
    } as AnyObject);
    await until('the role counts, and all CRDs are served', async () => {
      const { text } = await as('viewer', 'status');
      return text.startsWith('openstack/cloud') && !text.includes('older');
    });
    const { text, code } = await as('viewer', 'tree');
    const notes = text.split('\n').filter(line => line.startsWith('Note: '));
    expect(notes).toEqual(
      ['daemonsets.apps', 'deployments.apps', 'jobs.batch', 'pods', 'replicasets.apps', 'statefulsets.apps'].map(
        resource => `Note: no permission to list ${resource} in openstack: ask for verb list on it`,
      ),
    );
    expect(code).toBe(1);
    const why = await as('viewer', 'why');
    expect(why.text).toContain('no permission to list secrets in openstack: ask for verb list on it');
    expect(why.text).toContain('no permission to list nodes: ask for verb list on it');
    const events = await as('viewer', 'events');
    expect(events.text).toMatch(/^No events\.\n\nNote: no permission to list /);
    expect(events.text).toContain('no permission to list events.events.k8s.io in openstack: ask for verb list on it');
  });

  it('a cloud that is half deleted is neither ready nor gone', async () => {
    const found = await admin.get(OpenStackControlPlane, { namespace: NS, name: 'cloud' });
    await admin.delete(OpenStackControlPlane, { namespace: NS, name: 'cloud' }, { uid: found?.metadata.uid ?? '' });
    const status = await as('admin', 'status');
    expect(status.text).toMatch(/^openstack\/cloud {2}deleting/);
    expect(status.code).toBe(1);
    // What holds it is told after a minute, in which a healthy deletion is through: test/functional/half.test.ts.
    const why = await as('admin', 'why');
    expect(why.text).toBe('Nothing is wrong; this is on its way:\n\n  OpenStackControlPlane cloud: being deleted\n');
  });
});
