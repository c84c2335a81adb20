import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { NovaAPI } from '../../api/nova/api.ts';
import { NovaCompute } from '../../api/nova/compute.ts';
import { NovaConductor } from '../../api/nova/conductor.ts';
import { NovaScheduler } from '../../api/nova/scheduler.ts';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { Nova } from '../../api/openstack/nova.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { Node, Pod, Secret, StatefulSet } from '../../src/kube/resource.ts';
import { Cloud, NS, type Rest } from './cloud.ts';
import { secret } from './services.ts';
import { Trouble } from './stories.ts';

/*
 * What a user of a whole cloud may get wrong, and what the user meets then: an error at the door, or a condition that
 * names the object, the field and the cure, at the object itself and at the top. The slice's own mistakes are in
 * bad-input.test.ts.
 */

const sample = parse(readFileSync('config/samples/controlplane_minimal.yaml', 'utf8')) as AnyObject & { spec: object };
const fake = { novaComputeTemplates: { fake: { computeDriver: 'fake' } } };
const cells = { cell0: {}, cell1: fake };
/** With guests that are pretended too, so that no node needs a label. */
const cloudWith = (nova: object = {}, more: object = {}) => ({
  ...sample,
  spec: { ...sample.spec, nova: { cellTemplates: cells, ...nova }, ...more },
});

let ready: Promise<Rest> | undefined;
function readyCloud(): Promise<Rest> {
  ready ??= (async () => {
    const cloud = await Cloud.start();
    cloud.apply(cloudWith());
    await cloud.ready(OpenStackControlPlane, 'minimal');
    await cloud.settle();
    return cloud.rest();
  })();
  return ready;
}
/** Its pods start anew with the story. */
async function withCloud(options = {}): Promise<Trouble> {
  const story = await Trouble.start(await readyCloud(), options);
  await story.cloud.settle();
  await story.mends(OpenStackControlPlane, 'minimal');
  return story;
}

/** The cloud itself says so too. */
async function seenAtTheTop(story: Trouble, words: string): Promise<void> {
  const top = () => story.cloud.condition(OpenStackControlPlane, 'minimal', 'NovaReady');
  await story.cloud.sim.within(600_000, () => top()?.status !== 'True' && top()?.message.includes(words) === true);
  expect(top()?.message).toContain(words);
}
const template = (cloud: Cloud, name: string) =>
  (cloud.get(StatefulSet, name)?.spec as AnyObject | undefined)?.template;

describe('a whole cloud', { timeout: 240_000 }, () => {
  beforeAll(() => readyCloud(), 240_000);

  it('of a release that nobody knows is refused at the door, with those that are known', async () => {
    const { cloud } = await withCloud();
    const wrong = () => cloud.apply(cloudWith({}, { release: '2024.2' }));
    expect(wrong).toThrow(/spec\.release.*2024\.2.*2025\.1.*2025\.2.*2026\.1/);
    const child = () => cloud.hands.patch(Nova, NS, 'nova', { spec: { release: 'latest' } });
    expect(child).toThrow(/spec\.release/);
  });

  it('two cells in one database', async () => {
    const story = await withCloud();
    const shared = { databaseSecret: 'mine' };
    story.cloud.apply(cloudWith({ cellTemplates: { ...cells, cell2: shared, cell3: shared } }));
    const words = [
      'spec.cellTemplates.cell3.databaseSecret and spec.cellTemplates.cell2.databaseSecret both name Secret mine',
      'User: give each cell its own',
    ];
    await story.tells(Nova, 'nova', 'InputReady', 'CellsShare', ...words);
    await story.tells(OpenStackControlPlane, 'minimal', 'NovaReady', 'CellsShare', 'Nova nova', ...words);
    expect(story.cloud.condition(NovaAPI, 'nova-api')?.status).toBe('True');
    story.cloud.apply(cloudWith());
    await story.mends(OpenStackControlPlane, 'minimal');
  });

  it('metadata both for all cells and by one', async () => {
    const story = await withCloud();
    const on = { metadataServiceTemplate: { enabled: true } };
    story.cloud.apply(cloudWith({ ...on, cellTemplates: { cell0: {}, cell1: { ...fake, ...on } } }));
    const words = [
      'spec.metadataServiceTemplate and spec.cellTemplates.cell1.metadataServiceTemplate are both enabled',
      'User: disable one',
    ];
    await story.tells(Nova, 'nova', 'InputReady', 'MetadataConflict', ...words);
    await story.tells(OpenStackControlPlane, 'minimal', 'NovaReady', 'MetadataConflict', 'Nova nova', ...words);
    story.cloud.apply(cloudWith());
    await story.mends(OpenStackControlPlane, 'minimal');
  });

  it('config of a part that is not INI: line and column, and the old pods run on', async () => {
    const story = await withCloud();
    const { cloud } = story;
    const before = template(cloud, 'nova-api');
    const text = '[DEFAULT]\ndebug = true\n[api\n';
    cloud.apply(cloudWith({ apiServiceTemplate: { customServiceConfig: text } }));
    const words = ['spec.customServiceConfig line 3, column', 'User: correct it', 'last valid text'];
    await story.tells(NovaAPI, 'nova-api', 'ConfigValid', 'InvalidConfig', ...words);
    await seenAtTheTop(story, 'NovaAPI nova-api');
    expect(template(cloud, 'nova-api')).toEqual(before);
    expect(cloud.get(Secret, 'nova-api-config-data')?.data).not.toHaveProperty('02-nova-override.conf');
    cloud.apply(cloudWith());
    await story.mends(OpenStackControlPlane, 'minimal');
  });

  it('an image that can not be pulled: the pods that ran keep running', async () => {
    const story = await withCloud();
    const { cloud } = story;
    cloud.apply(cloudWith({ schedulerServiceTemplate: { image: 'example.org/no-such:1' } }));
    const words = ['StatefulSet nova-scheduler', 'image example.org/no-such:1', 'User: correct the image name'];
    await story.tells(NovaScheduler, 'nova-scheduler', 'WorkloadsReady', 'ImagePullFailed', ...words);
    await seenAtTheTop(story, 'NovaScheduler nova-scheduler');
    cloud.apply(cloudWith());
    await story.mends(OpenStackControlPlane, 'minimal');
  });

  it("a cell's schema Job that fails: its last lines", async () => {
    let ill = true;
    const story = await withCloud({
      programs: (run: { pod: AnyObject }) =>
        ill && run.pod.metadata.name.startsWith('nova-cell2-conductor-db-sync')
          ? { after: 1000, exit: 1, message: "OperationalError: (1071, 'Specified key was too long')" }
          : undefined,
    });
    story.cloud.apply(cloudWith({ cellTemplates: { ...cells, cell2: {} } }));
    const words = ['Job nova-cell2-conductor-db-sync-', 'Specified key was too long', 'User: mend the cause', 'retry'];
    await story.tells(NovaConductor, 'nova-cell2-conductor', 'DatabaseSyncReady', 'JobFailed', ...words);
    expect(story.cloud.condition(NovaAPI, 'nova-api')?.status).toBe('True');
    ill = false;
    const retry = { metadata: { annotations: { 'openstack.k8s.io/retry': 'now' } } };
    story.cloud.hands.patch(NovaConductor, NS, 'nova-cell2-conductor', retry);
    await story.mends(OpenStackControlPlane, 'minimal');
  });

  it('no node labelled for guests: which label, and how to set it', async () => {
    const story = await withCloud();
    const { cloud } = story;
    const libvirt = { novaComputeTemplates: { libvirt: { computeDriver: 'libvirt' } } };
    cloud.apply(cloudWith({ cellTemplates: { cell0: {}, cell1: libvirt } }));
    const words = ['finds no node with label openstack.k8s.io/compute', 'User: label one: kubectl label node'];
    await story.waits(NovaCompute, 'nova-cell1-libvirt', 'WorkloadsReady', 'NoNodes', 'DaemonSet', ...words);
    await seenAtTheTop(story, 'NovaCompute nova-cell1-libvirt');
    const [node] = cloud.hands.list(Node, '');
    const labels = { 'openstack.k8s.io/compute': '' };
    cloud.hands.patch(Node, '', node!.metadata.name, { metadata: { labels } });
    await story.mends(OpenStackControlPlane, 'minimal');
  });

  it('a hand-made Secret that lacks a key, and one that is deleted in use', async () => {
    const story = await withCloud();
    const { cloud } = story;
    const copy = (from: string, name: string, without?: string) => {
      const data = { ...(cloud.get(Secret, from)?.data as Record<string, string>) };
      if (without) delete data[without];
      return { apiVersion: 'v1', kind: 'Secret', metadata: { name }, data };
    };
    const names = {
      'nova-api-database': 'hand-api',
      'nova-cell0-database': 'hand-cell',
      'nova-message-bus': 'hand-bus',
    };
    for (const [from, name] of Object.entries(names)) cloud.apply(copy(from, name));
    cloud.apply(copy('nova-keystone', 'hand-user'));
    const spec = {
      apiDatabaseSecret: 'hand-api',
      cellDatabaseSecret: 'hand-cell',
      messageBusSecret: 'hand-bus',
      keystoneSecret: 'hand-user',
    };
    cloud.apply(copy('nova-api-database', 'hand-api', 'password'));
    cloud.apply({ apiVersion: 'nova.openstack.org/v1beta1', kind: 'NovaScheduler', metadata: { name: 'hand' }, spec });
    const lacks = ['Secret hand-api', 'spec.apiDatabaseSecret', 'has no key password', 'User: add password to it'];
    await story.tells(NovaScheduler, 'hand', 'DatabaseReady', 'SecretIncomplete', ...lacks);
    cloud.apply(copy('nova-api-database', 'hand-api'));
    await story.mends(NovaScheduler, 'hand');

    const pod = cloud.get(Pod, 'hand-scheduler-0')?.metadata.uid;
    expect(pod).toBeDefined();
    cloud.hands.remove(Secret, NS, 'hand-bus');
    const gone = ['Secret hand-bus', 'spec.messageBusSecret', 'does not exist', 'User: create it'];
    await story.tells(NovaScheduler, 'hand', 'MessageBusReady', 'SecretNotFound', ...gone);
    expect(cloud.get(Pod, 'hand-scheduler-0')?.metadata.uid).toBe(pod);
    cloud.apply(copy('nova-message-bus', 'hand-bus'));
    await story.mends(NovaScheduler, 'hand');
    expect(cloud.get(Pod, 'hand-scheduler-0')?.metadata.uid).toBe(pod);

    cloud.apply({ ...copy('nova-message-bus', 'hand-bus'), stringData: { 'ca.crt': 'a certificate' } });
    const tls = ['Secret hand-bus', 'spec.messageBusSecret', 'ca.crt holds no certificate', 'or remove ca.crt'];
    await story.tells(NovaScheduler, 'hand', 'MessageBusReady', 'CertificateInvalid', ...tls);
    expect(cloud.get(Pod, 'hand-scheduler-0')?.metadata.uid).toBe(pod);
  });

  it('a second control plane beside it', async () => {
    const story = await withCloud();
    story.cloud.apply(
      { ...cloudWith(), metadata: { name: 'twin' } },
      secret('any', { password: 'long enough to see' }),
    );
    const words = ['OpenStackControlPlane minimal is in this namespace already', 'User: delete one of the two'];
    await story.tells(OpenStackControlPlane, 'twin', 'InputReady', 'AnotherControlPlane', ...words);
    await story.mends(OpenStackControlPlane, 'minimal');
  });
});
