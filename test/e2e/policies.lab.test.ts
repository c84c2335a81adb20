import { readFileSync } from 'node:fs';
import type { NetworkPolicySpec } from 'kubernetes-types/networking/v1.d.ts';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { CLOUD_NAMESPACE as namespace, prepareCloud } from '../../lab/cloud.ts';
import { NAMESPACE as AUTHORITY, ISSUER } from '../../lab/cluster/certificates.ts';
import { nameIngresses } from '../../lab/cluster/ingress.ts';
import { node, nodesOf } from '../../lab/cluster/layout.ts';
import { packetsRefused } from '../../lab/cluster/policies.ts';
import type { CloudSpec } from '../../lab/extras.ts';
import { kubectl } from '../../lab/kubectl.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { NetworkPolicy, Pod, Secret } from '../../src/kube/resource.ts';
import { MANAGED_LABEL } from '../../src/runtime/plan/names.ts';
import { figure } from './figure.ts';
import { consoleGreeting, type Key, makeKey, ssh } from './guest.ts';
import { Visitor } from './horizon.ts';
import { type LabStage, labStage } from './lab.ts';
import { agentOf, OpenStack } from './openstack.ts';
import { inPool } from './pools.ts';
import { gone, ready, until, valueIn } from './stage.ts';
import { listens, reaches, reachesFromOutside, removeStranger, startStranger } from './strangers.ts';
import { type Server, Tenant } from './tenant.ts';
import { Volumes } from './volumes.ts';

const release = process.env.LAB_RELEASES?.split(',')[0] ?? '2025.2';
const yaml = parse(readFileSync('lab/cloud-ceph.yaml', 'utf8')) as AnyObject & { spec: CloudSpec };
const spec = { ...yaml.spec, networkPolicy: { enabled: true } };
const cloud = { ...yaml, spec: { ...spec, release } };
const DOMAIN = yaml.spec.publicDomain ?? '';
/** As long as the engine takes to write its rules anew, when its counters begin at zero. */
const AT_REST = 60;

const TEMPLATE = {
  heat_template_version: '2021-04-16',
  resources: { net: { type: 'OS::Neutron::Net' }, disk: { type: 'OS::Cinder::Volume', properties: { size: 1 } } },
};

/** By what their names begin with: ports that only some may come in by. */
const SHUT: readonly (readonly [pod: RegExp, ports: readonly number[]])[] = [
  [/^mariadb-\d+$/, [3306]],
  [/^memcached-\d+$/, [11211]],
  // Management over TLS, metrics, and what members and its tools talk over.
  [/^rabbitmq-\d+$/, [15671, 15692, 4369, 25672]],
  [/^ovn-nb-\d+$/, [6641]],
];
/** Who comes to these shows a password, a token or a certificate. */
const OPEN: readonly (readonly [pod: RegExp, port: number])[] = [
  [/^keystone-api-/, 5000],
  [/^glance-api-/, 9292],
  [/^placement-api-/, 8778],
  [/^neutron-api-/, 9696],
  [/^nova-api-/, 8774],
  [/^nova-metadata-/, 8775],
  [/^nova-cell1-novncproxy-/, 6080],
  [/^cinder-api-/, 8776],
  [/^heat-api-/, 8004],
  [/^rabbitmq-\d+$/, 5671],
  [/^ovn-sb-\d+$/, 6642],
];

/** One per object of the control plane that has pods, and one per part of Nova. */
const POLICIES = 16;

/** On an empty lab. */
describe(`a cloud whose NetworkPolicies are enforced, ${release}`, { timeout: 1_800_000 }, () => {
  const elsewhere = `${namespace}-strangers`;
  let stage: LabStage;
  let os: OpenStack;
  let tenant: Tenant;
  let volumes: Volumes;
  let key: Key;
  let ca = '';
  let password = '';
  let server: Server;
  const say = (text: string) => console.log(text);

  const addressesOf = async (like: RegExp): Promise<string[]> => {
    const found = (await stage.list(Pod)).filter(({ metadata }) => like.test(metadata.name));
    expect(found.length, `pods like ${like}`).toBeGreaterThan(0);
    return found.map(({ status }) => (status as { podIP: string }).podIP);
  };

  beforeAll(async () => {
    await prepareCloud(nodesOf(1), spec);
    stage = await labStage(namespace);
    await labStage(elsewhere);
    key = await makeKey();
    ca = await valueIn(await labStage(AUTHORITY), ISSUER, 'tls.crt', Secret);
  });

  it('stands on a network that does what policies say', async () => {
    await startStranger(elsewhere, 'server', { serves: 8080 });
    await startStranger(elsewhere, 'friend', { labels: { friend: 'yes' } });
    await startStranger(elsewhere, 'other');
    const address = JSON.parse(await kubectl(['-n', elsewhere, 'get', 'pod', 'server', '-o', 'json'])).status.podIP;
    const seen = async () => [
      await reaches(elsewhere, 'friend', address, 8080),
      await reaches(elsewhere, 'other', address, 8080),
    ];
    expect(await seen()).toEqual([true, true]);
    const policy = (ingress: readonly object[]) =>
      kubectl(
        ['-n', elsewhere, 'apply', '--server-side', '-f', '-'],
        JSON.stringify({
          apiVersion: 'networking.k8s.io/v1',
          kind: 'NetworkPolicy',
          metadata: { name: 'server' },
          spec: { podSelector: { matchLabels: { app: 'server' } }, policyTypes: ['Ingress'], ingress },
        }),
      );
    const become = (wanted: readonly boolean[]) =>
      until(stage, `the server is reached: ${wanted}`, 20, async () => String(await seen()) === String(wanted));
    await policy([]);
    await become([false, false]);
    expect(await listens(address, 8080)).toBe(true);
    await policy([{ from: [{ podSelector: { matchLabels: { friend: 'yes' } } }] }]);
    await become([true, false]);
    await kubectl(['-n', elsewhere, 'delete', 'networkpolicy', 'server']);
    await become([true, true]);
    await removeStranger(elsewhere, 'server');
  });

  it('is Ready from one object', async () => {
    const began = performance.now();
    await stage.apply(cloud);
    await ready(stage, OpenStackControlPlane, 'cloud');
    const seconds = Math.round((performance.now() - began) / 1000);
    const policies = (await stage.list(NetworkPolicy)).length;
    say(`Ready after ${seconds} s, ${policies} policies`);
    figure('Ready seconds', seconds);
    figure('policies', policies);
    expect(policies).toBe(POLICIES);
    await nameIngresses();
  });

  it('refuses strangers at databases, cache and management of the bus, whatever they call themselves elsewhere', async () => {
    await startStranger(namespace, 'stranger');
    await startStranger(elsewhere, 'impostor', { labels: { 'app.kubernetes.io/name': 'keystone' } });
    let [tried, counted] = [0, 0];
    const admitted: string[] = [];
    const strangers: Readonly<Record<string, (address: string, port: number) => Promise<boolean>>> = {
      'a pod beside the cloud': (address, port) => reaches(namespace, 'stranger', address, port),
      'a pod of another namespace': (address, port) => reaches(elsewhere, 'impostor', address, port),
      'a host that is no node': reachesFromOutside,
    };
    for (const [like, ports] of SHUT)
      for (const address of await addressesOf(like))
        for (const port of ports) {
          expect(await listens(address, port), `${like} ${port}`).toBe(true);
          for (const [who, reach] of Object.entries(strangers)) {
            tried++;
            if (await reach(address, port)) admitted.push(`${who} -> ${like} ${port}`);
          }
          counted = Math.max(counted, await packetsRefused(nodesOf(1)));
        }
    // The engine counts what it refuses, which is what a later part of this story counts on.
    expect(counted).toBeGreaterThan(0);
    say(`${tried} connections of strangers tried, ${tried - admitted.length} refused`);
    figure('connections of strangers tried', tried);
    figure('connections of strangers refused', tried - admitted.length);
    expect(admitted).toEqual([]);
  });

  it('admits them where a password, a token or a certificate is asked for', async () => {
    const refused: string[] = [];
    let tried = 0;
    for (const [like, port] of OPEN)
      for (const address of await addressesOf(like)) {
        tried += 2;
        if (!(await reaches(elsewhere, 'impostor', address, port))) refused.push(`a pod -> ${like} ${port}`);
        if (!(await reachesFromOutside(address, port))) refused.push(`a host -> ${like} ${port}`);
      }
    figure('connections to open ports, admitted', tried - refused.length);
    expect(refused).toEqual([]);
    await removeStranger(namespace, 'stranger');
    await removeStranger(elsewhere, 'impostor');
  });

  it('admits a client of the database on the network of its node, by the address that it has there', async () => {
    const blocks = async () => {
      const [policy] = (await stage.list(NetworkPolicy)).filter(each => each.metadata.name === 'mariadb-mariadb');
      const { ingress = [] } = (policy?.spec ?? {}) as Partial<NetworkPolicySpec>;
      return ingress.flatMap(rule => rule.from ?? []).flatMap(peer => peer.ipBlock?.cidr ?? []);
    };
    expect(await blocks()).toEqual([]);
    // As the pods of cinder-volume with `lvm` or `nfs` have them, for which the kernel of the lab has nothing.
    const labels = { 'app.kubernetes.io/name': 'cinder', [MANAGED_LABEL]: 'true' };
    await startStranger(namespace, 'on-node', { labels, onNode: true });
    await until(stage, 'its node is admitted', 20, async () => String(await blocks()) === `${node(1).ip}/32`);
    await removeStranger(namespace, 'on-node');
    await until(stage, 'its node is not admitted any more', 20, async () => (await blocks()).length === 0);
  });

  it('boots a guest that gets its address and metadata, and is reached by ssh', async () => {
    password = await valueIn(stage, 'keystone-admin', 'password', Secret);
    os = await OpenStack.login(namespace, password, { url: `https://keystone.${DOMAIN}`, ca });
    tenant = new Tenant(stage, os, key);
    volumes = new Volumes(stage, os);
    await tenant.sweep();
    await tenant.image();
    await tenant.furnish();
    await tenant.hostKnown();
    const began = performance.now();
    server = await tenant.active(await tenant.boot('one', tenant.connected()));
    const told = await tenant.greeted(server.id);
    const seconds = Math.round((performance.now() - began) / 1000);
    say(`${seconds} s\n  ${told.join('\n  ')}`);
    figure('guest ready, seconds', seconds);
    expect(told.join()).toContain('GUEST-DHCP-OK');
    expect(told.join()).toContain('GUEST-METADATA-OK');
    const floating = await tenant.floatingAddress(server.id);
    await until(stage, 'ssh answers', 90, async () => (await ssh(key, floating, 'hostname')) !== undefined);
  });

  it('shows the console of the guest through the ingress', async () => {
    expect(await consoleGreeting(await tenant.console(server.id))).toMatch(/^RFB 003/);
  });

  it('gives the guest a volume, and keeps a backup of it', async () => {
    const data = await volumes.make('volume', { name: 'data', size: 1 });
    await volumes.attach(server.id, data);
    await volumes.detach(server.id, data);
    await volumes.make('backup', { volume_id: data, name: 'safe' });
    expect(await inPool(stage, 'backups')).toContain(data);
  });

  it('makes a stack, and lets a person in through the dashboard', async () => {
    const { stack } = await os.call<{ stack: { id: string } }>('orchestration', 'POST', '/stacks', {
      body: { stack_name: 'story', template: TEMPLATE, timeout_mins: 10 },
    });
    await until(stage, 'the stack is there', 300, async () => {
      const answer = await os.call<{ stack: { stack_status: string; stack_status_reason: string } }>(
        'orchestration',
        'GET',
        `/stacks/story/${stack.id}`,
      );
      if (answer.stack.stack_status.endsWith('FAILED')) throw new Error(answer.stack.stack_status_reason);
      return answer.stack.stack_status === 'CREATE_COMPLETE';
    });
    await os.call('orchestration', 'DELETE', `/stacks/story/${stack.id}`);
    await until(stage, 'the stack is gone', 300, async () => {
      const { stacks } = await os.call<{ stacks: object[] }>('orchestration', 'GET', '/stacks');
      return stacks.length === 0;
    });
    const visitor = new Visitor(`https://horizon.${DOMAIN}`, agentOf(ca));
    const { text } = await visitor.login('admin', password);
    expect(text).toContain('/auth/logout/');
  });

  it(`refuses nobody in ${AT_REST} s in which no stranger comes`, async () => {
    let most = 0;
    for (let waited = 0; waited < AT_REST; waited += 2) {
      most = Math.max(most, await packetsRefused(nodesOf(1)));
      await stage.pass(2);
    }
    figure('packets of the cloud itself refused', most);
    expect(most).toBe(0);
  });

  it('lets go of everything in the cloud, and is deleted', async () => {
    await tenant.cleared('compute', '/servers', 'servers');
    await volumes.sweep();
    await tenant.sweep();
    await gone(stage, OpenStackControlPlane, 'cloud');
    await until(stage, 'pods are gone', 180, async () => (await stage.list(Pod)).length === 0);
    expect(await stage.list(NetworkPolicy)).toEqual([]);
    await kubectl(['delete', 'namespace', elsewhere]);
  });
});
