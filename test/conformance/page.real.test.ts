import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { operatorPage } from '../../src/cli/commands/operator-page.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import type { Resource } from '../../src/kube/resource.ts';
import type { PageServer } from '../../src/server/page/serve.ts';
import { silent } from '../../src/world/log.ts';
import { NS, RealCluster } from './cluster.ts';

const slice = parse(readFileSync('config/samples/controlplane_slice.yaml', 'utf8')) as AnyObject;
const RBAC = 'rbac.authorization.k8s.io';
const rbac = (kind: string): Resource => ({
  group: RBAC,
  version: 'v1',
  kind,
  plural: `${kind.toLowerCase()}s`,
  namespaced: false,
});

describe('the page of the operator on a real kube-apiserver', { timeout: 120_000 }, () => {
  let cluster: RealCluster;
  let page: PageServer;
  beforeAll(async () => {
    cluster = await RealCluster.start();
    cluster.startOperator();
    page = await operatorPage({
      port: 0,
      // A loopback address all the same, but not the one on which nobody is asked.
      host: '127.0.0.2',
      namespaces: [],
      transport: cluster.connect('operator'),
      reviews: cluster.connect('operator'),
      log: silent,
    });
    await page.start();
    await cluster.apply(OpenStackControlPlane, slice);
    await cluster.ready(OpenStackControlPlane, 'slice', 120);
  }, 240_000);
  afterAll(async () => {
    await page.stop();
    await cluster.stop();
  }, 60_000);

  const bind = (role: string, user: string) =>
    cluster.admin.create(rbac('ClusterRoleBinding'), {
      apiVersion: `${RBAC}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: `${user}-${role.replace(':', '-')}` },
      roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: role },
      subjects: [{ kind: 'User', name: user, apiGroup: RBAC }],
    } as AnyObject);
  const role = (name: string, group: string, resource: string) =>
    cluster.admin.create(rbac('ClusterRole'), {
      apiVersion: `${RBAC}/v1`,
      kind: 'ClusterRole',
      metadata: { name },
      rules: [{ apiGroups: [group], resources: [resource], verbs: ['list'] }],
    } as AnyObject);
  const get = (path: string, authorization?: string) =>
    fetch(new URL(path, page.url), { headers: { ...(authorization && { authorization }) } });
  const bearer = (user: 'admin' | 'viewer') => `Bearer ${cluster.server.token(user)}`;
  const settings = `/api/settings?kind=Keystone&namespace=${NS}&name=keystone`;

  it('says which right the operator lacks to check tokens', async () => {
    const answer = await get('/', bearer('admin'));
    expect(answer.status).toBe(502);
    expect(await answer.json()).toMatchObject({ message: expect.stringContaining('system:auth-delegator') });
  });

  it('lets nobody in without a token that the API server knows', async () => {
    await bind('system:auth-delegator', 'operator');
    await cluster.until(async () => (await get('/', bearer('admin'))).status === 200, 'the right is there', 30);
    for (const path of ['/', '/app.js', '/api/overview', '/api/stream', settings]) {
      expect((await get(path)).status, path).toBe(401);
      expect((await get(path, 'Bearer nonsense')).status, path).toBe(401);
    }
  });

  it('shows the cloud to who may list clouds, and config to who may list Secrets', async () => {
    // A verdict is kept for half a minute, so rights come before the first question.
    const refused = await get('/api/overview', bearer('viewer'));
    expect(refused.status).toBe(403);
    expect(await refused.json()).toEqual({
      message: 'viewer may not list openstackcontrolplanes.openstack.k8s.io in all namespaces',
    });
    const basic = `Basic ${Buffer.from(`me:${cluster.server.token('admin')}`).toString('base64')}`;
    const overview = (await (await get('/api/overview', basic)).json()) as { clouds: unknown[]; notes: string[] };
    expect(overview.clouds).toMatchObject([{ name: 'slice', state: 'ready', ready: 4 }]);
    expect(overview.notes.join()).toContain('no permission to list events.events.k8s.io');
    const config = await get(settings, bearer('admin'));
    expect(config.status).toBe(200);
    expect(await config.text()).toContain('"section":"database","key":"connection","values":["(secret)"]');
    expect((await get(settings, bearer('viewer'))).status).toBe(403);
  });

  it('gives the rights of the user their effect when the old verdict is forgotten', async () => {
    await role('clouds', 'openstack.k8s.io', 'openstackcontrolplanes');
    await bind('clouds', 'viewer');
    await cluster.until(async () => (await get('/api/overview', bearer('viewer'))).status === 200, 'the verdict', 60);
    expect((await get(settings, bearer('viewer'))).status).toBe(403);
  });
});
