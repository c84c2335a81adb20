import { describe, expect, it } from 'vitest';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { Glance } from '../../api/openstack/glance.ts';
import { Keystone } from '../../api/openstack/keystone.ts';
import { BackendTLSPolicy, Certificate, HTTPRoute, Ingress } from '../../src/kube/resource.ts';
import {
  authority,
  CERT_MANAGER,
  certificateSecret,
  certManager,
  GATEWAY,
  gateway,
  installForeign,
  issuer,
} from './certificates.ts';
import type { Cloud } from './cloud.ts';
import { cloudWith, host, ingressClass, keystoneOf, objectOf, readyCloud, removeCloud, text } from './services.ts';

const root = authority('root');
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

  it('waits for a class, for cert-manager, its issuer and its certificates, and names them', async () => {
    const cloud = await readyCloud({}, () => {}, certManager(root));
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
    const own = () => cloud.condition(Keystone, 'keystone', 'CertificateReady');
    expect(own()).toMatchObject({
      reason: 'CertManagerNotFound',
      message: expect.stringContaining('CustomResourceDefinition certificates.cert-manager.io does not exist'),
    });
    installForeign(cloud, ...CERT_MANAGER);
    await cloud.settle();
    expect(own()).toMatchObject({
      reason: 'IssuerNotFound',
      message: expect.stringContaining('ClusterIssuer ours, named in spec.tls.issuerRef, does not exist'),
    });
    cloud.hands.apply(issuer('ClusterIssuer', 'ours'));
    await cloud.ready(OpenStackControlPlane, 'slice');
    expect(cloud.get(Ingress, 'keystone-api')).toMatchObject({
      metadata: {
        annotations: {
          'cert-manager.io/cluster-issuer': 'ours',
          'haproxy-ingress.github.io/backend-protocol': 'h1-ssl',
          'haproxy-ingress.github.io/secure-verify-ca-secret': 'keystone-tls',
        },
      },
      spec: { tls: [{ hosts: ['keystone.cloud.example.org'], secretName: 'keystone-api-public-tls' }] },
    });
    expect(cloud.get(Certificate, 'keystone-certificate')?.spec).toMatchObject({
      secretName: 'keystone-certificate',
      dnsNames: [host('keystone-api'), 'keystone-api.openstack.svc', 'keystone-api.openstack'],
      issuerRef: { name: 'ours', kind: 'ClusterIssuer', group: 'cert-manager.io' },
      privateKey: { rotationPolicy: 'Always' },
    });
    expect(urlsOf(cloud).identity).toBe('https://keystone.cloud.example.org');
  });

  it('ends TLS with a Secret of yours, if it has the name', async () => {
    const cloud = await readyCloud({}, c => c.hands.apply(ingressClass('haproxy')));
    const spec = (more: object) => ({ ingress: { hostname: 'g.cloud.example.org' }, tls: more });
    cloud.apply(objectOf(Glance, 'g', spec({ publicSecretName: 'mine' })));
    await cloud.settle();
    const told = () => cloud.condition(Glance, 'g', 'ExposeReady');
    expect(told()).toMatchObject({
      reason: 'SecretNotFound',
      message: expect.stringContaining('Secret mine, named in spec.tls.publicSecretName, does not exist'),
    });
    cloud.apply(certificateSecret('mine', root, { names: ['h.cloud.example.org'] }));
    await cloud.settle();
    expect(told()).toMatchObject({
      reason: 'CertificateInvalid',
      message: expect.stringContaining('tls.crt is not for g.cloud.example.org'),
    });
    cloud.apply(certificateSecret('mine', root));
    await cloud.ready(Glance, 'g');
    expect(urlsOf(cloud).image).toBe('https://g.cloud.example.org');
  });

  it('attaches a route to a Gateway, waits for what is missing by name, and verifies behind it', async () => {
    const cloud = await readyCloud({}, c => c.apply(certificateSecret('cert', root)));
    const ingress = { hostname: 'g.example.org', gatewayRef: { name: 'gw', sectionName: 'https' } };
    const tls = { enabled: true, secretName: 'cert' };
    cloud.apply(objectOf(Glance, 'g', { ingress, tls }));
    await cloud.settle();
    const told = () => cloud.condition(Glance, 'g', 'ExposeReady');
    expect(told()).toMatchObject({
      reason: 'GatewayAPINotFound',
      message: expect.stringContaining('CustomResourceDefinition httproutes.gateway.networking.k8s.io does not exist'),
    });
    installForeign(cloud, ...GATEWAY);
    await cloud.settle();
    expect(told()).toMatchObject({
      reason: 'GatewayNotFound',
      message: expect.stringContaining('Gateway gw, named in'),
    });
    cloud.apply(gateway('gw'));
    await cloud.ready(Glance, 'g');
    expect(cloud.get(HTTPRoute, 'g-api')?.spec).toMatchObject({
      parentRefs: [{ kind: 'Gateway', name: 'gw', sectionName: 'https' }],
      hostnames: ['g.example.org'],
      rules: [{ backendRefs: [{ kind: 'Service', name: 'g-api', port: 9292 }] }],
    });
    expect(cloud.get(BackendTLSPolicy, 'g-api')?.spec).toMatchObject({
      validation: { hostname: host('g-api'), caCertificateRefs: [{ kind: 'ConfigMap', name: 'g-api-ca' }] },
    });
    expect(urlsOf(cloud).image).toBe('https://g.example.org');
    const answered = (status: string) => ({
      status: { parents: [{ conditions: [{ type: 'Accepted', status, message: 'no listener for it' }] }] },
    });
    cloud.hands.patch(HTTPRoute, 'openstack', 'g-api', answered('False'));
    await cloud.settle();
    expect(told()).toMatchObject({ reason: 'RouteRefused', message: expect.stringContaining('no listener for it') });
    cloud.hands.patch(HTTPRoute, 'openstack', 'g-api', answered('True'));
    await cloud.ready(Glance, 'g');
    cloud.hands.patch(Glance, 'openstack', 'g', { spec: { ingress: null } });
    await cloud.settle();
    expect(cloud.hands.list(HTTPRoute, 'openstack')).toEqual([]);
  });
});
