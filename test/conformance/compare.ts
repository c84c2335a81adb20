import type { Response, WatchEvent } from '../../src/kube/transport.ts';

/** What two servers may answer differently: identities, versions, times and addresses. The rest must be equal. */

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

export function normaliseResponse(response: Response): unknown {
  const warning = response.headers.warning;
  return {
    status: response.status,
    ...(warning === undefined ? {} : { warning: warning.split(/, (?=299 )/).sort() }),
    body: normalise(withoutGenerated(response.body), []),
  };
}

/** When an ordinary bookmark comes is the server's affair; the one that ends the initial events is not. */
const isOrdinary = (e: WatchEvent) =>
  e.type === 'BOOKMARK' && !JSON.stringify(e.object).includes('k8s.io/initial-events-end');

export const normaliseEvents = (events: readonly WatchEvent[]): unknown =>
  events.filter(e => !isOrdinary(e)).map(e => ({ type: e.type, object: normalise(e.object, []) }));

/** The five letters that the server added to a generateName, wherever they stand. */
function withoutGenerated(body: unknown): unknown {
  const text = JSON.stringify(body) ?? 'null';
  const prefixes = [...new Set([...text.matchAll(/"generateName":"([^"]+)"/g)].map(m => m[1]!))];
  return JSON.parse(
    prefixes.reduce((t, p) => t.replaceAll(new RegExp(`"${p}[a-z0-9]{5}"`, 'g'), `"${p}<generated>"`), text),
  );
}

function normalise(value: unknown, path: readonly string[]): unknown {
  const key = path.at(-1) ?? '';
  if (typeof value === 'string') return text(value, key);
  if (typeof value === 'number') return key === 'nodePort' ? '<port>' : value;
  if (Array.isArray(value)) {
    const list = value.map(item => normalise(item, path));
    // Go iterates maps at random, and managers of the same second are in no order that matters.
    // The conditions of a CRD come from controllers that race.
    const racing = key === 'conditions' && JSON.stringify(list).includes('"NamesAccepted"');
    return racing || key === 'causes' || key === 'managedFields'
      ? list.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
      : list;
  }
  if (typeof value !== 'object' || value === null) return value;
  const object = value as Record<string, unknown>;
  return Object.fromEntries(
    Object.keys(object)
      .sort()
      .map(k => [k.replace(UUID, '<uid>'), normalise(object[k], [...path, k])]),
  );
}

function text(value: string, key: string): string {
  if (key === 'resourceVersion' && /^\d+$/.test(value)) return value === '0' ? value : '<version>';
  if (key === 'continue' && value !== '') return '<continue>';
  if (TIME.test(value)) return '<time>';
  if ((key === 'clusterIP' || key === 'clusterIPs') && /^10\./.test(value)) return '<address>';
  const known = value
    .replace(UUID, '<uid>')
    .replace(/(resource version: )\d+( \(\d+\))?/g, '$1<version>')
    .replace(/(ResourceVersion in (record|the precondition) \()\d+/g, '$1<version>')
    .replace(/current: \d+/g, 'current: <version>')
    .replace(/10\.96\.\d+\.\d+|10\.1\d\d\.\d+\.\d+/g, '<address>')
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, '<time>');
  // A few refusals go on with a diff of Go structs, which only Go can print.
  const plain = known
    .replace(/((?:patch: )?Invalid value: )"(\{|map\[).*": /s, '$1<object>: ')
    .replace(
      /(spec\.template: Invalid value: |^Invalid value: )\{"labels".*\}: field is immutable/s,
      '$1<template>: field is immutable',
    )
    .replace(
      /(spec\.template: Invalid value: |^Invalid value: )\{"metadata".*\}: field is immutable/s,
      '$1<template>: field is immutable',
    )
    .replace(/(is immutable after creation[^\n]*|pod updates may not change[^\n]*)\n[\s\S]*$/, '$1');
  return key === 'message' ? sortInvalid(plain) : plain;
}

/** `X is invalid: [a, b]` lists its errors in the order of a Go map. */
function sortInvalid(message: string): string {
  const found = /^(.* is invalid: )\[(.*)\]$/s.exec(message);
  if (!found) return message;
  return `${found[1]}[${found[2]!
    .split(/, (?=[a-zA-Z<][^ ]*: [A-Z])/)
    .sort()
    .join(', ')}]`;
}

/** Paths at which two normalised values differ, with both values. */
export function differences(real: unknown, store: unknown, path = ''): string[] {
  if (JSON.stringify(real) === JSON.stringify(store)) return [];
  if (path === '' && isAnswer(real) && isAnswer(store) && real.status !== store.status) {
    return [
      `.status: real ${real.status}, store ${store.status}`,
      ...[real, store].flatMap(a => (a.body?.message ? [String(a.body.message)] : [])),
    ];
  }
  const both = (v: unknown): v is Record<string, unknown> => typeof v === 'object' && v !== null;
  if (!both(real) || !both(store) || Array.isArray(real) !== Array.isArray(store)) {
    return [`${path || '.'}: real ${show(real)}, store ${show(store)}`];
  }
  const keys = [...new Set([...Object.keys(real), ...Object.keys(store)])];
  return keys.flatMap(k => differences(real[k], store[k], `${path}.${k}`));
}

type Answer = { status: number; body?: { message?: unknown } };
const isAnswer = (value: unknown): value is Answer =>
  typeof value === 'object' && value !== null && typeof (value as Answer).status === 'number';

const show = (value: unknown): string => {
  const json = JSON.stringify(value) ?? 'absent';
  return json.length > 600 ? `${json.slice(0, 600)}...` : json;
};
