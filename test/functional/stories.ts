import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { parse } from 'yaml';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { Keystone } from '../../api/openstack/keystone.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { Event, type Resource, Secret } from '../../src/kube/resource.ts';
import type { Fields, Log } from '../../src/world/log.ts';
import { Cloud, type CloudOptions, NS, type Rest } from './cloud.ts';

const sample = parse(readFileSync('config/samples/controlplane_slice.yaml', 'utf8')) as AnyObject & { spec: object };

export const slice = (spec: object = {}, name = 'slice') => ({
  ...sample,
  metadata: { name },
  spec: { ...sample.spec, ...spec },
});
export const ours = (kind: string, name: string, spec: object = {}, metadata: object = {}) => ({
  apiVersion: 'openstack.k8s.io/v1alpha1',
  kind,
  metadata: { name, ...metadata },
  spec,
});

const HOUR = 3_600_000;

/** A story about something that goes wrong: what the objects, the events and the log say about it. */
export class Trouble {
  readonly cloud: Cloud;
  readonly #log: readonly string[];

  private constructor(cloud: Cloud, log: readonly string[]) {
    this.cloud = cloud;
    this.#log = log;
  }

  static async start(from?: Rest, options: CloudOptions = {}): Promise<Trouble> {
    const lines: string[] = [];
    const cloud = await Cloud.start({ ...options, ...(from && { from, seed: 2 }), operator: { log: listener(lines) } });
    return new Trouble(cloud, lines);
  }

  /** The condition alone: what comes by itself makes no event. */
  async waits(resource: Resource, name: string, type: string, reason: string, ...words: string[]): Promise<void> {
    const { cloud } = this;
    const now = () => cloud.condition(resource, name, type);
    await cloud.sim.within(HOUR, () => now()?.reason === reason && words.every(word => now()?.message.includes(word)));
    const condition = now();
    expect(condition).toMatchObject({ type, reason });
    for (const word of words) expect(condition?.message).toContain(word);
    if (type !== 'Paused') expect(cloud.condition(resource, name)?.status).not.toBe('True');
  }

  /** The condition that tells of it: reason, and every one of these words in its message; the same in an event. */
  async tells(resource: Resource, name: string, type: string, reason: string, ...words: string[]): Promise<void> {
    await this.waits(resource, name, type, reason, ...words);
    const { cloud } = this;
    const told = () =>
      cloud.hands
        .list(Event, NS)
        .map(event => event as AnyObject & { regarding: { kind: string; name: string }; reason: string; note: string })
        .filter(e => e.regarding.kind === resource.kind && e.regarding.name === name)
        .filter(e => (type === 'Paused' ? e.reason === 'Paused' : e.reason === reason));
    await cloud.sim.within(60_000, () => told().length > 0);
    expect(told().map(e => e.reason)).not.toEqual([]);
    for (const word of words)
      expect(
        told()
          .map(e => e.note)
          .join('\n'),
      ).toContain(word);
  }

  /** Nothing is written in an hour, and little is asked: a look a minute at most for each object that waits. */
  async rests(): Promise<void> {
    const { cloud } = this;
    // What is on its way may come to an end first, and every object look at its backends once (rule 13).
    await cloud.sim.run(900_000);
    const start = cloud.sim.journal.length;
    const mutations = cloud.backends.mutations();
    await cloud.sim.run(HOUR);
    const sent = cloud.sim.journal
      .slice(start)
      .filter(line => /operator\S* (GET|PATCH|POST|PUT|DELETE) .* commit$/.test(line));
    expect(sent.filter(line => !/ GET /.test(line) && !/\/(events|leases)/.test(line))).toEqual([]);
    expect(sent.filter(line => / GET /.test(line) && !/watch/.test(line)).length).toBeLessThan(300);
    expect(cloud.backends.mutations()).toBe(mutations);
  }

  async mends(resource: Resource, name: string): Promise<void> {
    const { cloud } = this;
    const ready = () => cloud.condition(resource, name)?.status === 'True' && current(cloud.get(resource, name));
    await cloud.sim.within(HOUR, ready);
    expect(cloud.condition(resource, name)).toMatchObject({ status: 'True' });
    this.keepsSecrets();
  }

  /** No secret value anywhere but in Secrets: not in a condition, an event, a pod or the log. */
  keepsSecrets(): void {
    const objects = this.cloud.store.objects();
    const values = objects.filter(o => o.kind === Secret.kind).flatMap(secretValues);
    expect(values.length).toBeGreaterThan(0);
    const open = objects.filter(o => o.kind !== Secret.kind).map(o => JSON.stringify(o));
    for (const value of values) expect([...open, ...this.#log].filter(text => text.includes(value))).toEqual([]);
  }
}

const current = (object: AnyObject | undefined): boolean =>
  (object?.status as { observedGeneration?: number } | undefined)?.observedGeneration === object?.metadata.generation;

/** Values that open something: whole config files are text that no message repeats, their passwords are here already. */
const secretValues = (object: AnyObject): string[] =>
  Object.entries((object.data ?? {}) as Record<string, string>)
    .filter(
      ([key]) =>
        !/^(user|hostname|database|vhost|port|url|project|region)$|\.(conf|cnf|ini|json|yaml|sql)$|plugins$/.test(key),
    )
    .map(([, value]) => Buffer.from(value, 'base64').toString())
    // Shorter ones (the hash of a cell's mapping) are in every text by chance; what we generate has 32.
    .filter(value => value.length > 8);

/** Every line as it would be before the real log masks it: masking is the second line of defence. */
function listener(lines: string[], fixed: Fields = {}): Log {
  const write = (text: string, fields: Fields = {}): void =>
    void lines.push(`${text} ${plain({ ...fixed, ...fields })}`);
  return {
    debug: write,
    info: write,
    warn: write,
    error: write,
    child: more => listener(lines, { ...fixed, ...more }),
  };
}

const plain = (value: unknown): string =>
  JSON.stringify(value, (_, v: unknown) =>
    v instanceof Error ? { ...v, message: v.message, stack: v.stack, cause: v.cause } : v,
  );

let readySlice: Promise<Rest> | undefined;
let readyParts: Promise<Rest> | undefined;

async function restOf(act: (cloud: Cloud) => Promise<void>): Promise<Rest> {
  const cloud = await Cloud.start();
  await act(cloud);
  await cloud.settle();
  return cloud.rest();
}

/** A slice that is Ready, made once per worker. */
export async function withSlice(options: CloudOptions = {}): Promise<Trouble> {
  readySlice ??= restOf(async cloud => {
    cloud.apply(slice());
    await cloud.ready(OpenStackControlPlane, 'slice');
  });
  return Trouble.start(await readySlice, options);
}

/** MariaDB, Memcached and Keystone without a control plane above them. */
export async function withParts(): Promise<Trouble> {
  readyParts ??= restOf(async cloud => {
    cloud.apply(ours('MariaDB', 'mariadb'), ours('Memcached', 'memcached'), ours('Keystone', 'keystone'));
    await cloud.ready(Keystone, 'keystone');
  });
  return Trouble.start(await readyParts);
}
