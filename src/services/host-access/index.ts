import { CHILDREN } from '../../../api/openstack/controlplane.ts';
import type { DeepReadonly } from '../../kube/object.ts';
import { parse } from '../../oslo/parse.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import type { Guard, Plan } from '../../runtime/plan/row.ts';
import { stall } from '../../runtime/plan/unmet.ts';
import { isTrustedImage, isTrustedRegistry } from './images.ts';
import { NODE_IMAGES, type NodePods, nodePodsOf } from './nodes.ts';
import { type Asked, CHANGES, isMap, nodePodAsks, podAsks, serviceAsks, volumeAsks } from './pod.ts';

/**
 * A user who may write our kinds decides what pods run, and the operator, which may do more, makes them. Without this a user of
 * a namespace is root on the nodes: by `override`, by a volume, by the program of a pod that has rights on the node already.
 */

type Env = Readonly<Record<string, string | undefined>>;
type Fields = Readonly<Record<string, unknown>>;

/** Set by `run --allow-host-access`: nothing of this is refused. */
export const ALLOW_HOST_ACCESS = 'ALLOW_HOST_ACCESS';
export const allowsHostAccess = (env: Env): boolean => env[ALLOW_HOST_ACCESS] === 'true';

export const CURE = 'remove it; only the administrator of the operator can allow it (run --allow-host-access)';

/** Options of oslo services whose value is a command, or says which commands may run as root. */
const COMMANDS = ['helper_command', 'root_helper', 'root_helper_daemon', 'rootwrap_config'];

/** The first of them in a text that pods with rights on the node read. */
export function commandIn(text: string): string | undefined {
  const result = parse(text);
  if ('error' in result) return undefined;
  const keys = result.ok.items.flatMap(item => (item.kind === 'assignment' ? [item.key] : []));
  return keys.map(key => key.toLowerCase().replaceAll('-', '_')).find(key => COMMANDS.includes(key));
}

/** Whether images and texts of an object reach pods with rights on the node: its own, or those of its children. */
export const reachesNodes = (kind: string, spec: unknown): boolean =>
  PARENTS.includes(kind) || nodePodsOf(kind, isMap(spec) ? spec : {}) !== undefined;
const PARENTS = ['OpenStackControlPlane', 'Nova', 'NovaCell'];

/** The same for an object with its texts in a Secret. */
export const commandRefused = (object: Wanted, text: string, env: Env): string | undefined =>
  !allowsHostAccess(env) && reachesNodes(object.kind, object.spec) ? commandIn(text) : undefined;

/** What is asked, wherever it stands. */
interface Question {
  readonly env: Env;
  readonly texts: boolean;
}

interface Place extends Question {
  readonly kind: string;
  /** Of the object that these fields stand in, or will stand in. */
  readonly nodes: NodePods | undefined;
  /** Whether its images and texts reach pods with rights on the node. */
  readonly reaches: boolean;
  /** Whether the pods that these fields are about have rights on the node. */
  readonly onNode: boolean;
  /** Paths below the object's own spec. */
  readonly own: string;
}

interface Wanted {
  readonly kind: string;
  readonly spec?: unknown;
}

/**
 * Every field of an object by which its pods would get rights on the node. `children`: also those of sections and templates
 * that become the spec of another object, which is asked about them itself.
 */
export function hostAccess(
  { kind, spec }: Wanted,
  env: Env,
  children: boolean,
  /** false: texts are not read, which takes long for long ones. */
  texts = true,
): readonly Asked[] {
  if (allowsHostAccess(env) || !isMap(spec)) return [];
  return ofObject(kind, spec, 'spec', { env, texts }, children);
}

function ofObject(kind: string, spec: Fields, at: string, asked: Question, children: boolean): readonly Asked[] {
  const nodes = nodePodsOf(kind, spec);
  const { env, texts } = asked;
  const place = { kind, env, texts, nodes, reaches: reachesNodes(kind, spec), onNode: nodes !== undefined, own: '' };
  return ofFields(spec, at, place, children);
}

function ofFields(fields: Fields, at: string, place: Place, children: boolean): readonly Asked[] {
  return Object.entries(fields).flatMap(([name, value]): readonly Asked[] => {
    const known = Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined;
    if (known === undefined && (typeof value !== 'object' || value === null)) return NOTHING;
    const field = `${at}.${name}`;
    if (known) return known(value, place).map(ask => ({ ...ask, field: `${field}${ask.field}` }));
    const child = childKind(place.kind, name, place.own);
    if (child !== undefined && !children) return NOTHING;
    if (child !== undefined) return ofChild(child, fields, value, field, place);
    return ofParts(value, field, `${place.own}${place.own && '.'}${name}`, place, children);
  });
}

const NOTHING: readonly Asked[] = [];

/** Maps and lists below an object's own spec. */
function ofParts(value: unknown, at: string, own: string, place: Place, children: boolean): readonly Asked[] {
  const onNode = place.nodes?.templates.includes(own) ?? false;
  if (isMap(value)) return ofFields(value, at, { ...place, own, onNode }, children);
  return (Array.isArray(value) ? value : []).filter(isMap).flatMap(entry => {
    const key = `[name=${entry.name}]`;
    return ofParts(entry, `${at}${key}`, `${own}${key}`, place, children);
  });
}

/** Of a control plane its sections, of Nova and its cells the computes; the other templates of Nova are never the node's. */
function childKind(kind: string, name: string, own: string): string | undefined {
  if (kind === 'OpenStackControlPlane' && own === '' && Object.hasOwn(CHILDREN, name))
    return CHILDREN[name as keyof typeof CHILDREN].kind;
  if (kind !== 'Nova' && kind !== 'NovaCell') return undefined;
  if (name === 'novaComputeTemplates') return 'NovaCompute';
  return /Templates?$/.test(name) ? kind : undefined;
}

function ofChild(kind: string, parent: Fields, value: unknown, at: string, place: Place): readonly Asked[] {
  if (!isMap(value)) return [];
  if (kind === 'NovaCompute')
    return Object.entries(value).flatMap(([name, each]) =>
      isMap(each) ? ofObject(kind, each, `${at}.${name}`, place, true) : [],
    );
  if (kind === place.kind) return ofFields(value, at, { ...place, own: at }, true);
  return ofObject(kind, { ...implied(kind, parent), ...value }, at, place, true);
}

/** What a control plane decides for its sections. */
function implied(kind: string, { networkBackend, storageBackend }: Fields): Fields {
  if (kind === 'Neutron') return { mechanism: networkBackend };
  return kind === 'Cinder' && storageBackend === 'lvm' ? { backends: [{ name: 'lvm', type: 'lvm' }] } : {};
}

const refused = (what: string): readonly Asked[] => [{ field: '', what }];
const UNTRUSTED = `names an image for pods with rights on the node, from a registry that the operator does not use`;

/** Fields of the pod block, and of the images that go with it. */
const FIELDS: Readonly<Record<string, (value: unknown, place: Place) => readonly Asked[]>> = {
  override: (value, { onNode, nodes }) => {
    const { podTemplate, service } = isMap(value) ? value : {};
    const pod = onNode ? nodePodAsks(podTemplate, nodes?.ordinary ?? []) : podAsks(podTemplate);
    return [
      ...pod.map(ask => ({ ...ask, field: `.podTemplate${ask.field}` })),
      ...serviceAsks(service).map(ask => ({ ...ask, field: `.service${ask.field}` })),
    ];
  },
  extraMounts: (value, { onNode }) => {
    const mounts = Array.isArray(value) ? value : [];
    if (onNode && mounts.length > 0) return refused(CHANGES);
    return mounts.flatMap((mount, index) =>
      volumeAsks(mount).map(ask => ({ ...ask, field: `[${index}]${ask.field}` })),
    );
  },
  defaultConfigOverwrite: (value, { onNode, own, nodes }) =>
    // The object's own is about its main container.
    onNode && (own !== '' || nodes?.alone) && isMap(value) && value['config.json'] !== undefined
      ? [{ field: '[config.json]', what: CHANGES }]
      : [],
  image: (value, { onNode, own, nodes, env }) =>
    onNode && (own !== '' || nodes?.alone) && !isTrustedImage(value, env) ? refused(UNTRUSTED) : [],
  images: (value, { reaches, env }) =>
    !reaches
      ? []
      : Object.entries(isMap(value) ? value : {})
          .filter(([name, image]) => NODE_IMAGES.includes(name) && !isTrustedImage(image, env))
          .map(([name]) => ({ field: `[${name}]`, what: UNTRUSTED })),
  imageRegistry: (value, { reaches, env }) => (reaches && !isTrustedRegistry(value, env) ? refused(UNTRUSTED) : []),
  customServiceConfig: (value, { reaches, texts }) => {
    const option = typeof value === 'string' && reaches && texts ? commandIn(value) : undefined;
    return option === undefined ? [] : refused(`sets ${option}, a command of pods with rights on the node`);
  },
};

/** As a sentence without the object, and without any value that the user wrote. */
export const sentence = ({ field, what }: Asked): string => `${field} ${what}`;

/** Checked before any row, so that what runs stays as it is. Children check what they got from their parent. */
const guard: Guard<Managed> = {
  type: 'HostAccessAllowed',
  refuse: (object: DeepReadonly<Managed>, env) => {
    const [first, ...others] = hostAccess(object as Wanted, env, false);
    if (first === undefined) return undefined;
    const more = others.length > 0 ? `, and ${others.length} more fields do the like` : '';
    return stall({
      reason: 'HostAccessRefused',
      field: first.field,
      what: `${sentence(first)}${more}: ${object.kind} ${object.metadata.name} is left as it is, and what it runs goes on`,
      who: 'User',
      next: CURE,
    });
  },
};

/** The same plan for a kind with pods; a control plane hands everything on to such kinds. */
export function withoutHostAccess<P extends Plan<never>>(plan: P): P {
  const { specFields = [] } = plan.kind as { readonly specFields?: readonly string[] };
  return specFields.includes('override') ? { ...plan, guard } : plan;
}
