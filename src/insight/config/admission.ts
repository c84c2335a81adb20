import { CURE, hostAccess, sentence } from '../../services/host-access/index.ts';
import { scheduleProblem } from '../../services/schedule.ts';
import { releaseProblem, runningRelease, wantedRelease } from '../../services/standard/release.ts';
import { type Live, namespaceOf } from '../view/view.ts';
import { lintSpecs } from './lint.ts';

/** What a webhook is asked; of AdmissionReview only what matters here. */
export interface AdmissionRequest {
  readonly operation: string;
  readonly object: Live;
  readonly oldObject?: Live;
}

/** What is there beside the object. Only asked for kinds that need it. */
export interface Neighbours {
  list(
    kind: 'OpenStackControlPlane' | 'OpenStackDataPlaneRole' | 'OpenStackDataPlaneNode',
    namespace: string,
  ): Promise<readonly Live[]>;
}

export interface Admission {
  /** Why not; none: it may pass. */
  readonly refusals: readonly string[];
  /** Shown by kubectl to whoever writes. */
  readonly warnings: readonly string[];
}

/** Of the sum of warnings the API server keeps 4 KiB, and cuts each after 256 characters. */
const [MOST, LONGEST] = [12, 250];

/**
 * Characters of a spec that is read here; a large cloud has some 20,000. A line of config takes microseconds, and who waits
 * for the answer is `kubectl apply`, the lease of this process and everybody else's reconcile.
 */
const LONGEST_SPEC = 128 << 10;

/**
 * The linter and the checks that CEL in a CRD can't express. What certainly does not work is refused, but only when this
 * very write brings it: an object that is wrong already must be open to every other edit. Everything else is a warning.
 */
export async function admit(
  request: AdmissionRequest,
  around: Neighbours,
  /** The operator's: what it was told to allow, and which registries it uses. */
  env: Readonly<Record<string, string | undefined>> = {},
): Promise<Admission> {
  const { object, oldObject, operation } = request;
  if (operation === 'DELETE' || object.metadata.deletionTimestamp) return { refusals: [], warnings: [] };
  const { broken, times, access, warnings } = findings(object, env);
  const before = oldObject ? findings(oldObject, env) : undefined;
  const known = new Set(before ? [...before.broken, ...before.times, ...before.access] : []);
  const refusals = [
    ...[...broken, ...times, ...access].filter(line => !known.has(line)).slice(0, MOST),
    ...releases(request),
    ...(await twins(request, around)),
    ...(await cells(request, around)),
  ];
  return { refusals, warnings: shortened([...[...broken, ...access].filter(line => known.has(line)), ...warnings]) };
}

interface Findings {
  readonly broken: readonly string[];
  readonly times: readonly string[];
  /** Fields by which its pods would get rights on the node. */
  readonly access: readonly string[];
  readonly warnings: readonly string[];
}

/** What can be said of the spec alone. */
function findings(object: Live, env: Parameters<typeof hostAccess>[1]): Findings {
  const { length } = JSON.stringify(object.spec ?? null);
  const access = hostAccess(object, env, true, length <= LONGEST_SPEC).map(
    ask => `${sentence(ask)}, in ${object.kind} ${object.metadata.name}: ${CURE}`,
  );
  if (length <= LONGEST_SPEC) return { ...texts(object), times: schedules(object), access };
  const size = `${Math.round(length / 1024)} KiB, more than the ${LONGEST_SPEC >> 10} KiB that are checked here`;
  return {
    broken: [],
    times: [],
    access,
    warnings: [`spec has ${size}: its config was not looked at; kubectl openstack lint does`],
  };
}

/** Messages of the linter hold names and never values. */
function texts(object: Live): { broken: string[]; warnings: string[] } {
  const found = lintSpecs([object]).flatMap(({ field, findings }) =>
    findings.map(({ code, severity, line, column, message }) => ({
      certain: code === 'syntax',
      severity,
      text: `${field}:${line}:${column}: ${message} (${code})`,
    })),
  );
  return {
    broken: found.filter(f => f.certain).map(f => f.text),
    warnings: found.filter(f => !f.certain && f.severity !== 'info').map(f => f.text),
  };
}

function shortened(warnings: readonly string[]): readonly string[] {
  const cut = warnings.map(text => (text.length > LONGEST ? `${text.slice(0, LONGEST - 3)}...` : text));
  if (cut.length <= MOST) return cut;
  return [...cut.slice(0, MOST - 1), `and ${cut.length - MOST + 1} more: kubectl openstack lint shows them all`];
}

/** Every `schedule` of a spec is five fields of cron; the CRD checks its shape, not whether it means a time. */
function schedules(object: Live): string[] {
  const walk = (value: unknown, path: string): string[] =>
    typeof value !== 'object' || value === null
      ? []
      : Object.entries(value).flatMap(([name, item]) => {
          const problem = name === 'schedule' && typeof item === 'string' ? scheduleProblem(item) : undefined;
          return [...(problem ? [`${path}.${name}: ${problem}`] : []), ...walk(item, `${path}.${name}`)];
        });
  return walk(object.spec, 'spec');
}

/** A change of release that the operator would refuse anyway; setting it back to what runs is always right. */
function releases({ object, oldObject }: AdmissionRequest): string[] {
  const [from, to] = [runningRelease(oldObject), wantedRelease(object)];
  if (to === wantedRelease(oldObject)) return [];
  const why = releaseProblem(from, to);
  return why === undefined
    ? []
    : [
        `spec.release: ${object.kind} ${object.metadata.name} runs ${from} and can't be changed to ${to}: ${why}; leave spec.release at ${from}`,
      ];
}

/** Names of children are names of services: two control planes in one namespace would fight over them. */
async function twins({ object, operation }: AdmissionRequest, around: Neighbours): Promise<string[]> {
  if (object.kind !== 'OpenStackControlPlane' || operation !== 'CREATE') return [];
  const other = (await around.list('OpenStackControlPlane', namespaceOf(object))).find(
    ({ metadata }) => metadata.namespace === object.metadata.namespace && metadata.name !== object.metadata.name,
  );
  return other
    ? [`namespace ${other.metadata.namespace} has OpenStackControlPlane ${other.metadata.name}: one is all it can have`]
    : [];
}

export const CELL_ANNOTATION = 'nova.openstack.org/cell';
const own = (object: Live | undefined): string | undefined => object?.metadata.annotations?.[CELL_ANNOTATION];
const roleOf = (node: Live): string | undefined => (node.spec as { role?: string } | undefined)?.role;

/**
 * A host belongs to the cell that its own annotation names, or its role's. Its guests live in that cell's database, so
 * once it has a cell it keeps it, whichever of the two objects is edited.
 */
async function cells({ object, oldObject }: AdmissionRequest, around: Neighbours): Promise<string[]> {
  if (oldObject === undefined) return [];
  const here = (one: Live): boolean => one.metadata.namespace === object.metadata.namespace;
  if (object.kind === 'OpenStackDataPlaneNode') {
    if (own(object) === own(oldObject) && roleOf(object) === roleOf(oldObject)) return [];
    const roles = (await around.list('OpenStackDataPlaneRole', namespaceOf(object))).filter(here);
    const cell = (node: Live) => own(node) ?? own(roles.find(role => role.metadata.name === roleOf(node)));
    return moved(object.metadata.name, cell(oldObject), cell(object));
  }
  if (object.kind === 'OpenStackDataPlaneRole' && own(object) !== own(oldObject)) {
    const nodes = (await around.list('OpenStackDataPlaneNode', namespaceOf(object))).filter(here);
    return nodes
      .filter(node => roleOf(node) === object.metadata.name && own(node) === undefined)
      .flatMap(node => moved(node.metadata.name, own(oldObject), own(object)))
      .slice(0, 3);
  }
  return [];
}

const moved = (node: string, from: string | undefined, to: string | undefined): string[] =>
  from === undefined || from === to
    ? []
    : [
        `host ${node} belongs to cell ${from} and would ${to ? `move to ${to}` : 'have none'}: a host keeps its cell; take it out and add it anew`,
      ];
