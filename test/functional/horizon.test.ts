import { describe, expect, it } from 'vitest';
import { Horizon } from '../../api/openstack/horizon.ts';
import { Deployment } from '../../src/kube/resource.ts';
import { cloudWith, host, objectOf, readyCloud, removeCloud, secret, template, text, watchStarts } from './services.ts';

const on = (spec: object = {}) => ({ horizon: { enabled: true, ...spec } });
const settings = 'local_settings.py';

describe('Horizon', () => {
  it('comes after Keystone, keeps sessions in memcached and makes its static files itself', async () => {
    const { starts, wrap } = watchStarts();
    const cloud = await readyCloud(on(), undefined, { wrap });
    expect(starts.get('deployments horizon')).toContain('Keystone');
    const written = text(cloud, 'horizon-config-data', settings);
    expect(written).toContain(`OPENSTACK_KEYSTONE_URL = "http://${host('keystone-api')}:5000/v3"\n`);
    expect(written).toContain(`"LOCATION": ("memcached-0.${host('memcached')}:11211",)`);
    expect(written).toContain(`SECRET_KEY = "${text(cloud, 'horizon-secret-key', 'secret-key')}"\n`);
    expect(written).toContain(`ALLOWED_HOSTS = ("${host('horizon')}", "localhost",)\n`);
    expect(text(cloud, 'horizon-config-data', 'uwsgi.ini')).toMatch(/exec-asap = .*collectstatic.*compress/);
    expect(JSON.stringify(template(cloud, Deployment, 'horizon'))).toContain('"name":"Host","value":"localhost"');
    expect(cloud.get(Horizon, 'horizon')?.status).toMatchObject({
      endpoints: { public: `http://${host('horizon')}:8080` },
    });
  });

  it('trusts the address that users come by, and reads text of its own language', async () => {
    const cloud = await readyCloud(on());
    const key = text(cloud, 'horizon-secret-key', 'secret-key');
    cloud.apply(secret('more', { 'b.py': 'TIME_ZONE = "UTC"\n' }));
    const own = { customServiceConfig: 'SITE_BRANDING = "Cloud [1]"\n', customServiceConfigSecrets: ['more'] };
    cloud.apply(cloudWith(on({ publicURL: 'https://dashboard.example.org', ...own })));
    await cloud.settle();
    const written = text(cloud, 'horizon-config-data', settings);
    expect(written).toContain('CSRF_TRUSTED_ORIGINS = ("https://dashboard.example.org",)\n');
    expect(written).toContain('"dashboard.example.org"');
    expect(written).toMatch(/SITE_BRANDING = "Cloud \[1\]"\n\nTIME_ZONE = "UTC"\n$/);
    expect(text(cloud, 'horizon-secret-key', 'secret-key')).toBe(key);
    expect(cloud.condition(Horizon, 'horizon')?.status).toBe('True');
  });

  it('stands on a Keystone, a key and a cache that are not ours', async () => {
    const cloud = await readyCloud();
    cloud.apply(
      secret('user', { url: 'http://keystone.example.org:5000' }),
      objectOf(Horizon, 'mine', { keystoneSecret: 'user', memcachedServers: [], secret: 'key' }),
    );
    await cloud.settle();
    expect(cloud.condition(Horizon, 'mine', 'InputReady')).toMatchObject({ reason: 'SecretNotFound' });
    cloud.apply(secret('key', { 'secret-key': 'x'.repeat(40) }));
    await cloud.ready(Horizon, 'mine');
    const written = text(cloud, 'mine-config-data', settings);
    expect(written).toContain('OPENSTACK_KEYSTONE_URL = "http://keystone.example.org:5000/v3"');
    expect(written).toContain('signed_cookies');
  });

  it('leaves nothing', async () => {
    const cloud = await readyCloud({ ...on(), deletionPolicy: 'Delete' });
    removeCloud(cloud);
    await cloud.settle();
    expect(cloud.left()).toEqual([]);
  });
});
