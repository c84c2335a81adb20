import { describe, expect, it } from 'vitest';
import { Glance } from '../../api/openstack/glance.ts';
import { Keystone } from '../../api/openstack/keystone.ts';
import { Ingress } from '../../src/kube/resource.ts';
import type { Cloud } from './cloud.ts';
import { cloudWith, ingressClass, keystoneOf, objectOf, readyCloud, removeCloud, secret, text } from './services.ts';

const parts = { glance: { enabled: true }, heat: { enabled: true }, horizon: { enabled: true } };
const open = (more: object = {}) => ({ publicDomain: 'cloud.example.org', ...parts, ...more });
const urlsOf = (cloud: Cloud) =>
  Object.fromEntries(
    keystoneOf(cloud).services.map(s => [s.type, s.endpoints.find(e => e.interface === 'public')?.url]),
  );

describe('exposure', () => {
  it('publishes every API under the domain, and the catalog follows there and back', async () => {
    const cloud = await readyCloud(open(), c => c.hands.apply(ingressClass('haproxy')));
    expect(urlsOf(cloud)).toEqual({
      identity: 'http://keystone.cloud.example.org',
      image: 'http://glance.cloud.example.org',
      orchestration: 'http://heat.cloud.example.org/v1/%(project_id)s',
      cloudformation: 'http://heat-cfn.cloud.example.org/v1',
    });
    expect(cloud.get(Ingress, 'glance-api')).toMatchObject({
      metadata: { annotations: { 'haproxy-ingress.github.io/proxy-body-size': 'unlimited' } },
      spec: {
        ingressClassName: 'haproxy',
        rules: [
          {
            host: 'glance.cloud.example.org',
            http: { paths: [{ path: '/', backend: { service: { name: 'glance-api', port: { name: 'api' } } } }] },
          },
        ],
      },
    });
    expect(cloud.get(Ingress, 'heat-cfn')).toBeDefined();
    expect(text(cloud, 'horizon-config-data', 'local_settings.py')).toContain('"horizon.cloud.example.org"');
    expect(text(cloud, 'openstack-clouds', 'clouds.yaml')).toContain('http://keystone.cloud.example.org');
    cloud.apply(cloudWith(parts));
    await cloud.settle();
    expect(cloud.hands.list(Ingress, 'openstack')).toEqual([]);
    expect(urlsOf(cloud).image).toMatch(/^http:\/\/glance-api\.openstack\.svc/);
  }, 60_000);

  it('a section says otherwise, and nothing is left when the cloud goes', async () => {
    const own = { glance: { enabled: true, ingress: { hostname: 'images.example.org', annotations: { a: 'b' } } } };
    const spec = { publicDomain: 'cloud.example.org', ...own, deletionPolicy: 'Delete' };
    const cloud = await readyCloud(spec, c => c.hands.apply(ingressClass('haproxy')));
    expect(urlsOf(cloud).image).toBe('http://images.example.org');
    expect(cloud.get(Ingress, 'glance-api')?.metadata.annotations).toMatchObject({ a: 'b' });
    removeCloud(cloud);
    await cloud.settle();
    expect(cloud.left()).toEqual([]);
  });

  it('waits for a class and for a certificate, and names them', async () => {
    const cloud = await readyCloud();
    cloud.apply(cloudWith({ publicDomain: 'cloud.example.org' }));
    await cloud.settle();
    const told = () => cloud.condition(Keystone, 'keystone', 'ExposeReady');
    expect(told()).toMatchObject({
      reason: 'IngressClassNotFound',
      message: expect.stringContaining('IngressClass haproxy, named in spec.ingress.className, does not exist'),
    });
    cloud.hands.apply(ingressClass('haproxy'));
    const tls = { enabled: true, issuerRef: { name: 'ours', kind: 'ClusterIssuer' } };
    cloud.apply(cloudWith({ publicDomain: 'cloud.example.org', tls }));
    await cloud.settle();
    expect(told()).toMatchObject({
      reason: 'SecretNotFound',
      message: expect.stringContaining('cert-manager makes it by ClusterIssuer ours'),
    });
    expect(cloud.get(Ingress, 'keystone-api')).toMatchObject({
      metadata: { annotations: { 'cert-manager.io/cluster-issuer': 'ours' } },
      spec: { tls: [{ hosts: ['keystone.cloud.example.org'], secretName: 'keystone-api-public-tls' }] },
    });
    cloud.apply(secret('keystone-api-public-tls', { 'tls.crt': 'c', 'tls.key': 'k' }));
    await cloud.ready(Keystone, 'keystone');
    expect(urlsOf(cloud).identity).toBe('https://keystone.cloud.example.org');
  });

  it('refuses a Gateway in words', async () => {
    const cloud = await readyCloud();
    cloud.apply(objectOf(Glance, 'g', { ingress: { hostname: 'g.example.org', gatewayRef: { name: 'gw' } } }));
    await cloud.settle();
    expect(cloud.condition(Glance, 'g', 'ExposeReady')).toMatchObject({ reason: 'NotSupported' });
  });
});
