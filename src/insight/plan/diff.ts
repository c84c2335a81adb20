import { assignments, parse } from '../../oslo/parse.ts';
import { sameJson } from '../../runtime/plan/canonical.ts';
import { maskShapes, soundsSecret } from '../../world/mask/shapes.ts';
import { filesOf } from '../config/lint.ts';
import { HIDDEN } from '../view/hide.ts';
import { isOurs, type Live, namespaceOf } from '../view/view.ts';

export interface FieldChange {
  readonly path: string;
  readonly before?: string;
  readonly after?: string;
}

export interface Change {
  readonly action: 'create' | 'change' | 'delete';
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly fields: readonly FieldChange[];
}

/** What controllers of the cluster derive from what is written; claims stay, because with them goes data. */
export const DERIVED: ReadonlySet<string> = new Set([
  'Pod',
  'ReplicaSet',
  'ControllerRevision',
  'Event',
  'Lease',
  'EndpointSlice',
  'Endpoints',
  'PersistentVolume',
]);

/** Written by nobody who plans: the server and status. */
const NOISE = ['status'];
const META = ['labels', 'annotations', 'finalizers', 'ownerReferences'] as const;

const keyOf = (object: Live): string => `${object.kind} ${namespaceOf(object)}/${object.metadata.name}`;
const ORDER = ['create', 'change', 'delete'];

/** The difference between two sets of objects, as a user would write it: no status, no bookkeeping, no secret value. */
export function compare(before: readonly Live[], after: readonly Live[]): readonly Change[] {
  const counted = (objects: readonly Live[]) =>
    new Map(objects.filter(o => !DERIVED.has(o.kind)).map(o => [keyOf(o), o]));
  const [old, now] = [counted(before), counted(after)];
  const changes: Change[] = [];
  const push = (action: Change['action'], object: Live, fields: readonly FieldChange[]): void =>
    void changes.push({
      action,
      kind: object.kind,
      namespace: namespaceOf(object),
      name: object.metadata.name,
      fields,
    });
  for (const [key, object] of now) {
    const was = old.get(key);
    if (was === undefined) push('create', object, []);
    else {
      const fields = fieldsOf(was, object);
      if (fields.length > 0) push('change', object, fields);
    }
  }
  for (const [key, object] of old) if (!now.has(key)) push('delete', object, []);
  return changes.sort(
    (a, b) =>
      ORDER.indexOf(a.action) - ORDER.indexOf(b.action) ||
      Number(!isOurs(a as never)) - Number(!isOurs(b as never)) ||
      (`${a.kind} ${a.name}` < `${b.kind} ${b.name}` ? -1 : 1),
  );
}

function fieldsOf(before: Live, after: Live): readonly FieldChange[] {
  if (after.kind === 'Secret') return secretFields(before, after);
  const plain = (object: Live): Record<string, unknown> => {
    const {
      apiVersion: _v,
      kind: _k,
      metadata,
      ...rest
    } = object as Record<string, unknown> & { metadata: Record<string, unknown> };
    const kept = Object.fromEntries(META.map(name => [name, withoutNoise(name, metadata[name])]));
    return { ...Object.fromEntries(Object.entries(rest).filter(([name]) => !NOISE.includes(name))), metadata: kept };
  };
  return walk('', plain(before), plain(after));
}

function withoutNoise(name: string, value: unknown): unknown {
  if (name !== 'annotations' || typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).filter(([key]) => !/^(kubectl|deployment)\.kubernetes\.io\//.test(key)),
  );
}

function walk(path: string, before: unknown, after: unknown): readonly FieldChange[] {
  if (sameJson(before, after)) return [];
  if (Array.isArray(before) && Array.isArray(after)) {
    const named = (list: readonly unknown[]) =>
      list.every(item => typeof (item as { name?: unknown } | null)?.name === 'string');
    if (named(before) && named(after)) {
      const index = (list: readonly unknown[]) =>
        Object.fromEntries(list.map(item => [(item as { name: string }).name, item]));
      return walk(path, index(before), index(after));
    }
    return [change(path, before, after)];
  }
  if (!isRecord(before) || !isRecord(after)) return [change(path, before, after)];
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return keys.flatMap(key => walk(path === '' ? key : `${path}.${key}`, before[key], after[key]));
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const shown = (value: unknown): string | undefined =>
  value === undefined ? undefined : maskShapes(typeof value === 'string' ? value : JSON.stringify(value));

function change(path: string, before: unknown, after: unknown): FieldChange {
  const [was, is] = [shown(before), shown(after)];
  return { path, ...(was !== undefined && { before: was }), ...(is !== undefined && { after: is }) };
}

/** Config files option by option; everything else in a Secret as keys only. */
function secretFields(before: Live, after: Live): readonly FieldChange[] {
  const data = (object: Live) => (object.data ?? {}) as Readonly<Record<string, string>>;
  const [old, now] = [data(before), data(after)];
  const files = new Set([...filesOf(before), ...filesOf(after)].map(file => file.name));
  const fields = [...new Set([...Object.keys(old), ...Object.keys(now)])]
    .sort()
    .flatMap((key): readonly FieldChange[] => {
      if (old[key] === now[key]) return [];
      if (files.has(key)) return optionFields(key, textOf(before, key), textOf(after, key));
      return [
        {
          path: `data.${key}`,
          ...(old[key] !== undefined && { before: HIDDEN }),
          ...(now[key] !== undefined && { after: HIDDEN }),
        },
      ];
    });
  return [...fields, ...walk('metadata.labels', before.metadata.labels, after.metadata.labels)];
}

const textOf = (secret: Live, key: string): string => filesOf(secret).find(file => file.name === key)?.text ?? '';

function optionFields(file: string, before: string, after: string): readonly FieldChange[] {
  const [old, now] = [optionsOf(before), optionsOf(after)];
  const names = [...new Set([...old.keys(), ...now.keys()])].sort();
  const changed = names
    .filter(name => old.get(name) !== now.get(name))
    .map(name =>
      change(`${file} ${name}`, maskedValue(file, name, old.get(name)), maskedValue(file, name, now.get(name))),
    );
  // Comments and order: the text differs, no option does.
  return changed.length > 0 || before === after ? changed : [{ path: `${file} (text only)` }];
}

/** What customServiceConfigSecrets bring (03-) is secret as a whole. */
const maskedValue = (file: string, name: string, value: string | undefined): string | undefined =>
  value === undefined || value === '' ? value : soundsSecret(name) || file.startsWith('03-') ? HIDDEN : value;

function optionsOf(text: string): ReadonlyMap<string, string> {
  const parsed = parse(text);
  const options = new Map<string, string>();
  for (const { section, key, value } of 'ok' in parsed ? assignments(parsed.ok) : []) {
    const name = `[${section}] ${key}`;
    const earlier = options.get(name);
    options.set(name, earlier === undefined ? value : `${earlier}, ${value}`);
  }
  return options;
}
