import type { AnyKind } from './kind.ts';
import { fields } from './leaves.ts';
import { type StructuralSchema, structural } from './structural.ts';

/**
 * Spec fields that no plan reads yet, and what will read them (engine rule 26). A test of the engine records which
 * fields plans read and compares: a field neither read nor listed here must not ship, and one both read and listed is
 * a line to delete.
 */
export interface Planned {
  /** `all`, or paths as in the reference page; a path stands for everything below it. */
  readonly fields: 'all' | readonly string[];
  readonly waitsFor: string;
  /** The same for users, in the description of each field: what holds instead. */
  readonly meanwhile: string;
}

const REGIONS = 'one Keystone for several regions (no issue yet): until then the region comes with Keystone';
const PARTS = "actions of Nova's parts (no issue yet): until then those of the Nova do";
const MEMBERS = 'databases with three members (high availability; no issue yet): one member holds no election';
const HOSTS = 'the data plane (DESIGN.md section 8; no issue yet)';

const region: Planned = { fields: ['region'], waitsFor: REGIONS, meanwhile: 'the region is that of the Keystone.' };
const actions: Planned = { fields: ['actions'], waitsFor: PARTS, meanwhile: 'write actions into the Nova object.' };

/**
 * By kind. A kind that is not here is read in full. Sections of the control plane are passed on as they are, so the
 * kind that gets them answers for their fields.
 */
export const PLANNED: Readonly<Record<string, readonly Planned[]>> = {
  ...each([region], ['Glance', 'Placement', 'Neutron', 'Heat', 'Cinder']),
  OVNNetwork: [
    {
      fields: ['electionTimerMS'],
      waitsFor: MEMBERS,
      meanwhile: 'databases have one member, which holds no elections.',
    },
  ],
  NovaCell: [actions],
  ...each(
    [actions, region],
    ['NovaAPI', 'NovaScheduler', 'NovaConductor', 'NovaMetadata', 'NovaNoVNCProxy', 'NovaCompute'],
  ),
  ...each(
    [{ fields: 'all', waitsFor: HOSTS, meanwhile: 'this kind has no controller.' }],
    [
      ...['OpenStackDataPlane', 'NovaExternalCompute', 'OVNMetadataAgent', 'OpenStackAnsibleEE'],
      ...['OpenStackDataPlaneRole', 'OpenStackDataPlaneNode', 'OpenStackDataPlaneNodeSet'],
      ...['OpenStackDataPlaneService', 'OpenStackDataPlaneDeployment'],
    ],
  ),
};

function each(plans: readonly Planned[], kinds: readonly string[]): Record<string, readonly Planned[]> {
  return Object.fromEntries(kinds.map(kind => [kind, plans]));
}

/** Paths of all leaves of a kind's spec: `fernetRotation.schedule`, `stores[].name`, `cellTemplates.*.replicas`. */
export const specLeaves = (kind: AnyKind): string[] =>
  fields(structural(kind.specSchema))
    .filter(field => field.leaf)
    .map(field => field.path);

/** How the description of a field begins that nobody reads. */
export const NOT_USED = 'Not used yet: ';

const marked = (field: StructuralSchema, meanwhile: string): StructuralSchema => ({
  ...field,
  description: `${NOT_USED}${meanwhile} ${field.description ?? ''}`.trim(),
});

function markedIn(schema: StructuralSchema, plans: readonly Planned[]): StructuralSchema {
  const properties = Object.entries(schema.properties ?? {}).map(([name, field]): [string, StructuralSchema] => {
    const plan = plans.find(({ fields }) => fields === 'all' || fields.includes(name));
    return [name, plan ? marked(field, plan.meanwhile) : field];
  });
  return { ...schema, properties: Object.fromEntries(properties) };
}

/** The spec of a kind; fields that nobody reads say so. Plans name fields directly under spec. */
export const specWithNotes = (kind: AnyKind): StructuralSchema => {
  const spec = markedIn(structural(kind.specSchema), PLANNED[kind.kind] ?? []);
  if (!Object.hasOwn(SECTIONS_OF, kind.kind)) return spec;
  const sections = Object.entries(spec.properties ?? {}).map(([name, field]): [string, StructuralSchema] => {
    const child = SECTIONS_OF[kind.kind]?.[name];
    return [name, child ? markedIn(field, PLANNED[child] ?? []) : field];
  });
  return { ...spec, properties: Object.fromEntries(sections) };
};

/** Sections of a kind whose fields are those of another kind. */
const SECTIONS_OF: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  OpenStackControlPlane: { ovn: 'OVNNetwork' },
};

/** What the engine writes for every kind, also for one that nothing else is done for. */
const ENGINE = ['observedGeneration', 'conditions'];

/** The status of a kind; without a controller nobody writes the rest. */
export const statusWithNotes = (kind: AnyKind): StructuralSchema => {
  const status = structural(kind.statusSchema);
  const [plan] = PLANNED[kind.kind] ?? [];
  if (plan?.fields !== 'all') return status;
  const fields = Object.keys(status.properties ?? {}).filter(name => !ENGINE.includes(name));
  return markedIn(status, [{ ...plan, fields }]);
};

const covers = (entry: string, leaf: string): boolean =>
  leaf === entry || leaf.startsWith(`${entry}.`) || leaf.startsWith(`${entry}[`);

/** Leaf path to what it waits for. */
export function plannedLeaves(kind: AnyKind): Map<string, string> {
  const plans = PLANNED[kind.kind] ?? [];
  return new Map(
    specLeaves(kind).flatMap(leaf => {
      const plan = plans.find(p => p.fields === 'all' || p.fields.some(entry => covers(entry, leaf)));
      return plan === undefined ? [] : [[leaf, plan.waitsFor] as const];
    }),
  );
}
