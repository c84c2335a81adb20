import { describe, expect, it } from 'vitest';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { Heat } from '../../api/openstack/heat.ts';
import { Deployment, Job, StatefulSet } from '../../src/kube/resource.ts';
import { NS } from './cloud.ts';
import {
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

const on = (spec: object = {}) => ({ heat: { enabled: true, ...spec } });
const conf = '01-heat.conf';

describe('Heat', () => {
  it('has three kinds of pods, two lines in the catalog and a domain with a keeper', async () => {
    const { starts, wrap } = watchStarts();
    const cloud = await readyCloud(on({ engineServiceTemplate: { replicas: 2 } }), undefined, { wrap });
    expect(starts.get('deployments heat-api')).toEqual(expect.arrayContaining(['MariaDB', 'RabbitMQ', 'Keystone']));
    expect(cloud.get(Deployment, 'heat-cfn')).toBeDefined();
    expect(cloud.get(StatefulSet, 'heat-engine')?.spec).toMatchObject({ replicas: 2 });
    const urls = (type: string) =>
      keystoneOf(cloud)
        .services.find(s => s.type === type)
        ?.endpoints.map(e => e.url);
    expect(urls('orchestration')?.[0]).toBe(`http://${host('heat-api')}:8004/v1/%(project_id)s`);
    expect(urls('cloudformation')?.[0]).toBe(`http://${host('heat-cfn')}:8000/v1`);
    expect(keystoneOf(cloud).roles).toContain('heat_stack_user');
    const keeper = passwordIn(cloud, 'heat-stack-domain');
    expect(keystoneOf(cloud).domains?.heat?.users).toEqual({ heat_domain_admin: keeper });
    const written = text(cloud, 'heat-config-data', conf);
    expect(written).toContain(`stack_domain_admin_password = ${keeper}\n`);
    expect(written).toContain(`auth_encryption_key = ${text(cloud, 'heat-encryption-key', 'auth_encryption_key')}\n`);
    expect(written).toContain(`heat_waitcondition_server_url = http://${host('heat-cfn')}:8000/v1/waitcondition\n`);
    expect(text(cloud, 'heat-config-data', 'uwsgi-cfn.ini')).toContain('heat.wsgi.cfn:application');
    expect(sqlOf(cloud).databases.heat?.schemas).toEqual(['heat']);
  });

  it('repairs what was changed in Keystone, and tells servers another address when asked', async () => {
    const cloud = await readyCloud(on());
    delete keystoneOf(cloud).domains?.heat;
    // What Keystone said it has is believed for a minute.
    await cloud.sim.run(60_000);
    const jobs = cloud.hands.list(Job, NS).length;
    cloud.apply(cloudWith(on({ cfnPublicURL: 'https://cfn.example.org' })));
    await cloud.settle();
    expect(keystoneOf(cloud).domains?.heat).toBeDefined();
    expect(text(cloud, 'heat-config-data', conf)).toContain('heat_metadata_server_url = https://cfn.example.org\n');
    const cfn = keystoneOf(cloud).services.find(s => s.type === 'cloudformation');
    expect(cfn?.endpoints.find(e => e.interface === 'public')?.url).toBe('https://cfn.example.org/v1');
    expect(cloud.hands.list(Job, NS)).toHaveLength(jobs);
  });

  it('rolls only the engine when only the engine is edited', async () => {
    const cloud = await readyCloud(on());
    const [api, engine] = [template(cloud, Deployment, 'heat-api'), template(cloud, StatefulSet, 'heat-engine')];
    const own = { customServiceConfig: '[DEFAULT]\nmax_stacks_per_tenant = 5\n' };
    cloud.apply(cloudWith(on({ engineServiceTemplate: own })));
    await cloud.settle();
    expect(template(cloud, StatefulSet, 'heat-engine')).not.toEqual(engine);
    expect(template(cloud, Deployment, 'heat-api')).toEqual(api);
  });

  it('keeps the key and the domain with the stacks under Retain, and finds both again', async () => {
    const cloud = await readyCloud(on());
    const key = text(cloud, 'heat-encryption-key', 'auth_encryption_key');
    cloud.hands.remove(Heat, NS, 'heat');
    cloud.apply(cloudWith({ heat: { enabled: false } }));
    await cloud.settle();
    expect(cloud.left().filter(line => line.includes('heat'))).toEqual([
      'Secret heat-encryption-key',
      'Secret heat-trustee',
    ]);
    expect(keystoneOf(cloud).domains?.heat).toBeDefined();
    expect(keystoneOf(cloud).services.map(s => s.type)).toEqual(['identity']);
    cloud.apply(cloudWith(on()));
    await cloud.ready(Heat, 'heat');
    expect(text(cloud, 'heat-encryption-key', 'auth_encryption_key')).toBe(key);
  });

  it('leaves nothing under Delete', async () => {
    const cloud = await readyCloud({ ...on(), deletionPolicy: 'Delete' });
    // The cloud stays, and with it its Keystone: what is left there must have been taken back.
    cloud.hands.patch(OpenStackControlPlane, NS, 'slice', {
      metadata: { annotations: { 'openstack.k8s.io/paused': 'true' } },
    });
    cloud.hands.remove(Heat, NS, 'heat');
    await cloud.settle();
    expect(keystoneOf(cloud).domains).toEqual({});
    cloud.hands.patch(OpenStackControlPlane, NS, 'slice', {
      metadata: { annotations: { 'openstack.k8s.io/paused': null } },
    });
    removeCloud(cloud);
    await cloud.settle();
    expect(cloud.left()).toEqual([]);
  });

  it('says what it needs of a Keystone that is not ours, and which key can not work', async () => {
    const cloud = await readyCloud();
    const admin = { user: 'admin', password: passwordIn(cloud, 'keystone-admin'), project: 'admin', region: 'R' };
    const spec = { keystoneSecret: 'user', encryptionKeySecret: 'key' };
    cloud.apply(
      secret('user', { url: `http://${host('keystone-api')}:5000`, ...admin }),
      secret('key', { auth_encryption_key: 'short' }),
      secret('keeper', { user: 'keeper', password: 'Keeper0Password' }),
      objectOf(Heat, 'mine', spec),
    );
    await cloud.settle();
    expect(cloud.condition(Heat, 'mine', 'InputReady')).toMatchObject({
      reason: 'SecretInvalid',
      message: expect.stringContaining('Secret key, key auth_encryption_key has 5 characters'),
    });
    cloud.apply(secret('key', { auth_encryption_key: 'k'.repeat(32) }));
    await cloud.settle();
    expect(cloud.condition(Heat, 'mine', 'InputReady')).toMatchObject({
      reason: 'FieldMissing',
      message: expect.stringContaining('spec.stackDomainAdminSecret is not'),
    });
    cloud.apply(objectOf(Heat, 'mine', { ...spec, stackDomainAdminSecret: 'keeper' }));
    await cloud.ready(Heat, 'mine');
    expect(text(cloud, 'mine-config-data', conf)).toContain('stack_domain_admin = keeper\n');
  });
});
