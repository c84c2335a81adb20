import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { NovaCell } from '../../api/nova/cell.ts';
import { NovaMetadata } from '../../api/nova/metadata.ts';
import { NovaNoVNCProxy } from '../../api/nova/novncproxy.ts';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { Keystone } from '../../api/openstack/keystone.ts';
import { OVNNetwork } from '../../api/openstack/ovnnetwork.ts';
import { RabbitMQ } from '../../api/openstack/rabbitmq.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import {
  Certificate,
  DaemonSet,
  pathOf,
  type Resource,
  Secret,
  Service,
  StatefulSet,
} from '../../src/kube/resource.ts';
import { authority, CERT_MANAGER, certManager, installForeign, issuer } from './certificates.ts';
import { Cloud, NS } from './cloud.ts';
import { standsOn } from './samples.ts';
import { cloudWith, readyCloud, secret, template, text } from './services.ts';

const minimal = parse(readFileSync('config/samples/controlplane_minimal.yaml', 'utf8')) as AnyObject & { spec: object };

/** What a load balancer of the cluster does. */
function balance(cloud: Cloud, service: string, ip: string): void {
  const body = { status: { loadBalancer: { ingress: [{ ip }] } } };
  const path = `${pathOf(Service, NS, service)}/status`;
  const answer = cloud.store.handle(
    { method: 'PATCH', path, contentType: 'application/merge-patch+json', body },
    'balancer',
  );
  expect(answer.status).toBe(200);
}

const keys = (cloud: Cloud, name: string): string[] => Object.keys((cloud.get(Secret, name)?.data ?? {}) as object);

const reach = (cloud: Cloud, kind: Resource, name: string) => cloud.condition(kind, name, 'HostsCanReach');

describe('hosts outside the cluster', () => {
  it('reach bus, Keystone, metadata, southbound database and consoles where expose says, and their Secrets say so too', async () => {
    const cloud = await Cloud.start();
    standsOn(cloud, 'minimal');
    cloud.apply(minimal);
    await cloud.ready(OpenStackControlPlane, 'minimal');
    await cloud.settle();
    expect(reach(cloud, NovaCell, 'nova-cell1')).toMatchObject({
      status: 'False',
      reason: 'NotExposed',
      message: expect.stringMatching(
        /addresses for the message bus, Keystone, the console proxy that only this cluster/,
      ),
    });
    expect(reach(cloud, RabbitMQ, 'rabbitmq')).toBeUndefined();
    const rabbit = template(cloud, StatefulSet, 'rabbitmq');
    const agent = template(cloud, DaemonSet, 'ovn-metadata-agent');
    const inside = text(cloud, 'nova-metadata-agent-config', '05-nova-metadata.conf');
    expect(text(cloud, 'nova-metadata-compute-config', '05-nova-metadata.conf')).toBe(inside);

    const at = (port: number) => ({ type: 'NodePort', hostname: 'node.example.org', port });
    cloud.apply({
      ...minimal,
      spec: {
        ...minimal.spec,
        rabbitmq: { expose: { type: 'LoadBalancer', annotations: { 'example.org/pool': 'hosts' } } },
        keystone: { expose: { ...at(30500), hostname: '2001:db8::1' } },
        ovn: { expose: { type: 'External', hostname: 'ovn.example.org', port: 16642 } },
        nova: {
          metadataServiceTemplate: { expose: at(30775) },
          cellTemplates: {
            cell0: {},
            cell1: {
              novaComputeTemplates: { libvirt: { computeDriver: 'libvirt' } },
              noVNCProxyServiceTemplate: { expose: { hostname: 'console.example.org', port: 443 } },
            },
          },
        },
      },
    });
    await cloud.settle();
    expect(reach(cloud, RabbitMQ, 'rabbitmq')).toMatchObject({ status: 'False', reason: 'NoAddress' });
    expect(cloud.condition(RabbitMQ, 'rabbitmq')?.status).toBe('True');
    expect(cloud.get(Service, 'rabbitmq-hosts')).toMatchObject({
      metadata: { annotations: { 'example.org/pool': 'hosts' } },
      spec: { type: 'LoadBalancer', ports: [{ port: 5672, targetPort: 5672 }] },
    });
    expect(reach(cloud, NovaCell, 'nova-cell1')?.message).toContain('addresses for the message bus that only');
    balance(cloud, 'rabbitmq-hosts', '203.0.113.7');
    await cloud.settle();
    for (const [kind, name] of [
      [RabbitMQ, 'rabbitmq'],
      [Keystone, 'keystone'],
      [OVNNetwork, 'ovn'],
      [NovaMetadata, 'nova-metadata'],
      [NovaNoVNCProxy, 'nova-cell1-novncproxy'],
      [NovaCell, 'nova-cell1'],
    ] as const)
      expect([name, reach(cloud, kind, name)?.status]).toEqual([name, 'True']);
    const conf = text(cloud, 'nova-cell1-compute-config', '01-nova.conf');
    expect(conf).toMatch(/transport_url = rabbit:\/\/\S+@203\.0\.113\.7:5672\//);
    expect(conf).toContain('auth_url = http://[2001:db8::1]:30500\n');
    expect(conf).toContain('valid_interfaces = public\n');
    expect(conf).not.toContain('svc.cluster.local');
    expect(conf).toContain('novncproxy_base_url = http://console.example.org:443/vnc_lite.html\n');
    // Who is in the cluster goes on as before.
    expect(text(cloud, 'nova-metadata-agent-config', '05-nova-metadata.conf')).toBe(inside);
    expect(template(cloud, DaemonSet, 'ovn-metadata-agent')).toEqual(agent);
    expect(keys(cloud, 'nova-metadata-compute-config')).toEqual(['05-nova-metadata.conf']);
    const hosts = text(cloud, 'nova-metadata-compute-config', '05-nova-metadata.conf');
    expect(hosts).toContain('nova_metadata_host = node.example.org\nnova_metadata_port = 30775\n');
    expect(hosts).toContain(/metadata_proxy_shared_secret = \S+/.exec(inside)?.[0]);
    expect(template(cloud, StatefulSet, 'rabbitmq')).toEqual(rabbit);
    expect(text(cloud, 'nova-cell1-conductor-config-data', '01-nova.conf')).not.toContain('203.0.113.7');

    cloud.apply(minimal);
    await cloud.settle();
    for (const service of ['rabbitmq-hosts', 'keystone-api-hosts', 'nova-metadata-hosts'])
      expect([service, cloud.get(Service, service)]).toEqual([service, undefined]);
    expect(text(cloud, 'nova-cell1-compute-config', '01-nova.conf')).toContain('@rabbitmq.openstack.svc');
    expect(text(cloud, 'nova-metadata-compute-config', '05-nova-metadata.conf')).toBe(inside);
  }, 120_000);

  it('of a cell that serves metadata itself find it where its expose says', async () => {
    const cloud = await Cloud.start();
    standsOn(cloud, 'minimal');
    const metadataServiceTemplate = { enabled: true, expose: { hostname: 'metadata.example.org', port: 8443 } };
    const cell1 = { metadataServiceTemplate, novaComputeTemplates: { libvirt: { computeDriver: 'libvirt' } } };
    cloud.apply({ ...minimal, spec: { ...minimal.spec, nova: { cellTemplates: { cell0: {}, cell1 } } } });
    await cloud.ready(OpenStackControlPlane, 'minimal');
    await cloud.settle();
    const [name, key] = ['nova-cell1-metadata-compute-config', '05-nova-metadata.conf'];
    expect(cloud.get(NovaCell, 'nova-cell1')?.status).toMatchObject({ metadataConfigSecret: name });
    expect(keys(cloud, name)).toEqual([key]);
    expect(text(cloud, name, key)).toContain('nova_metadata_host = metadata.example.org\nnova_metadata_port = 8443\n');
    const inside = text(cloud, 'nova-cell1-metadata-agent-config', key);
    expect(inside).toContain('nova_metadata_host = nova-cell1-metadata.openstack.svc.cluster.local\n');
    expect(text(cloud, 'ovn-config-data', key)).toBe(inside);
  }, 120_000);

  it('leave agents in the cluster alone that an earlier version gave their address', async () => {
    const cloud = await Cloud.start();
    standsOn(cloud, 'minimal');
    const nova = { metadataServiceTemplate: { expose: { hostname: 'metadata.example.org' } } };
    const exposed = { ...minimal, spec: { ...minimal.spec, nova } };
    cloud.apply(exposed);
    await cloud.ready(OpenStackControlPlane, 'minimal');
    await cloud.settle();
    const agent = () => template(cloud, DaemonSet, 'ovn-metadata-agent');
    const files = () => JSON.stringify(agent());
    expect(files()).not.toContain('05-nova-metadata-hosts.conf');
    // As that version left it: agents that mount both addresses.
    cloud.crashOperator();
    const key = '05-nova-metadata.conf';
    const both = {
      [key]: text(cloud, 'nova-metadata-agent-config', key),
      '05-nova-metadata-hosts.conf': text(cloud, 'nova-metadata-compute-config', key),
    };
    cloud.apply(secret('earlier', both));
    const { spec } = agent() as { spec: { volumes: { name: string; secret?: object }[] } };
    const volumes = spec.volumes.map(each => (each.secret ? { ...each, secret: { secretName: 'earlier' } } : each));
    cloud.hands.patch(DaemonSet, NS, 'ovn-metadata-agent', { spec: { template: { spec: { volumes } } } });
    cloud.startOperator();
    await cloud.settle();
    expect(files()).toContain('05-nova-metadata-hosts.conf');
    const before = files();
    await cloud.sim.run(1_800_000);
    expect(files()).toBe(before);
    cloud.apply(minimal);
    await cloud.settle();
    expect(files()).not.toContain('05-nova-metadata-hosts.conf');
  }, 120_000);

  it('are told which field is missing', async () => {
    const cloud = await readyCloud();
    cloud.apply(cloudWith({ keystone: { expose: { type: 'NodePort' } } }));
    await cloud.settle();
    expect(reach(cloud, Keystone, 'keystone')).toMatchObject({
      reason: 'FieldMissing',
      message: expect.stringContaining('spec.expose.type is NodePort, and spec.expose.hostname is not set'),
    });
    cloud.apply(cloudWith({ keystone: { expose: { type: 'External' } } }));
    await cloud.settle();
    expect(reach(cloud, Keystone, 'keystone')).toMatchObject({ reason: 'FieldMissing' });
    expect(cloud.get(Service, 'keystone-api-hosts')).toBeUndefined();
    expect(cloud.condition(Keystone, 'keystone')?.status).toBe('True');
    cloud.apply(cloudWith({ keystone: { expose: { hostname: '300.1.1.1' } } }));
    await cloud.settle();
    expect(reach(cloud, Keystone, 'keystone')).toMatchObject({
      reason: 'ValueRefused',
      message: expect.stringContaining('spec.expose.hostname is neither a host name nor an address'),
    });
    expect(cloud.condition(Keystone, 'keystone')?.status).toBe('True');
  });

  it('have names that no message hides, though they stand in Secrets', async () => {
    const cloud = await Cloud.start();
    standsOn(cloud, 'minimal');
    // Called like the cell, whose name is in the message.
    const rabbitmq = { expose: { hostname: 'nova-cell1' } };
    cloud.apply({ ...minimal, spec: { ...minimal.spec, rabbitmq } });
    await cloud.ready(OpenStackControlPlane, 'minimal');
    await cloud.settle();
    expect(reach(cloud, NovaCell, 'nova-cell1')?.message).toContain(
      'Secret nova-cell1-compute-config has addresses for Keystone, the console proxy',
    );
  }, 60_000);

  it('find the name that they use in the certificate', async () => {
    const cloud = await Cloud.start(certManager(authority('a')));
    installForeign(cloud, ...CERT_MANAGER);
    cloud.hands.apply(issuer('Issuer', 'inside'));
    const tls = { enabled: true, issuerRef: { name: 'inside', kind: 'Issuer' } };
    const asked = (hostname: string) => cloudWith({ tls, keystone: { expose: { type: 'External', hostname } } });
    const wish = () => cloud.get(Certificate, 'keystone-certificate')?.spec;
    cloud.apply(asked('keys.example.org'));
    await cloud.settle();
    expect(wish()).toMatchObject({ dnsNames: expect.arrayContaining(['keys.example.org']) });
    expect(wish()).not.toHaveProperty('ipAddresses');
    cloud.apply(asked('203.0.113.9'));
    await cloud.settle();
    expect(wish()).toMatchObject({ ipAddresses: ['203.0.113.9'] });
  });
});
