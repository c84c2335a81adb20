import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KINDS } from '../../api/kinds.ts';
import { crdOf } from '../../api/schema/crd.ts';
import { parseObjects } from '../../src/cli/input/yaml.ts';
import { createClient } from '../../src/kube/client.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import {
  CustomResourceDefinition,
  Namespace,
  pathOf,
  Secret,
  ValidatingWebhookConfiguration,
} from '../../src/kube/resource.ts';
import type { Response } from '../../src/kube/transport.ts';
import { WEBHOOK_NAME, webhookConfiguration } from '../../src/operator/webhook.ts';
import { realClock } from '../../src/real/clock.ts';
import { loadCredentials } from '../../src/real/credentials.ts';
import { connect } from '../../src/real/transport.ts';
import { OPERATOR_NAMESPACE } from '../../src/runtime/plan/names.ts';
import { type KeeperOptions, keep } from '../../src/server/keeper.ts';
import { createWebhook, VALIDATE, type WebhookServer } from '../../src/server/webhook.ts';
import { silent } from '../../src/world/log.ts';
import { type ApiServer, program, startApiServer } from './apiserver.ts';

/** The webhook, its certificate and its configuration, asked by a real kube-apiserver. */

let server: ApiServer;
let webhook: WebhookServer;
let keeper: KeeperOptions;
let connection: ReturnType<typeof connect>;
let client: ReturnType<typeof createClient>;
const NS = 'openstack';
const resourceOf = (kind: string) => KINDS.find(one => one.kind === kind)!;

const object = (kind: string, name: string, spec: object, annotations: object = {}): AnyObject => {
  const { group, version } = resourceOf(kind);
  return { apiVersion: `${group}/${version}`, kind, metadata: { name, namespace: NS, annotations }, spec } as AnyObject;
};
async function put(one: AnyObject): Promise<Response> {
  const path = pathOf(resourceOf(one.kind), NS, one.metadata.name);
  const query = { fieldManager: 'test', force: 'true' };
  const contentType = 'application/apply-patch+yaml';
  return connection.send({ method: 'PATCH', path, query, contentType, body: one });
}
const messageOf = ({ body }: Response): string => (body as { message?: string }).message ?? '';
/** A configuration counts from the moment on at which the API server's own watch brings it. */
async function until(what: string, done: () => Promise<boolean>): Promise<void> {
  for (let left = 100; !(await done()); left--) {
    if (left === 0) throw new Error(`not within 10 s: ${what}`);
    await new Promise(resolve => setTimeout(resolve, 100));
  }
}
const keystone = (customServiceConfig: string, name = 'keystone') =>
  object('Keystone', name, { release: '2025.2', customServiceConfig });
const isRefused = (answer: Response) => answer.status === 422 && messageOf(answer).includes('denied the request');

beforeAll(async () => {
  server = await startApiServer();
  connection = connect(loadCredentials({ kubeconfig: server.kubeconfig('admin'), env: {} }));
  client = createClient(connection, realClock);
  for (const kind of KINDS) await client.create(CustomResourceDefinition, crdOf(kind) as unknown as AnyObject);
  for (const name of [NS, OPERATOR_NAMESPACE])
    await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  keeper = { client, clock: realClock, log: silent, namespace: OPERATOR_NAMESPACE, name: WEBHOOK_NAME };
  webhook = createWebhook({
    port: 0,
    certificate: await keep(keeper),
    clock: realClock,
    log: silent,
    neighbours: { list: async (kind, namespace) => (await client.list(resourceOf(kind), { namespace })).items },
  });
  await webhook.start();
  const url = `https://127.0.0.1:${webhook.port}${VALIDATE}`;
  await client.create(ValidatingWebhookConfiguration, webhookConfiguration({ url }) as AnyObject);
  await until('the kinds are served', async () => (await put(keystone('', 'first'))).status < 300);
  await keep(keeper);
  await until('the webhook is asked', async () => isRefused(await put(keystone('[broken\n'))));
});
afterAll(async () => {
  await webhook?.stop().catch(() => undefined);
  await connection?.close();
  await server?.stop();
});

describe('admission on a real kube-apiserver', () => {
  it('is an overlay that kubectl understands, and the API server takes', async () => {
    const kubectl = await program('kubectl');
    const text = execFileSync(kubectl, ['kustomize', 'config/webhook'], { encoding: 'utf8', maxBuffer: 16 << 20 });
    expect(text).toContain('- --webhook-port=9443');
    expect(text).toMatch(/containerPort: 9443\n\s+name: webhook/);
    // The one of that name asks this process, by a URL: the two can't be laid over each other.
    const items = parseObjects(text, 'overlay').map(one =>
      one.kind === 'ValidatingWebhookConfiguration' ? { ...one, metadata: { ...one.metadata, name: 'another' } } : one,
    );
    const flags = [
      '--kubeconfig',
      server.kubeconfig('admin'),
      '--server-side',
      '--force-conflicts',
      '--dry-run=server',
    ];
    const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
    const said = execFileSync(kubectl, ['apply', ...flags, '-f', '-'], { encoding: 'utf8', input });
    expect(said).toContain('another serverside-applied (server dry run)');
    expect(said.trim().split('\n')).toHaveLength(items.length);
  });

  it('refuses text that nobody can read, and names the place', async () => {
    const answer = await put(keystone('[broken\n'));
    expect(answer.status).toBe(422);
    expect(messageOf(answer)).toMatch(/denied the request: spec\.customServiceConfig:1:\d+: .*\(syntax\)/);
  });

  it('lets pass what may be meant, with a warning that kubectl shows', async () => {
    const answer = await put(keystone('[token]\nexpiraton = 1\n'));
    expect(answer.status).toBeLessThan(300);
    expect(answer.headers.warning).toContain('did you mean expiration?');
    expect((await put(keystone('[token]\nexpiration = 1\n'))).headers.warning).toBeUndefined();
  });

  it('refuses a second control plane, and one that has no schedule in mind', async () => {
    const off = { enabled: false };
    expect((await put(object('OpenStackControlPlane', 'one', { keystone: off }))).status).toBeLessThan(300);
    expect(messageOf(await put(object('OpenStackControlPlane', 'two', {})))).toContain('one is all it can have');
    const spec = { fernetRotation: { schedule: '0 25 * * *' } };
    expect(isRefused(await put(object('Keystone', 'late', spec)))).toBe(true);
  });

  it('holds a host in its cell, by its own annotation and by that of its role', async () => {
    const cell = (name: string) => ({ 'nova.openstack.org/cell': name });
    const role = (name: string, of?: string) => object('OpenStackDataPlaneRole', name, {}, of ? cell(of) : {});
    const node = (role: string, of?: string) =>
      object(
        'OpenStackDataPlaneNode',
        'host-0',
        { ansibleHost: '192.0.2.1', hostName: 'host-0', role },
        of ? cell(of) : {},
      );
    for (const one of [role('compute', 'nova-cell1'), role('other', 'nova-cell2'), node('compute')])
      expect((await put(one)).status).toBeLessThan(300);
    expect(messageOf(await put(node('other')))).toContain('would move to nova-cell2');
    expect(messageOf(await put(node('compute', 'nova-cell2')))).toContain('would move to nova-cell2');
    expect(messageOf(await put(role('compute', 'nova-cell2')))).toContain('host host-0 belongs to cell nova-cell1');
    expect((await put(node('compute', 'nova-cell1'))).status).toBeLessThan(300);
  });

  it('keeps its certificate in one Secret, and trusts the one before it after a renewal', async () => {
    const read = async () => {
      const { data } = (await client.get(Secret, { namespace: OPERATOR_NAMESPACE, name: WEBHOOK_NAME })) as AnyObject;
      return (data as Record<string, string>)['tls.crt']!;
    };
    const before = await read();
    expect((await keep(keeper)).cert).toBe(Buffer.from(before, 'base64').toString());
    expect(
      new X509Certificate(Buffer.from(before, 'base64')).checkHost(`${WEBHOOK_NAME}.${OPERATOR_NAMESPACE}.svc`),
    ).toBeDefined();

    // Two months later.
    const later = { ...keeper, client: { ...client, serverTime: () => Date.now() + 65 * 86_400_000 } };
    const renewed = await keep(later);
    expect(await read()).not.toBe(before);
    expect(renewed.ca.match(/BEGIN CERTIFICATE/g)).toHaveLength(2);
    // This process still shows the old one: whoever asks must trust it, and the new one.
    expect(isRefused(await put(keystone('[broken\n', 'second')))).toBe(true);
    webhook.renew(renewed);
    await until('the new one is trusted', async () => isRefused(await put(keystone('[broken\n', 'third'))));
  });

  it('when nobody answers: edits pass unseen, but no host leaves its cell', async () => {
    await webhook.stop();
    expect((await put(keystone('[broken\n'))).status).toBeLessThan(300);
    const role = object('OpenStackDataPlaneRole', 'compute', {}, { 'nova.openstack.org/cell': 'nova-cell2' });
    const answer = await put(role);
    expect(answer.status).toBe(500);
    expect(messageOf(answer)).toContain('failed calling webhook "cell.nova.openstack.org"');
  });
});
