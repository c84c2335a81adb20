import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Sim } from '../../embedded/sim/sim.ts';
import { createStore, type Store } from '../../embedded/store/store.ts';
import type { AnyObject } from '../../kube/object.ts';
import { ConfigMap, Deployment, pathOf, type Resource, Service } from '../../kube/resource.ts';
import { canonical } from './canonical.ts';
import { applied } from './match.ts';

const MANAGER = 'openstack-operator';

function server(): Store {
  const { clock, random } = new Sim(1);
  return createStore({ clock, random });
}

/** What the API server holds after an apply, managedFields as it writes them. */
function apply(store: Store, resource: Resource, body: AnyObject, manager = MANAGER): AnyObject {
  const answer = store.handle({
    method: 'PATCH',
    path: pathOf(resource, 'default', body.metadata.name),
    query: { fieldManager: manager, force: 'true' },
    contentType: 'application/apply-patch+yaml',
    body,
  });
  if (answer.status >= 300) throw new Error(JSON.stringify(answer.body));
  return answer.body as AnyObject;
}

const key = fc.stringMatching(/^[a-z]{1,6}$/);
const text = fc.stringMatching(/^[a-z0-9=,]{1,8}$/);
const env = fc.uniqueArray(fc.record({ name: key, value: text }), { selector: e => e.name, maxLength: 4 });
const port = fc.record({ name: key, containerPort: fc.integer({ min: 1, max: 65_535 }), protocol: fc.constant('TCP') });
const container = fc.record(
  {
    name: key,
    image: text,
    command: fc.array(text, { minLength: 1, maxLength: 3 }),
    env,
    ports: fc.uniqueArray(port, { selector: p => p.containerPort, maxLength: 2 }).map(ports => ports.slice(0, 1)),
    volumeMounts: fc.uniqueArray(fc.record({ name: fc.constant('v'), mountPath: text.map(t => `/${t}`) }), {
      selector: m => m.mountPath,
      maxLength: 3,
    }),
  },
  { requiredKeys: ['name', 'image'] },
);
const labels = fc.dictionary(key, key, { maxKeys: 3 });
const deployment = fc
  .record({
    replicas: fc.integer({ min: 0, max: 5 }),
    labels,
    annotations: labels,
    containers: fc.uniqueArray(container, { selector: c => c.name, minLength: 1, maxLength: 3 }),
  })
  .map(
    d =>
      canonical({
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'x', namespace: 'default', labels: d.labels, annotations: d.annotations },
        spec: {
          replicas: d.replicas,
          selector: { matchLabels: { app: 'x' } },
          template: {
            metadata: { labels: { app: 'x' } },
            spec: { containers: d.containers, volumes: [{ name: 'v', emptyDir: {} }] },
          },
        },
      }) as AnyObject,
  );

type Path = (string | number)[];

/** Every value of a body that a row may change; names and the selector are not among them. */
function leaves(value: unknown, path: Path = []): Path[] {
  if (value === null || typeof value !== 'object') return [path];
  return Object.entries(value).flatMap(([name, child]) =>
    leaves(child, [...path, Array.isArray(value) ? Number(name) : name]),
  );
}

function change(body: AnyObject, path: Path, to: (old: unknown) => unknown): AnyObject {
  const copy = structuredClone(body);
  let at = copy as unknown as Record<string | number, unknown>;
  for (const step of path.slice(0, -1)) at = at[step] as typeof at;
  const last = path.at(-1)!;
  at[last] = to(at[last]);
  return copy;
}

const free = (path: Path): boolean =>
  !['apiVersion', 'kind'].includes(`${path[0]}`) &&
  !(path[0] === 'metadata' && (path[1] === 'name' || path[1] === 'namespace')) &&
  !path.includes('selector');
const other = (old: unknown): unknown => (typeof old === 'number' ? old + 1 : `${old}z`);

describe('applied', () => {
  it('67: after an apply the same body would change nothing; any other body would', () => {
    fc.assert(
      fc.property(deployment, fc.nat(), (body, pick) => {
        const live = apply(server(), Deployment, body);
        expect(applied(body, live, MANAGER)).toBe(true);
        const paths = leaves(body).filter(free);
        const path = paths[pick % paths.length]!;
        expect(applied(change(body, path, other), live, MANAGER), path.join('.')).toBe(false);
      }),
      { numRuns: 60 },
    );
  });

  it('67: a field that the body no longer has, or has more, is a difference', () => {
    fc.assert(
      fc.property(deployment, fc.constantFrom('labels', 'annotations'), (body, field) => {
        const live = apply(server(), Deployment, body);
        const map = (body.metadata[field as 'labels'] ?? {}) as Record<string, string>;
        const more = { ...body, metadata: { ...body.metadata, [field]: { ...map, zzz: '1' } } };
        expect(applied(more, live, MANAGER)).toBe(false);
        const [first] = Object.keys(map);
        if (first === undefined) return;
        const { [first]: _gone, ...rest } = map;
        expect(applied({ ...body, metadata: { ...body.metadata, [field]: rest } }, live, MANAGER)).toBe(false);
      }),
      { numRuns: 40 },
    );
  });

  const map: AnyObject = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'm', namespace: 'default', labels: { a: '1' } },
    data: { one: '1' },
  };

  it('77: fields of others are ignored, ours changed by others are not', () => {
    const store = server();
    apply(store, ConfigMap, map);
    const theirs = { ...map, metadata: { name: 'm', namespace: 'default', labels: { b: '2' } }, data: { two: '2' } };
    expect(applied(map, apply(store, ConfigMap, theirs, 'kubectl'), MANAGER)).toBe(true);
    const live = apply(store, ConfigMap, { ...theirs, data: { one: 'changed' } }, 'kubectl');
    expect(applied(map, live, MANAGER)).toBe(false);
  });

  it('78: what the server adds by default is no difference', () => {
    const body: AnyObject = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 's', namespace: 'default' },
      spec: { selector: { app: 'x' }, ports: [{ name: 'http', port: 80 }] },
    };
    const live = apply(server(), Service, body);
    expect((live.spec as { ports: { protocol: string }[] }).ports[0]?.protocol).toBe('TCP');
    expect(applied(body, live, MANAGER)).toBe(true);
  });

  it('an empty map is something in a custom resource, and nothing in a built-in one or in metadata', () => {
    const thing = (cells: object): AnyObject => ({
      apiVersion: 'example.org/v1',
      kind: 'Thing',
      metadata: { name: 'x', namespace: 'default', labels: { a: '1' }, annotations: {} },
      spec: { cells },
    });
    const fieldsV1 = { 'f:metadata': { 'f:labels': { 'f:a': {} } }, 'f:spec': { 'f:cells': { 'f:one': {} } } };
    const entry = {
      manager: MANAGER,
      operation: 'Apply',
      apiVersion: 'example.org/v1',
      fieldsType: 'FieldsV1',
      fieldsV1,
    };
    const { annotations: _, ...metadata } = thing({}).metadata;
    const live = { ...thing({ one: {} }), metadata: { ...metadata, managedFields: [entry] } } as AnyObject;
    expect(applied(thing({ one: {} }), live, MANAGER)).toBe(true);
    expect(applied(thing({ one: {}, two: {} }), live, MANAGER)).toBe(false);
    const body = { ...map, binaryData: {} };
    expect(applied(body, apply(server(), ConfigMap, body), MANAGER)).toBe(true);
  });

  it('79: without an apply of ours it is a difference, equal or not', () => {
    const store = server();
    const live = apply(store, ConfigMap, map, 'kubectl');
    expect(applied(map, live, MANAGER)).toBe(false);
    const { managedFields: _gone, ...metadata } = live.metadata;
    expect(applied(map, { ...live, metadata }, MANAGER)).toBe(false);
  });

  it('the order of containers counts', () => {
    const [a, b] = ['a', 'b'].map(name => ({ name, image: 'i' }));
    const body = (containers: unknown[]): AnyObject => ({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'x', namespace: 'default' },
      spec: {
        selector: { matchLabels: { app: 'x' } },
        template: { metadata: { labels: { app: 'x' } }, spec: { containers } },
      },
    });
    const live = apply(server(), Deployment, body([a, b]));
    expect(applied(body([a, b]), live, MANAGER)).toBe(true);
    expect(applied(body([b, a]), live, MANAGER)).toBe(false);
  });
});
