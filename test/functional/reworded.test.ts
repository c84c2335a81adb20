import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { NovaAPI } from '../../api/nova/api.ts';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { Keystone } from '../../api/openstack/keystone.ts';
import { MariaDB } from '../../api/openstack/mariadb.ts';
import { commandOf, type Run } from '../../src/embedded/controllers/program.ts';
import { type View, viewOf } from '../../src/insight/view/view.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { Cloud, type CloudOptions, NS, type Rest } from './cloud.ts';
import { inOtherWords, type Speech, sameBut } from './reworded.ts';
import { sqlOf } from './services.ts';
import { ours } from './stories.ts';

/*
 * Whole clouds with an operator whose texts are random: phases, cells, conditions, parents and `why` must go by fields. The
 * slice's troubles are run in this way in why.test.ts, and those of a stranger in why-stranger.test.ts.
 */

const sample = parse(readFileSync('config/samples/controlplane_minimal.yaml', 'utf8')) as AnyObject & { spec: object };
const fake = { novaComputeTemplates: { fake: { computeDriver: 'fake' } } };
const cells = { cell0: {}, cell1: fake };
const cloudWith = (nova: object = {}, more: object = {}): AnyObject => ({
  ...sample,
  spec: { ...sample.spec, nova: { cellTemplates: cells, ...nova }, ...more },
});

const ready = new Map<Speech, Promise<Rest>>();
/** One for each: texts that it has kept would be written once more, and that write would move all that follows. */
const readyCloud = (speech: Speech): Promise<Rest> => {
  const made = async (): Promise<Rest> => {
    const cloud = await Cloud.start();
    cloud.apply(cloudWith());
    await cloud.ready(OpenStackControlPlane, 'minimal');
    await cloud.settle();
    return cloud.rest();
  };
  const cloud = ready.get(speech) ?? made();
  ready.set(speech, cloud);
  return cloud;
};

const view = (cloud: Cloud): View => viewOf(cloud.store.objects(), cloud.sim.clock.wall());

/** What is to be seen after these seconds. */
async function looks(cloud: Cloud, seconds: readonly number[]): Promise<readonly View[]> {
  const seen: View[] = [];
  let now = 0;
  for (const at of seconds) {
    await cloud.sim.run((at - now) * 1000);
    now = at;
    seen.push(view(cloud));
  }
  return seen;
}

interface Story {
  readonly what: string;
  readonly options?: CloudOptions;
  readonly act: (cloud: Cloud) => void | Promise<void>;
}

const failing = (job: string): CloudOptions => ({
  programs: (run: Run) =>
    run.pod.metadata.name.startsWith(job) ? { after: 1000, exit: 1, message: 'Specified key was too long' } : undefined,
});
const applied =
  (nova: object, more: object = {}) =>
  (cloud: Cloud) =>
    cloud.apply(cloudWith(nova, more));
const withCells = (more: object): object => ({ cellTemplates: { ...cells, ...more } });

/** Each done to a cloud that is Ready. */
const STORIES: readonly Story[] = [
  {
    what: 'two cells in one database',
    act: applied(withCells({ cell2: { databaseSecret: 'a' }, cell3: { databaseSecret: 'a' } })),
  },
  {
    what: 'metadata both for all cells and by one',
    act: applied({
      metadataServiceTemplate: { enabled: true },
      ...withCells({ cell1: { ...fake, metadataServiceTemplate: { enabled: true } } }),
    }),
  },
  { what: 'config of a part that is not INI', act: applied({ apiServiceTemplate: { customServiceConfig: '[api\n' } }) },
  { what: 'an image of a part', act: applied({ schedulerServiceTemplate: { image: 'example.org/no-such:1' } }) },
  {
    what: "a cell's schema Job that fails",
    options: failing('nova-cell2-conductor-db-sync'),
    act: applied(withCells({ cell2: {} })),
  },
  {
    what: 'two cells that fail in different ways',
    options: failing('nova-cell2-conductor-db-sync'),
    act: applied(withCells({ cell2: {}, cell3: { databaseInstance: 'nowhere' } })),
  },
  {
    what: 'no node for guests',
    act: applied(withCells({ cell1: { novaComputeTemplates: { libvirt: { computeDriver: 'libvirt' } } } })),
  },
  { what: 'a second control plane', act: cloud => cloud.apply({ ...cloudWith(), metadata: { name: 'twin' } }) },
  { what: 'a service that others use is switched off', act: applied({}, { glance: { enabled: false } }) },
  { what: 'a database in use is deleted', act: cloud => cloud.hands.remove(MariaDB, NS, 'mariadb') },
  {
    what: 'a cloud is deleted, and something holds a part of it',
    act: cloud => {
      cloud.hands.patch(Keystone, NS, 'keystone', { metadata: { finalizers: ['example.org/hold'] } });
      cloud.hands.remove(OpenStackControlPlane, NS, 'minimal');
    },
  },
  {
    what: 'a paused part, and a change above it',
    act: async cloud => {
      cloud.hands.patch(Keystone, NS, 'keystone', { metadata: { annotations: { 'openstack.k8s.io/paused': 'true' } } });
      await cloud.sim.run(5_000);
      cloud.apply(cloudWith({}, { keystone: { replicas: 2 } }));
    },
  },
  {
    what: 'a conductor that does not report',
    act: cloud => {
      sqlOf(cloud).databases.nova_cell1!.services!['nova-conductor nova-cell1-conductor-0']!.state = 'down';
    },
  },
  {
    what: "a cell's own database that crashes",
    options: {
      programs: run =>
        run.pod.metadata.name === 'celldb-0' && /mariadbd|mysqld/.test(commandOf(run))
          ? { exit: 1, message: '[ERROR] Plugin InnoDB init function returned error', after: 1_000 }
          : undefined,
    },
    act: cloud =>
      cloud.apply(ours('MariaDB', 'celldb'), cloudWith(withCells({ cell2: { databaseInstance: 'celldb' } }))),
  },
];

describe('with random words for every text of the operator', { timeout: 240_000 }, () => {
  it.each(STORIES.map(story => [story.what, story] as const))('%s', async (_what, { options, act }) => {
    const [plain, other] = await inOtherWords(async speech => {
      const cloud = await Cloud.start({ ...options, from: await readyCloud(speech), seed: 2 });
      await cloud.settle();
      await act(cloud);
      return looks(cloud, [10, 60, 1500]);
    });
    for (const [index, seen] of plain.entries()) sameBut(seen, other[index]!);
  });

  it.each(['graph', 'strict'])('a new cloud, rollout %s: the same at every moment', async rollout => {
    const [plain, other] = await inOtherWords(async () => {
      const cloud = await Cloud.start();
      cloud.apply(cloudWith({}, { rollout }));
      return looks(cloud, [2, 5, 10, 15, 20, 30, 40, 50, 60, 80, 100, 120, 150, 200, 300, 600]);
    });
    for (const [index, seen] of plain.entries()) sameBut(seen, other[index]!);
    const top = other.at(-1)!.ours.find(object => object.kind === OpenStackControlPlane.kind);
    expect(top?.status).toMatchObject({ phase: 'Ready' });
  });

  it('a new cloud with a cell that a person must mend starts its API with the others', async () => {
    const [plain, other] = await inOtherWords(async () => {
      const cloud = await Cloud.start(failing('nova-cell2-conductor-db-sync'));
      cloud.apply(cloudWith(withCells({ cell2: {} })));
      const seen = await looks(cloud, [30, 60, 90, 120, 200, 400, 1500]);
      expect(cloud.condition(NovaAPI, 'nova-api')?.status).toBe('True');
      return seen;
    }, 'blank');
    for (const [index, seen] of plain.entries()) sameBut(seen, other[index]!);
  });
});
