import { describe, expect, it } from 'vitest';
import { Placement } from '../../api/openstack/placement.ts';
import { Deployment, Job } from '../../src/kube/resource.ts';
import { NS } from './cloud.ts';
import {
  adminLogin,
  cloudWith,
  host,
  keystoneOf,
  objectOf,
  passwordIn,
  readyCloud,
  removeCloud,
  secret,
  sqlOf,
  template,
  text,
  watchStarts,
} from './services.ts';

describe('Placement', () => {
  it('comes with the cloud, not before what it stands on, and answers', async () => {
    const { starts, wrap } = watchStarts();
    const cloud = await readyCloud({ placement: { enabled: true } }, undefined, { wrap });
    expect(starts.get('deployments placement-api')).toEqual(expect.arrayContaining(['MariaDB', 'Keystone']));
    const url = 'http://placement-api.openstack.svc.cluster.local:8778';
    expect(
      keystoneOf(cloud)
        .services.find(s => s.type === 'placement')
        ?.endpoints.map(e => e.url),
    ).toEqual([url, url]);
    expect(sqlOf(cloud).databases.placement?.schemas).toEqual(['placement']);
    expect(text(cloud, 'placement-config-data', '01-placement.conf')).toMatch(
      /\[placement_database\]\nconnection = mysql\+pymysql:\/\/openstack-placement:/,
    );
  });

  it('rolls nothing but its own pods when it is edited, and runs no Job again', async () => {
    const cloud = await readyCloud({ placement: { enabled: true } });
    const [keystone, own] = [template(cloud, Deployment, 'keystone-api'), template(cloud, Deployment, 'placement-api')];
    const jobs = cloud.hands.list(Job, NS).map(job => job.metadata.name);
    cloud.apply(cloudWith({ placement: { enabled: true, customServiceConfig: '[DEFAULT]\ndebug = true\n' } }));
    await cloud.settle();
    expect(template(cloud, Deployment, 'placement-api')).not.toEqual(own);
    expect(template(cloud, Deployment, 'keystone-api')).toEqual(keystone);
    expect(cloud.hands.list(Job, NS).map(job => job.metadata.name)).toEqual(jobs);
    expect(cloud.condition(Placement, 'placement')?.status).toBe('True');
  });

  it('leaves nothing when the cloud is deleted under Delete', async () => {
    const cloud = await readyCloud({ deletionPolicy: 'Delete', placement: { enabled: true } });
    removeCloud(cloud);
    await cloud.settle();
    expect(cloud.left()).toEqual([]);
  });

  it('stands on hand-made Secrets alone', async () => {
    const cloud = await readyCloud();
    sqlOf(cloud).databases.inventory = { schemas: [] };
    cloud.apply(
      secret('db', {
        hostname: host('mariadb'),
        user: 'root',
        password: passwordIn(cloud, 'mariadb-root'),
        database: 'inventory',
      }),
      secret('user', adminLogin(cloud)),
      objectOf(Placement, 'mine', { databaseSecret: 'db', keystoneSecret: 'user', memcachedServers: ['cache:11211'] }),
    );
    await cloud.ready(Placement, 'mine');
    expect(sqlOf(cloud).databases.inventory?.schemas).toEqual(['placement']);
    // Whoever brings a user of Keystone keeps the catalog too.
    expect(keystoneOf(cloud).services.map(s => s.type)).toEqual(['identity']);
  });

  it('refuses to replace a file that nobody reads', async () => {
    const cloud = await readyCloud({ placement: { enabled: true } });
    const own = template(cloud, Deployment, 'placement-api');
    cloud.apply(cloudWith({ placement: { enabled: true, defaultConfigOverwrite: { 'polcy.yaml': '' } } }));
    await cloud.settle();
    expect(cloud.condition(Placement, 'placement', 'ConfigValid')).toMatchObject({
      status: 'False',
      reason: 'FileNotAllowed',
      message: expect.stringContaining('use one of policy.yaml'),
    });
    expect(template(cloud, Deployment, 'placement-api')).toEqual(own);
    cloud.apply(cloudWith({ placement: { enabled: true, defaultConfigOverwrite: { 'policy.yaml': 'a: b\n' } } }));
    await cloud.settle();
    expect(text(cloud, 'placement-config-data', 'policy.yaml')).toBe('a: b\n');
    expect(text(cloud, 'placement-config-data', 'placement-api.config.json')).toContain('/etc/placement/policy.yaml');
  });
});
