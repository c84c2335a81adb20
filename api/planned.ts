import type { AnyKind } from './kind.ts';
import { fields } from './schema/leaves.ts';
import { structural } from './schema/structural.ts';

/**
 * Spec fields that no plan reads yet, and what will read them (engine rule 26). A test of the engine records which
 * fields plans read and compares: a field neither read nor listed here must not ship, and one both read and listed is
 * a line to delete.
 */
export interface Planned {
  /** `all`, or paths as in the reference page; a path stands for everything below it. */
  readonly fields: 'all' | readonly string[];
  readonly waitsFor: string;
}

const REGIONS = 'one Keystone for several regions (no issue yet): until then the region comes with Keystone';
const PARTS = "actions of Nova's parts (no issue yet): until then those of the Nova do";
const MEMBERS = 'databases with three members (high availability; no issue yet): one member holds no election';
const HOSTS = 'the data plane (DESIGN.md section 8; no issue yet)';

const region: Planned = { fields: ['region'], waitsFor: REGIONS };
const actions: Planned = { fields: ['actions'], waitsFor: PARTS };

/**
 * By kind. A kind that is not here is read in full. Sections of the control plane are passed on as they are, so the
 * kind that gets them answers for their fields.
 */
export const PLANNED: Readonly<Record<string, readonly Planned[]>> = {
  ...each([region], ['Glance', 'Placement', 'Neutron', 'Heat', 'Cinder']),
  OVNNetwork: [{ fields: ['electionTimerMS'], waitsFor: MEMBERS }],
  NovaCell: [actions],
  ...each(
    [actions, region],
    ['NovaAPI', 'NovaScheduler', 'NovaConductor', 'NovaMetadata', 'NovaNoVNCProxy', 'NovaCompute'],
  ),
  ...each(
    [{ fields: 'all', waitsFor: HOSTS }],
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
