import { describe, expect, it } from 'vitest';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { Glance } from '../../api/openstack/glance.ts';
import { Horizon } from '../../api/openstack/horizon.ts';
import { Keystone } from '../../api/openstack/keystone.ts';
import {
  BackendTLSPolicy,
  Certificate,
  Deployment,
  HTTPRoute,
  Ingress,
  Node,
  Secret,
} from '../../src/kube/resource.ts';
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
import {
  cloudWith,
  host,
  ingressClass,
  keystoneOf,
  label,
  objectOf,
  readyCloud,
  removeCloud,
  template,
  text,
} from './services.ts';

const root = authority('root');
const parts = { glance: { enabled: true }, heat: { enabled: true }, horizon: { enabled: true } };
const open = (more: object = {}) => ({ publicDomain: 'cloud.example.org', ...parts, ...more });
const urlsOf = (cloud: Cloud, side = 'public') =>
  Object.fromEntries(keystoneOf(cloud).services.map(s => [s.type, s.endpoints.find(e => e.interface === side)?.url]));

interface IngressSpec {
  readonly rules: readonly { readonly host: string; readonly http: { readonly paths: readonly { path: string }[] } }[];
  readonly tls?: readonly { readonly secretName: string }[];
}
/** Host and path by Ingress. */
const placesOf = (cloud: Cloud) =>
  Object.fromEntries(
    cloud.hands.list(Ingress, 'openstack').map(({ metadata, spec }) => {
      const [rule] = (spec as IngressSpec).rules;
      return [metadata.name, `${rule?.host}${rule?.http.paths.map(({ path }) => path).join(' ')}`];
    }),
  );
/** Without copies of config: some older ones are kept for pods that are still to go. */
const secretsOf = (cloud: Cloud) =>
  cloud.hands
    .list(Secret, 'openstack')
    .map(({ metadata }) => metadata.name)
    .filter(name => !/-config-data-[0-9a-f]{10}$/.test(name))
    .sort();

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

  it('puts all APIs under one host when told, and back; what needs the root of a host keeps a name of its own', async () => {
    const everything = {
      ...parts,
      ...Object.fromEntries(['placement', 'ovn', 'neutron', 'nova'].map(name => [name, { enabled: true }])),
      cinder: { enabled: true, backends: [{ name: 'files', type: 'nfs', shares: ['nas:/v'] }] },
      publicDomain: 'cloud.example.org',
    };
    const cloud = await readyCloud(everything, c => {
      c.hands.apply(ingressClass('haproxy'));
      const [node] = c.hands.list(Node, '');
      label(c, node!.metadata.name, { 'openstack.k8s.io/compute': '', 'openstack.k8s.io/gateway': '' });
    });
    const consoles = 'novncproxy_base_url = http://nova-cell1-novncproxy.cloud.example.org/vnc_lite.html\n';
    for (const secret of ['nova-cell1-libvirt-config-data', 'nova-cell1-compute-config'])
      expect(text(cloud, secret, '01-nova.conf'), secret).toContain(consoles);
    expect(cloud.get(Ingress, 'nova-cell1-novncproxy')?.spec).toMatchObject({
      rules: [
        { http: { paths: [{ backend: { service: { name: 'nova-cell1-novncproxy', port: { name: 'console' } } } }] } },
      ],
    });
    const named = { urls: urlsOf(cloud), places: placesOf(cloud), secrets: secretsOf(cloud) };
    const inside = urlsOf(cloud, 'internal');
    const plain = template(cloud, Deployment, 'placement-api');
    cloud.apply(cloudWith({ ...everything, ingress: { routing: 'path' } }));
    await cloud.settle();
    await cloud.ready(OpenStackControlPlane, 'slice');
    const at = 'http://cloud.example.org';
    expect(urlsOf(cloud)).toEqual({
      identity: `${at}/identity`,
      image: `${at}/image`,
      placement: `${at}/placement`,
      network: `${at}/network`,
      compute: `${at}/compute/v2.1`,
      'block-storage': `${at}/volume/v3`,
      volumev3: `${at}/volume/v3`,
      orchestration: `${at}/orchestration/v1/%(project_id)s`,
      cloudformation: `${at}/cloudformation/v1`,
    });
    expect(urlsOf(cloud, 'internal')).toEqual(inside);
    expect(placesOf(cloud)).toEqual({
      'cinder-api': 'cloud.example.org/volume',
      'glance-api': 'cloud.example.org/image',
      'heat-api': 'cloud.example.org/orchestration',
      'heat-cfn': 'cloud.example.org/cloudformation',
      horizon: 'horizon.cloud.example.org/',
      'keystone-api': 'cloud.example.org/identity',
      'neutron-api': 'cloud.example.org/network',
      'nova-api': 'cloud.example.org/compute',
      'nova-cell1-novncproxy': 'nova-cell1-novncproxy.cloud.example.org/',
      'placement-api': 'cloud.example.org/placement',
    });
    // The APIs themselves know their paths, and only where they have one.
    const wrappers = {
      'keystone-config-data': 'identity',
      'glance-config-data': 'image',
      'nova-api-config-data': 'compute',
    };
    for (const [secret, word] of Object.entries(wrappers)) {
      expect(text(cloud, secret, 'uwsgi.py'), secret).toContain(`UNDER = "/${word}"\n`);
      expect(text(cloud, secret, 'uwsgi.ini'), secret).toMatch(/^wsgi-file = \/etc\/uwsgi\/\w+\.py$/m);
      expect(text(cloud, secret, 'uwsgi.ini'), secret).not.toMatch(/^module = /m);
    }
    expect(text(cloud, 'heat-config-data', 'uwsgi-cfn.py')).toMatch(
      /^from heat\.wsgi\.cfn import application as api$/m,
    );
    expect(text(cloud, 'heat-config-data', 'uwsgi-cfn.py')).toContain('UNDER = "/cloudformation"\n');
    expect(text(cloud, 'horizon-config-data', 'uwsgi.ini')).toMatch(/^module = openstack_dashboard/m);
    expect(text(cloud, 'horizon-config-data', 'local_settings.py')).toContain('"horizon.cloud.example.org"');
    expect(text(cloud, 'heat-config-data', '01-heat.conf')).toContain(
      `heat_waitcondition_server_url = ${at}/cloudformation/v1/waitcondition\n`,
    );
    expect(text(cloud, 'openstack-clouds', 'clouds.yaml')).toContain(`auth_url: ${at}/identity\n`);
    expect(template(cloud, Deployment, 'placement-api')).not.toEqual(plain);
    cloud.apply(cloudWith(everything));
    await cloud.settle();
    expect({ urls: urlsOf(cloud), places: placesOf(cloud), secrets: secretsOf(cloud) }).toEqual(named);
    expect(template(cloud, Deployment, 'placement-api')).toEqual(plain);
    expect(text(cloud, 'keystone-config-data', 'uwsgi.py')).toBe('');
  }, 240_000);

  it('has one certificate for the one host, and one more for each name beside it', async () => {
    const tls = { enabled: true, issuerRef: { name: 'ours', kind: 'ClusterIssuer' } };
    const under = (more: object = {}) => open({ tls, ingress: { routing: 'path' }, ...more });
    const prepare = (c: Cloud) => {
      c.hands.apply(ingressClass('haproxy'));
      installForeign(c, ...CERT_MANAGER);
      c.hands.apply(issuer('ClusterIssuer', 'ours'));
    };
    const cloud = await readyCloud(under(), prepare, certManager(root));
    expect(cloud.get(Certificate, 'openstack-public-tls')?.spec).toMatchObject({
      secretName: 'openstack-public-tls',
      dnsNames: ['cloud.example.org'],
      issuerRef: { name: 'ours', kind: 'ClusterIssuer', group: 'cert-manager.io' },
    });
    const shownBy = () =>
      Object.fromEntries(
        cloud.hands.list(Ingress, 'openstack').map(({ metadata, spec }) => {
          const asks = 'cert-manager.io/cluster-issuer' in (metadata.annotations ?? {});
          return [metadata.name, [(spec as IngressSpec).tls?.[0]?.secretName, asks]];
        }),
      );
    const shared = ['openstack-public-tls', false];
    const own = ['horizon-public-tls', true];
    const all = { 'glance-api': shared, 'heat-api': shared, 'heat-cfn': shared, 'keystone-api': shared };
    expect(shownBy()).toEqual({ ...all, horizon: own });
    expect(urlsOf(cloud)).toMatchObject({
      identity: 'https://cloud.example.org/identity',
      cloudformation: 'https://cloud.example.org/cloudformation/v1',
    });
    // Glance's router ends TLS, Keystone's own socket does; both load the wrapper.
    const lines = (secret: string) =>
      text(cloud, secret, 'uwsgi.ini')
        .split('\n')
        .map(line => line.split(',')[0]);
    expect(lines('glance-config-data')).toEqual(
      expect.arrayContaining(['https = 0.0.0.0:9292', 'wsgi-file = /etc/uwsgi/glance.py']),
    );
    expect(lines('keystone-config-data')).toEqual(
      expect.arrayContaining(['https-socket = 0.0.0.0:5000', 'wsgi-file = /etc/uwsgi/keystone.py']),
    );
    // A section says otherwise.
    const glance = (ingress: object, more: object = {}) => under({ glance: { enabled: true, ingress, ...more } });
    cloud.apply(cloudWith(glance({ path: '/pictures/' })));
    await cloud.settle();
    expect(urlsOf(cloud).image).toBe('https://cloud.example.org/pictures');
    expect(placesOf(cloud)['glance-api']).toBe('cloud.example.org/pictures');
    expect(text(cloud, 'glance-config-data', 'uwsgi.py')).toContain('UNDER = "/pictures"\n');
    cloud.apply(cloudWith(glance({ hostname: 'images.cloud.example.org' })));
    await cloud.settle();
    expect(placesOf(cloud)['glance-api']).toBe('images.cloud.example.org/');
    expect(shownBy()).toEqual({ ...all, 'glance-api': ['glance-api-public-tls', true], horizon: own });
    cloud.apply(certificateSecret('mine', root, { names: ['cloud.example.org'] }));
    cloud.apply(cloudWith(glance({}, { tls: { publicSecretName: 'mine' } })));
    await cloud.settle();
    expect(shownBy()).toMatchObject({ 'glance-api': ['mine', false], 'keystone-api': shared });
    cloud.apply(cloudWith(open({ tls })));
    await cloud.settle();
    expect(cloud.get(Certificate, 'openstack-public-tls')).toBeUndefined();
    expect(shownBy()['glance-api']).toEqual(['glance-api-public-tls', true]);
  }, 120_000);

  it('says at the control plane what the certificate of the one host waits for', async () => {
    const cloud = await readyCloud({}, c => c.hands.apply(ingressClass('haproxy')), certManager(root));
    installForeign(cloud, ...CERT_MANAGER);
    const tls = { enabled: true, issuerRef: { name: 'ours' } };
    cloud.apply(cloudWith({ publicDomain: 'cloud.example.org', ingress: { routing: 'path' }, tls }));
    await cloud.settle();
    expect(cloud.condition(OpenStackControlPlane, 'slice', 'PublicCertificateReady')).toMatchObject({
      reason: 'IssuerNotFound',
      message: expect.stringContaining('Issuer ours, named in spec.tls.issuerRef, does not exist'),
    });
    cloud.hands.apply(issuer('Issuer', 'ours'));
    await cloud.ready(OpenStackControlPlane, 'slice');
    expect(urlsOf(cloud).identity).toBe('https://cloud.example.org/identity');
  });

  it('refuses a path for what only knows the root of a host', async () => {
    const cloud = await readyCloud({}, c => c.hands.apply(ingressClass('haproxy')));
    const horizon = (ingress: object) => objectOf(Horizon, 'h', { ingress: { hostname: 'h.example.org', ...ingress } });
    cloud.apply(horizon({ path: '/dashboard' }));
    await cloud.settle();
    expect(cloud.condition(Horizon, 'h', 'ExposeReady')).toMatchObject({
      reason: 'NotSupported',
      message: expect.stringContaining('spec.ingress.path is /dashboard, and horizon works at the root of a host only'),
    });
    expect(cloud.get(Ingress, 'h-horizon')).toBeUndefined();
    cloud.apply(horizon({ path: '/' }));
    await cloud.ready(Horizon, 'h');
    expect(placesOf(cloud)['h-horizon']).toBe('h.example.org/');
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
    cloud.hands.patch(Glance, 'openstack', 'g', { spec: { ingress: { path: '/image' } } });
    await cloud.settle();
    expect(cloud.get(HTTPRoute, 'g-api')?.spec).toMatchObject({
      rules: [{ matches: [{ path: { type: 'PathPrefix', value: '/image' } }] }],
    });
    expect(urlsOf(cloud).image).toBe('https://g.example.org/image');
    cloud.hands.patch(Glance, 'openstack', 'g', { spec: { ingress: { path: null } } });
    await cloud.settle();
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
