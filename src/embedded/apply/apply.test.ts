import { describe, expect, it } from 'vitest';
import { canonical, ours } from '../../../test/conformance/fuzz/compare.ts';
import type { Answer, Request } from '../../../test/conformance/fuzz/oracle.ts';
import type { AnyObject } from '../../kube/object.ts';
import { applyPatch, keepTimes, resetFieldsOf, resetFieldsOfCustom, trackUpdate } from './apply.ts';
import cases from './cases.json' with { type: 'json' };
import { typeOfBuiltin, typeOfCrd } from './types.ts';

const configMap = typeOfBuiltin('v1', 'ConfigMap')!;
const deployment = typeOfBuiltin('apps/v1', 'Deployment')!;
const config = (data: Record<string, string>): AnyObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'settings', namespace: 'cloud' },
  data,
});

interface Options {
  force?: boolean;
  time?: string;
  type?: typeof configMap;
}
const tried = (live: AnyObject | undefined, patch: AnyObject, manager: string, o: Options = {}) =>
  applyPatch({
    live,
    patch,
    manager,
    force: o.force ?? false,
    type: o.type ?? configMap,
    time: o.time ?? '2026-01-01T00:00:00Z',
  });
const applied = (...args: Parameters<typeof tried>): AnyObject => {
  const result = tried(...args);
  if ('failure' in result) throw new Error(result.failure.message);
  return result.object;
};
const stored = (object: AnyObject): AnyObject => ({ ...object, metadata: { ...object.metadata, uid: 'u' } });
const owners = (object: AnyObject): unknown[] =>
  (object.metadata.managedFields ?? []).map(e => [e.manager, e.operation, e.fieldsV1]);

describe("upstream's own answers, recorded (test/conformance/fuzz/main.ts --record)", () => {
  const recorded = cases as unknown as { request: Request; answer: Answer }[];
  it('are many', () => expect(recorded.length).toBeGreaterThan(150));
  for (const [i, { request, answer }] of recorded.entries()) {
    it(`${i}: ${request.op} ${request.kind} ${request.subresource}`, () => {
      expect(canonical(ours(request))).toBe(canonical(answer));
    });
  }
});

describe('apply', () => {
  it('drops what a manager stops applying, and nothing of others', () => {
    let live = stored(applied(undefined, config({ a: '1', b: '2' }), 'ours'));
    live = applied(live, config({ c: '3' }), 'theirs');
    live = applied(live, config({ a: '1' }), 'ours');
    expect(live.data).toEqual({ a: '1', c: '3' });
  });

  it('names the owner and the field of a conflict, and takes them by force', () => {
    const live = stored(applied(undefined, config({ a: '1' }), 'ours'));
    expect(tried(live, config({ a: '2' }), 'theirs')).toEqual({
      failure: {
        code: 409,
        reason: 'Conflict',
        message: 'Apply failed with 1 conflict: conflict with "ours": .data.a',
        causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "ours"', field: '.data.a' }],
      },
    });
    expect(owners(applied(live, config({ a: '2' }), 'theirs', { force: true }))).toEqual([
      ['theirs', 'Apply', { 'f:data': { 'f:a': {} } }],
    ]);
  });

  it('gives what existed before the first apply to before-first-apply', () => {
    const live = stored(config({ a: '1' }));
    expect(owners(applied(live, config({ b: '2' }), 'ours'))).toEqual([
      ['ours', 'Apply', { 'f:data': { 'f:b': {} } }],
      ['before-first-apply', 'Update', { 'f:data': { '.': {}, 'f:a': {} } }],
    ]);
  });

  it('completes list keys with their defaults: a port without protocol is the TCP one', () => {
    const pod = (ports: object[]): AnyObject => ({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'api' },
      spec: { template: { spec: { containers: [{ name: 'api', ports }] } } },
    });
    const live = stored(applied(undefined, pod([{ containerPort: 80, name: 'a' }]), 'x', { type: deployment }));
    const next = applied(live, pod([{ containerPort: 80, protocol: 'TCP', name: 'a' }]), 'y', { type: deployment });
    expect(next.spec).toMatchObject({
      template: { spec: { containers: [{ ports: [{ containerPort: 80, protocol: 'TCP', name: 'a' }] }] } },
    });
  });

  // The expected values of the next three are upstream's.
  const noted = (metadata: object, data: Record<string, string> = {}): AnyObject => {
    const object = config(data);
    return { ...object, metadata: { ...object.metadata, ...metadata } };
  };

  it('puts shared items of a list in the order of the patch and keeps the others near their place', () => {
    const live = stored(noted({ finalizers: ['a', 'b', 'c', 'd'] }));
    expect(applied(live, noted({ finalizers: ['d', 'x', 'b'] }), 'm').metadata.finalizers).toEqual([
      'a',
      'c',
      'd',
      'x',
      'b',
    ]);
  });

  it('replaces items that are there twice instead of merging with them', () => {
    const pods = (...containers: object[]): AnyObject => ({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'api' },
      spec: { template: { spec: { containers } } },
    });
    const live = stored(pods({ name: 'a', image: '1' }, { name: 'b' }, { name: 'a', image: '2' }));
    const next = applied(live, pods({ name: 'a', tty: true }), 'm', { force: true, type: deployment });
    expect(next.spec).toEqual(pods({ name: 'a', tty: true }, { name: 'b' }).spec);
  });

  it('lets kubectl take what it had applied from the client, and nothing else', () => {
    const name = 'kubectl.kubernetes.io/last-applied-configuration';
    const live = stored(noted({ annotations: { [name]: JSON.stringify(config({ a: '1' })) } }, { a: '1', b: '2' }));
    const next = applied(live, config({ a: '9' }), 'kubectl');
    expect(next.data).toEqual({ a: '9', b: '2' });
    expect(next.metadata.annotations?.[name]).toBe(
      '{"apiVersion":"v1","data":{"a":"9"},"kind":"ConfigMap","metadata":{"name":"settings","namespace":"cloud"}}\n',
    );
    expect(tried(live, config({ a: '9', b: '9' }), 'kubectl')).toMatchObject({
      failure: { message: 'Apply failed with 1 conflict: conflict with "before-first-apply" using v1: .data.b' },
    });
  });

  it('refuses bodies that do not fit, as the field manager words it', () => {
    const message = (patch: AnyObject, expected?: { apiVersion: string; kind: string }): string => {
      const all = { live: undefined, manager: 'm', force: false, type: configMap, time: '2026-01-01T00:00:00Z' };
      const result = applyPatch({ ...all, patch, ...(expected ? { expected } : {}) });
      return 'failure' in result ? `${result.failure.code} ${result.failure.message}` : 'no failure';
    };
    const where = '(cloud/settings; /v1, Kind=ConfigMap)';
    expect(message({ ...config({}), spec: 1 })).toBe(
      `500 failed to create typed patch object ${where}: .spec: field not declared in schema`,
    );
    expect(message({ ...config({}), data: { a: 1 } })).toBe(
      `500 failed to create typed patch object ${where}: .data.a: expected string, got &value.valueUnstructured{Value:1}`,
    );
    const twice = config({});
    twice.metadata.finalizers = ['x', 'x'];
    expect(message(twice)).toBe(
      `500 failed to create typed patch object ${where}: .metadata.finalizers: duplicate entries for key [="x"]`,
    );
    expect(message(config({}), { apiVersion: 'v1', kind: 'Secret' })).toBe(
      '400 invalid object type: /v1, Kind=ConfigMap',
    );
  });
});

describe('keepTimes', () => {
  it('makes an apply that changes nothing leave nothing to store', () => {
    const live = stored(applied(undefined, config({ a: '1' }), 'ours'));
    const again = applied(live, config({ a: '1' }), 'ours', { time: '2026-01-01T01:00:00Z' });
    expect(keepTimes(live, again)).toEqual(live);
  });

  it('keeps new times when something else changed', () => {
    const live = stored(applied(undefined, config({ a: '1' }), 'ours'));
    const next = applied(live, config({ a: '2' }), 'ours', { time: '2026-01-01T01:00:00Z' });
    expect(keepTimes(live, next).metadata.managedFields?.[0]?.time).toBe('2026-01-01T01:00:00Z');
  });
});

describe('trackUpdate', () => {
  const update = (before: AnyObject | undefined, after: AnyObject, manager: string, time: string): AnyObject =>
    trackUpdate({ before, after, manager, type: configMap, time });

  it('forgets ownership when a client sends an empty list of it', () => {
    const live = stored(applied(undefined, config({ a: '1' }), 'ours'));
    const after = { ...live, metadata: { ...live.metadata, managedFields: [] } };
    expect(update(live, after, 'kubectl-edit', '2026-01-01T00:00:01Z').metadata.managedFields).toBeUndefined();
  });

  it('merges the oldest of more than ten updaters into ancient-changes', () => {
    let live = stored(update(undefined, config({}), 'u0', '2026-01-01T00:00:00Z'));
    for (let i = 1; i <= 12; i++) {
      const after = { ...live, data: { ...(live.data as object), [`k${i}`]: 'v' } };
      live = update(live, after, `u${i}`, `2026-01-01T00:00:${String(i).padStart(2, '0')}Z`);
    }
    const names = live.metadata.managedFields?.map(e => e.manager);
    expect(names).toHaveLength(10);
    expect(names?.[0]).toBe('ancient-changes');
  });

  it('never gives status to a writer of the main resource', () => {
    const type = typeOfCrd({
      type: 'object',
      properties: {
        spec: { type: 'object' },
        status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      },
    });
    const after: AnyObject = {
      apiVersion: 'x.org/v1',
      kind: 'X',
      metadata: { name: 'x' },
      spec: { a: 1 },
      status: { b: 1 },
    };
    const resetFields = resetFieldsOfCustom('', true);
    const object = trackUpdate({
      before: undefined,
      after,
      manager: 'm',
      type,
      time: '2026-01-01T00:00:00Z',
      resetFields,
    });
    expect(owners(object)).toEqual([['m', 'Update', { 'f:spec': { '.': {}, 'f:a': {} } }]]);
    expect(resetFieldsOf('apps/v1', 'Deployment', 'status')).toEqual([['spec'], ['metadata', 'labels']]);
    expect(resetFieldsOf('v1', 'ConfigMap', '')).toEqual([]);
  });
});
