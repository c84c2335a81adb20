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

const WHOLE = 'issue 6: the whole control plane';
const CACHE = 'images whose clients of memcached speak TLS (docs/how-to/tls.md; no issue yet)';
const HOSTS = 'the data plane (DESIGN.md section 8; no issue yet)';

/** The region comes with Keystone, until one Keystone serves several. */
const apiPlanned = ['region'];

const unpublished = ['ingress.path', 'ingress.annotations', 'ingress.gatewayRef'];

/** The region of Nova's parts comes with the Secret that opens Keystone, until one Keystone serves several. */
const novaPart = ['actions', 'region'];
const inCell = (field: string): string[] =>
  ['conductorServiceTemplate', 'metadataServiceTemplate', 'noVNCProxyServiceTemplate', 'novaComputeTemplates.*']
    .filter(part => field !== 'expose' || !/^(conductor|novaCompute)/.test(part))
    .map(part => `${part}.${field}`);
const everywhere = (field: string): string[] => [
  ...(field === 'expose' ? [] : [field, `apiServiceTemplate.${field}`, `schedulerServiceTemplate.${field}`]),
  `metadataServiceTemplate.${field}`,
  ...inCell(field).map(path => `cellTemplates.*.${path}`),
];

/**
 * By kind. A kind that is not here is read in full. Sections of the control plane are passed on as they are, so the
 * kind that gets them answers for their fields.
 */
export const PLANNED: Readonly<Record<string, readonly Planned[]>> = {
  RabbitMQ: [{ fields: ['expose'], waitsFor: WHOLE }],
  Memcached: [{ fields: ['tls.issuerRef', 'tls.secretName', 'tls.caBundleSecretName'], waitsFor: CACHE }],
  Keystone: [{ fields: ['expose'], waitsFor: WHOLE }],
  Glance: [{ fields: apiPlanned, waitsFor: WHOLE }],
  Placement: [{ fields: apiPlanned, waitsFor: WHOLE }],
  OVNNetwork: [{ fields: ['electionTimerMS', 'expose'], waitsFor: WHOLE }],
  Neutron: [{ fields: apiPlanned, waitsFor: WHOLE }],
  Nova: [
    {
      fields: everywhere('expose'),
      waitsFor: WHOLE,
    },
  ],
  NovaCell: [{ fields: ['actions', ...inCell('expose')], waitsFor: WHOLE }],
  NovaAPI: [{ fields: novaPart, waitsFor: WHOLE }],
  NovaScheduler: [{ fields: novaPart, waitsFor: WHOLE }],
  NovaConductor: [{ fields: novaPart, waitsFor: WHOLE }],
  NovaMetadata: [{ fields: [...novaPart, 'expose'], waitsFor: WHOLE }],
  NovaNoVNCProxy: [
    {
      fields: [...novaPart, 'expose', ...unpublished, 'publicURL', 'tls.publicSecretName', 'cellName'],
      waitsFor: WHOLE,
    },
  ],
  NovaCompute: [{ fields: novaPart, waitsFor: WHOLE }],
  Heat: [{ fields: apiPlanned, waitsFor: WHOLE }],
  CephStorage: [{ fields: ['rook'], waitsFor: WHOLE }],
  Cinder: [{ fields: apiPlanned, waitsFor: WHOLE }],
  ...all(HOSTS, ['OpenStackDataPlane', 'NovaExternalCompute', 'OVNMetadataAgent', 'OpenStackAnsibleEE']),
  ...all(HOSTS, ['OpenStackDataPlaneRole', 'OpenStackDataPlaneNode', 'OpenStackDataPlaneNodeSet']),
  ...all(HOSTS, ['OpenStackDataPlaneService', 'OpenStackDataPlaneDeployment']),
};

function all(waitsFor: string, kinds: readonly string[]): Record<string, readonly Planned[]> {
  return Object.fromEntries(kinds.map(kind => [kind, [{ fields: 'all', waitsFor }]]));
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
