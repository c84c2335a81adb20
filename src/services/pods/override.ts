import type { Cx } from '../../runtime/plan/cx.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import { stall, type Unmet } from '../../runtime/plan/unmet.ts';
import { partOf } from '../names.ts';

/** spec.override: the last resort, merged over what we generate. */

type Fields = Readonly<Record<string, unknown>>;

/** Lists whose entries are distinguished, by the first of these fields in which two are alike. Others are replaced whole. */
const KEYS: Readonly<Record<string, readonly string[]>> = {
  containers: ['name'],
  initContainers: ['name'],
  volumes: ['name'],
  env: ['name'],
  ports: ['name', 'containerPort', 'port'],
  volumeMounts: ['mountPath'],
  // Alike in nothing: each is one more.
  tolerations: [],
};
/** The server makes a text of a number, and would find it changed each time. */
const AMOUNTS: readonly string[] = ['requests', 'limits'];

/** What a strategic merge of Kubernetes makes of the two, for the fields that pods and Services have. null deletes a key. */
export function merged(base: unknown, patch: unknown, field = ''): unknown {
  if (Array.isArray(patch)) return mergedList(Array.isArray(base) ? base : [], patch, KEYS[field]);
  if (!isMap(patch)) return patch;
  const result: Record<string, unknown> = isMap(base) ? { ...base } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = AMOUNTS.includes(field) ? String(value) : merged(result[key], value, key);
  }
  return result;
}

function mergedList(base: readonly unknown[], patch: readonly unknown[], keys: readonly string[] | undefined) {
  if (keys === undefined) return patch.map(entry => merged(undefined, entry));
  const result = [...base];
  for (const entry of patch) {
    const at = keys.map(key => placeOf(result, key, entry)).find(index => index >= 0);
    if (at === undefined) result.push(merged(undefined, entry));
    else result[at] = merged(result[at], entry);
  }
  return result;
}

const placeOf = (list: readonly unknown[], key: string, entry: unknown): number =>
  isMap(entry) && entry[key] !== undefined ? list.findIndex(other => isMap(other) && other[key] === entry[key]) : -1;

const isMap = (value: unknown): value is Fields => value !== null && typeof value === 'object' && !Array.isArray(value);

const HALVES = ['podTemplate', 'service'] as const;
type Half = (typeof HALVES)[number];

/** A half of an override, and where it stands. */
export interface Found {
  /** `spec.override.podTemplate of Heat heat`. */
  readonly field: string;
  readonly path: string;
  /** Of the template that it stands in. */
  readonly template?: string;
  readonly patch: Fields;
}

interface Overriding {
  readonly override?: Fields;
}

/** A template's half, else that of its object: who says something about the pods says nothing about the Service. */
export function overrideOf<O extends Managed>(cx: Cx<O>, half: Half, template?: string): Found | undefined {
  const owner = `${cx.object.kind} ${cx.name}`;
  for (const part of [...(template === undefined ? [] : [template]), undefined]) {
    const at = part === undefined ? 'spec.override' : `spec.${part}.override`;
    const { override = {} } = (part === undefined ? (cx.spec as Overriding) : partOf<Overriding>(cx.spec, part)) ?? {};
    const unknown = Object.keys(override).find(key => !HALVES.includes(key as Half));
    // Every object that has one has pods: reported there, and once.
    if (unknown !== undefined && half === 'podTemplate')
      throw invalid(at, `${at} of ${owner} has ${unknown}`, `use ${HALVES.join(' or ')}`);
    if (override[half] === undefined) continue;
    const path = `${at}.${half}`;
    const field = `${path} of ${owner}`;
    return { field, path, patch: shaped(override[half], field, path), ...(part !== undefined && { template: part }) };
  }
  return undefined;
}

const invalid = (path: string, what: string, next: string): Unmet =>
  stall({ reason: 'InvalidOverride', field: path, what, who: 'User', next });

/** A misplaced field would be refused by the API server, or by nobody. */
function shaped(patch: unknown, field: string, path: string): Fields {
  const map = (value: unknown, at: string, allowed?: readonly string[]): Fields => {
    if (!isMap(value)) throw invalid(path, `${at} is not a map`, 'write fields as in the manifest of a pod or Service');
    const strange = allowed && Object.keys(value).find(key => !allowed.includes(key));
    if (strange !== undefined) throw invalid(path, `${at} has ${strange}`, `use ${allowed?.join(' or ')}`);
    return value;
  };
  const { metadata = {}, spec = {} } = map(patch, field, ['metadata', 'spec']);
  const { labels = {}, annotations = {} } = map(metadata, `metadata in ${field}`, ['labels', 'annotations']);
  map(spec, `spec in ${field}`);
  for (const names of [labels, annotations]) {
    const ours = Object.keys(map(names, `metadata in ${field}`)).find(name => OURS.test(name));
    if (ours !== undefined) throw invalid(path, `${field} sets ${ours}, by which objects are found`, 'leave it alone');
  }
  return patch as Fields;
}

/** Selectors, watches and rolls go by them. */
const OURS = /^(app\.kubernetes\.io\/(name|instance|component|managed-by|part-of)$|openstack\.k8s\.io\/)/;

/** Containers of one kind of pods, and the template that is about them. */
export interface Peer {
  readonly template?: string;
  readonly containers: readonly string[];
}

/** Containers that an override is about beside those of one pod. */
export const peersOf = (found: Found, peers: readonly Peer[]): readonly string[] =>
  peers
    .filter(peer => found.template === undefined || peer.template === found.template)
    .flatMap(peer => peer.containers);

interface Containers {
  readonly containers: readonly { readonly name: string }[];
  readonly initContainers?: readonly { readonly name: string }[];
}

/**
 * A pod template with the user's over it. `peers` are containers of other pods that the same override is about: what it
 * says of them is not about these pods, and no reason to replace them.
 */
export function overriddenPod<T extends { readonly spec: Containers }>(
  template: T,
  { field, path, patch }: Found,
  peers: readonly string[] = [],
): T {
  const names = (list: keyof Containers): readonly string[] => (template.spec[list] ?? []).map(({ name }) => name);
  const others = peers.filter(name => !names('containers').includes(name));
  const own = withoutContainers(patch, others) as Fields;
  for (const [list, known] of [
    ['containers', [...names('containers'), ...others]],
    ['initContainers', names('initContainers')],
  ] as const)
    for (const { name, image } of entriesOf(own, list))
      if (!known.includes(name as string) && typeof image !== 'string')
        throw invalid(
          path,
          `${field} has ${name ?? 'a nameless entry'} in ${list}, where the pods have ${known.join(', ') || 'none'}`,
          'use one of these names, or give it an image to add a container',
        );
  return merged(template, own) as T;
}

const entriesOf = (patch: unknown, list: keyof Containers): readonly Fields[] => {
  const spec = isMap(patch) && isMap(patch.spec) ? patch.spec : {};
  const entries = spec[list];
  return Array.isArray(entries) ? entries.filter(isMap) : [];
};

/** A pod template of a user's without what it says of containers of these names. */
export function withoutContainers(patch: unknown, names: readonly string[]): unknown {
  const entries = entriesOf(patch, 'containers');
  if (!entries.some(({ name }) => names.includes(name as string))) return patch;
  const { spec, ...rest } = patch as { readonly spec: Fields };
  return { ...rest, spec: { ...spec, containers: entries.filter(({ name }) => !names.includes(name as string)) } };
}

interface Ports {
  readonly ports: readonly { readonly name: string }[];
}

/** A Service with the user's over it. Clients and pods find each other by what may not change. */
export function overriddenService<T extends { readonly spec: Ports }>(service: T, { field, path, patch }: Found): T {
  if ((patch.spec as Fields | undefined)?.selector !== undefined)
    throw invalid(path, `${field} sets spec.selector, by which the Service finds its pods`, 'leave it alone');
  const result = merged(service, patch) as T;
  const names = ({ spec }: { readonly spec: Partial<Ports> }): string => (spec.ports ?? []).map(p => p.name).join(', ');
  if (names(result) !== names(service))
    throw invalid(
      path,
      `${field} makes the names of ports ${names(result) || 'none'}`,
      `keep them, and name the port that is meant: ${names(service)}`,
    );
  return result;
}

/** Nothing would come of it. */
export const withoutService = ({ field, path }: Found): Unmet =>
  invalid(path, `${field} is set, and these pods have no Service`, 'take it out');
