import type { NodeSelectorRequirement } from 'kubernetes-types/core/v1.d.ts';
import { Nova } from '../../../api/openstack/nova.ts';
import type { DeepReadonly } from '../../kube/object.ts';
import { DaemonSet } from '../../kube/resource.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import type { ConfigFile } from '../config/config.ts';
import { AGENT_KEY, hostAgentSecret, podAgentSecret } from '../nova/agents.ts';
import { cellsOf, type NovaSpec } from '../nova/spec.ts';
import { COMPUTE_LABEL, has, is } from '../pods/node.ts';
import { servingSecret } from '../tls/certificate.ts';
import { CA_BUNDLE } from '../tls/trust.ts';

const at = (name: string): string => `/etc/neutron/neutron.conf.d/${name}`;

/** What an agent reads to find the metadata service, and whom it trusts there. */
export interface AgentFiles {
  readonly files: readonly ConfigFile[];
  readonly ca?: string;
}

/** Earlier versions gave agents the address for hosts as well; as it sorts before the other file, it had no effect. */
const EARLIER_KEY = '05-nova-metadata-hosts.conf';

/** Whether the pods of this DaemonSet run with that file and nothing of it changed: without it they would restart. */
async function hasEarlierFile<O extends Managed>(
  cx: Cx<O>,
  workload: string,
  inside: string,
  outside: string,
): Promise<boolean> {
  if (outside === inside) return false;
  const { template } = (cx.get(DaemonSet, workload)?.spec ?? {}) as {
    readonly template?: { readonly spec?: { readonly volumes?: readonly { secret?: { secretName?: string } }[] } };
  };
  for (const { secret } of template?.spec?.volumes ?? []) {
    const data = secret?.secretName === undefined ? undefined : await cx.secretIfAny(secret.secretName);
    if (data?.[EARLIER_KEY] === outside && data[AGENT_KEY] === inside) return true;
  }
  return false;
}

/** `prefix`: where one Secret holds the files of several agents. */
async function filesOf<O extends Managed>(
  cx: Cx<O>,
  owner: string,
  workload: string,
  prefix = '',
): Promise<AgentFiles | undefined> {
  const outside = (await cx.secretIfAny(hostAgentSecret(owner))) ?? {};
  // An operator of this version that has just taken over has not made the first one yet.
  const data = (await cx.secretIfAny(podAgentSecret(owner))) ?? outside;
  const text = data[AGENT_KEY];
  if (text === undefined) return undefined;
  const hosts = outside[EARLIER_KEY] ?? outside[AGENT_KEY] ?? text;
  const earlier = await hasEarlierFile(cx, workload, text, hosts);
  const files = [
    ...(earlier ? [{ key: EARLIER_KEY, path: at(EARLIER_KEY), text: hosts }] : []),
    { key: `${prefix}${AGENT_KEY}`, path: at(AGENT_KEY), text },
  ];
  const ca = text.includes(CA_BUNDLE)
    ? (await cx.secretIfAny(servingSecret(`${owner}-metadata`)))?.['ca.crt']
    : undefined;
  return { files, ...(ca !== undefined && { ca }) };
}

/** For agents that serve all nodes: the one for all cells, else that of the first cell that has its own. */
export async function metadataFiles<O extends Managed>(cx: Cx<O>, workload: string): Promise<AgentFiles> {
  for (const nova of cx.wishes(Nova)) {
    const { name } = nova.metadata;
    const cells = Object.keys((nova.spec as Partial<NovaSpec>).cellTemplates ?? {}).sort();
    for (const owner of [name, ...cells.map(cell => `${name}-${cell}`)]) {
      const found = await filesOf(cx, owner, workload);
      if (found) return found;
    }
  }
  return { files: [] };
}

/** The agents of a cell that has a metadata service of its own. */
export interface CellAgent extends AgentFiles {
  /** The NovaCell. */
  readonly owner: string;
  /** Nodes of its computes: those that fit one of these sets. */
  readonly nodes: readonly (readonly NodeSelectorRequirement[])[];
}

type Labels = Readonly<Record<string, string>>;
interface OwnCell {
  readonly name: string;
  readonly owner: string;
  readonly selectors: readonly Labels[];
}

/** Cells with metadata services of their own; fewer than two need no agents of their own. */
function ownCells<O extends Managed>(cx: Cx<O>): readonly OwnCell[] {
  const cells = cx.wishes(Nova).flatMap(nova => {
    const spec = nova.spec as DeepReadonly<NovaSpec>;
    return cellsOf(spec)
      .filter(({ template }) => template.metadataServiceTemplate?.enabled === true)
      .map(({ name, template }) => ({
        name,
        owner: `${nova.metadata.name}-${name}`,
        selectors: Object.values(template.novaComputeTemplates ?? {})
          .filter(({ computeDriver = 'libvirt' }) => computeDriver === 'libvirt')
          .map(({ nodeSelector = {} }) => nodeSelector),
      }));
  });
  return cells.length < 2 ? [] : [...cells].sort((a, b) => (a.owner < b.owner ? -1 : 1));
}

const within = (inner: Labels, outer: Labels): boolean =>
  Object.entries(outer).every(([key, value]) => inner[key] === value);

/** Two cells whose computes are on the same nodes for certain: each such node would have two agents. */
export function sharedNodes(cells: readonly OwnCell[]): readonly [OwnCell, OwnCell] | undefined {
  for (const [index, first] of cells.entries())
    for (const second of cells.slice(index + 1))
      for (const a of first.selectors)
        if (second.selectors.some(b => within(a, b) || within(b, a))) return [first, second];
  return undefined;
}

interface CellAgents {
  readonly agents: readonly CellAgent[];
  readonly shared: readonly [OwnCell, OwnCell] | undefined;
}

/** Agents by cell, where two or more cells have metadata services of their own: each knows the guests of its cell only. */
export async function cellAgents<O extends Managed>(
  cx: Cx<O>,
  workloadOf: (owner: string) => string,
): Promise<CellAgents | undefined> {
  const cells = ownCells(cx);
  if (cells.length === 0) return undefined;
  const agents: CellAgent[] = [];
  for (const { owner, selectors } of cells) {
    const found = await filesOf(cx, owner, workloadOf(owner), `${owner}-`);
    if (found === undefined || selectors.length === 0) continue;
    const nodes = selectors.map(labels => [
      has(COMPUTE_LABEL),
      ...Object.entries(labels)
        .sort()
        .map(([key, value]) => is(key, value)),
    ]);
    agents.push({ ...found, owner, nodes });
  }
  return { agents, shared: sharedNodes(cells) };
}
