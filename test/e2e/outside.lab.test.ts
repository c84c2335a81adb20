import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NovaCell } from '../../api/nova/cell.ts';
import { NovaMetadata } from '../../api/nova/metadata.ts';
import { NovaNoVNCProxy } from '../../api/nova/novncproxy.ts';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { OVNNetwork } from '../../api/openstack/ovnnetwork.ts';
import { RabbitMQ } from '../../api/openstack/rabbitmq.ts';
import { CLOUD_NAMESPACE as namespace } from '../../lab/cloud.ts';
import { NAMESPACE as AUTHORITY, ISSUER } from '../../lab/cluster/certificates.ts';
import { INGRESS_IP, nameIngresses } from '../../lab/cluster/ingress.ts';
import { node, SITE } from '../../lab/cluster/layout.ts';
import type { Release } from '../../lab/images/names.ts';
import { Ingress, Secret, Service } from '../../src/kube/resource.ts';
import { figure } from './figure.ts';
import { type LabStage, labStage } from './lab.ts';
import { OpenStack } from './openstack.ts';
import { type Running, runOutside, saidOutside } from './outside.ts';
import { conditionOf, ready, until, valueIn } from './stage.ts';

const release = (process.env.LAB_RELEASES?.split(',')[0] ?? '2025.2') as Release;
const DOMAIN = 'cloud.test';
const NODE = node(1).ip;
const HOST = 'outside-1';

/** Where each API is under one host, and something that only its database knows. */
const APIS: Readonly<Record<string, { readonly at: string; readonly ask: string }>> = {
  identity: { at: '/identity', ask: '/v3/projects' },
  image: { at: '/image', ask: '/v2/images' },
  placement: { at: '/placement', ask: '/resource_providers' },
  network: { at: '/network', ask: '/v2.0/networks' },
  compute: { at: '/compute', ask: '/servers/detail' },
  'block-storage': { at: '/volume', ask: '/volumes/detail' },
  orchestration: { at: '/orchestration', ask: '/stacks' },
};

/** Every link in an answer, however deep. */
const linksIn = (answer: unknown): string[] =>
  [...JSON.stringify(answer).matchAll(/"href": ?"(http[^"]+)"/g)].map(match => match[1]!);

/** On the cloud of `make lab-cloud-ceph`: published with TLS. */
describe(`the cloud as the world outside the cluster finds it, ${release}`, { timeout: 1_800_000 }, () => {
  let stage: LabStage;
  let ca = '';
  let password = '';
  let compute: Running | undefined;
  const login = (url: string) => OpenStack.login(namespace, password, { url, ca });
  /** Also what the names lead to, which are those of Ingresses. */
  async function edited(spec: object): Promise<void> {
    await stage.patch(OpenStackControlPlane, 'cloud', { spec });
    await ready(stage, OpenStackControlPlane, 'cloud');
    await nameIngresses();
  }

  beforeAll(async () => {
    stage = await labStage(namespace);
    await ready(stage, OpenStackControlPlane, 'cloud');
    password = await valueIn(stage, 'keystone-admin', 'password', Secret);
    ca = await valueIn(await labStage(AUTHORITY), ISSUER, 'tls.crt', Secret);
  });
  afterAll(() => compute?.stop());

  it('has all APIs under one host, when asked to, and their links too', async () => {
    const began = performance.now();
    await edited({ ingress: { routing: 'path' } });
    const seconds = Math.round((performance.now() - began) / 1000);
    console.log(`Ready under one host after ${seconds} s`);
    figure('one host, Ready seconds', seconds);
    const os = await login(`https://${DOMAIN}/identity`);
    for (const [type, { at, ask }] of Object.entries(APIS)) {
      const root = `https://${DOMAIN}${at}`;
      expect([type, os.catalog.get(type)]).toEqual([type, expect.stringMatching(new RegExp(`^${root}(/|$)`))]);
      await os.call(type, 'GET', ask);
    }
    for (const type of ['identity', 'image', 'network', 'compute']) {
      const links = linksIn(await os.versions(`https://${DOMAIN}${APIS[type]?.at}/`));
      expect(links.length).toBeGreaterThan(0);
      expect(links.filter(link => !link.startsWith(`https://${DOMAIN}${APIS[type]?.at}/`))).toEqual([]);
    }
    const body = { network: { name: 'by-path' } };
    const { network } = await os.call<{ network: { id: string } }>('network', 'POST', '/v2.0/networks', { body });
    await os.call('network', 'DELETE', `/v2.0/networks/${network.id}`);
    const hosts = (await stage.list(Ingress)).flatMap(({ spec }) =>
      (spec as { rules: { host: string }[] }).rules.map(rule => rule.host),
    );
    // The dashboard and the consoles of a cell only know the root of a host, so they keep a name of their own.
    const named = ['horizon', 'nova-cell1-novncproxy'].map(name => `${name}.${DOMAIN}`);
    expect([...new Set(hosts)].sort()).toEqual([DOMAIN, ...named]);
  });

  it('goes back to a name each', async () => {
    await edited({ ingress: { routing: null } });
    const os = await login(`https://keystone.${DOMAIN}`);
    for (const [type, { ask }] of Object.entries(APIS)) {
      expect(new URL(os.catalog.get(type) ?? '').hostname).toMatch(new RegExp(`^[a-z]+\\.${DOMAIN}$`));
      await os.call(type, 'GET', ask);
    }
  });

  it('lets a hypervisor on a host outside in, by what expose says', async () => {
    const at = (port: number) => ({ expose: { type: 'NodePort', hostname: NODE, port } });
    await edited({
      rabbitmq: at(30_671),
      ovn: at(30_642),
      nova: {
        metadataServiceTemplate: at(30_775),
        cellTemplates: {
          cell0: {},
          cell1: {
            novaComputeTemplates: { libvirt: { computeDriver: 'libvirt' } },
            noVNCProxyServiceTemplate: at(30_680),
          },
        },
      },
    });
    for (const [kind, name] of [
      [RabbitMQ, 'rabbitmq'],
      [OVNNetwork, 'ovn'],
      [NovaMetadata, 'nova-metadata'],
      [NovaNoVNCProxy, 'nova-cell1-novncproxy'],
      [NovaCell, 'nova-cell1'],
    ] as const)
      await until(stage, `hosts can reach ${name}`, 120, async () => {
        const told = conditionOf(await stage.get(kind, name), 'HostsCanReach');
        return told?.status === 'True';
      });

    const names = ['keystone', 'placement', 'glance', 'neutron', 'cinder', 'nova'].map(each => `${each}.${DOMAIN}`);
    const secret = 'nova-cell1-compute-config';
    const files = {
      'etc/hosts': `127.0.0.1 localhost ${HOST}\n${INGRESS_IP} ${names.join(' ')}\n`,
      'etc/nova/nova.conf.d/01-nova.conf': await valueIn(stage, secret, '01-nova.conf', Secret),
      // What a host knows of itself. It has no hypervisor to show: nothing that it tells the cloud hangs on that.
      'etc/nova/nova.conf.d/02-host.conf': `[DEFAULT]\nhost = ${HOST}\nmy_ip = ${SITE.outside}\ncompute_driver = fake.FakeDriver\n`,
      'etc/openstack-tls/ca/ca.crt': await valueIn(stage, secret, 'ca.crt', Secret),
    };
    expect(files['etc/nova/nova.conf.d/01-nova.conf']).not.toContain('svc.cluster.local');
    const os = await login(`https://keystone.${DOMAIN}`);
    interface Reported {
      services: { id: string; state: string }[];
    }
    // With ids that are unique over cells.
    const unique = { microversion: '2.53' };
    const reported = async () =>
      (await os.call<Reported>('compute', 'GET', `/os-services?host=${HOST}`, unique)).services[0];
    const forget = async () => {
      const row = await reported();
      if (row) await os.call('compute', 'DELETE', `/os-services/${row.id}`, unique);
    };
    // Of a story that was cut short.
    await forget();
    compute = await runOutside(release, files, ['nova-compute', '--config-dir', '/etc/nova/nova.conf.d']);
    await until(
      stage,
      () => `nova-compute of ${HOST} reports: ${compute?.log()}`,
      120,
      async () => (await reported())?.state === 'up',
    );
    interface Providers {
      resource_providers: { name: string }[];
    }
    await until(stage, 'Placement knows it', 120, async () => {
      const path = `/resource_providers?name=${HOST}`;
      return (await os.call<Providers>('placement', 'GET', path)).resource_providers.length === 1;
    });

    const trusted = join(mkdtempSync(join(tmpdir(), 'outside-')), 'ca.crt');
    writeFileSync(trusted, files['etc/openstack-tls/ca/ca.crt']);
    // A pod that goes on running gets the certificate with the new name from the kubelet, which took 150 s.
    const began = performance.now();
    const answers = (what: string, word: string, ...command: string[]) => {
      let last = '';
      return until(
        stage,
        () => `${what} says ${word} to a host outside: ${last}`,
        300,
        async () => {
          last = await saidOutside(...command).catch(String);
          return last.includes(word);
        },
      );
    };
    const curl = (port: number, path: string) => ['curl', '-sS', '--cacert', trusted, `https://${NODE}:${port}${path}`];
    const shaken = ['s_client', '-connect', `${NODE}:30642`, '-CAfile', trusted, '-verify_ip', NODE];
    // The shared secret is for agents; what it answers to anybody is its list of versions.
    await answers('nova-metadata', 'latest', ...curl(30_775, '/'));
    await answers('OVN', 'Verification: OK', 'bash', '-c', `openssl ${shaken.join(' ')} </dev/null || true`);
    await answers('noVNC', 'noVNC', ...curl(30_680, '/vnc_lite.html'));
    figure('certificates with the new name, seconds', Math.round((performance.now() - began) / 1000));

    await compute.stop();
    compute = undefined;
    await forget();
  });

  it('takes it back', async () => {
    const [closed, without] = [{ expose: null }, { metadataServiceTemplate: null, cellTemplates: null }];
    await edited({ rabbitmq: closed, ovn: closed, nova: without });
    await until(stage, 'the Services for hosts are gone', 120, async () =>
      (await stage.list(Service)).every(({ metadata }) => !metadata.name.endsWith('-hosts')),
    );
    const told = conditionOf(await stage.get(NovaCell, 'nova-cell1'), 'HostsCanReach');
    expect(told).toMatchObject({ status: 'False', reason: 'NotExposed' });
    expect(await valueIn(stage, 'nova-cell1-compute-config', '01-nova.conf', Secret)).toContain('svc.cluster.local');
  });
});
