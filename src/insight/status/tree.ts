import { podTrouble } from '../../runtime/plan/ready.ts';
import { conditionsOf, isOurs, type Live, namespaceOf, type View } from '../view/view.ts';
import { type State, stateOf } from './status.ts';
import { isRunning, isWorkload, progressOf } from './workloads.ts';

export interface TreeNode {
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
  readonly state: State;
  readonly text: string;
  readonly children: readonly TreeNode[];
}

/** Control planes, then what stands alone; below each its kinds, workloads, Jobs and pods. */
export function treeOf(view: View): readonly TreeNode[] {
  return view.ours.filter(object => !view.ownerOf(object)).map(object => treeBelow(view, object));
}

/** Things that pods come from: the rest of what we make (Secrets, Services) has no state of its own. */
const shown = (object: Live): boolean =>
  isOurs(object) || isWorkload(object) || ['Job', 'ReplicaSet', 'Pod'].includes(object.kind);

export function treeBelow(view: View, object: Live): TreeNode {
  const owned = view.owned(object).filter(shown);
  const children = [...view.ours.filter(child => owned.includes(child)), ...owned.filter(child => !isOurs(child))]
    // A ReplicaSet only says what its Deployment and its pods say.
    .flatMap(child => (child.kind === 'ReplicaSet' ? view.owned(child) : [child]))
    .map(child => treeBelow(view, child));
  const { state, text } = sayOf(view, object);
  const { kind, metadata } = object;
  return { kind, name: metadata.name, namespace: namespaceOf(object), state, text, children };
}

function sayOf(view: View, object: Live): { state: State; text: string } {
  if (isOurs(object)) return ourSay(object);
  if (object.metadata.deletionTimestamp) return { state: 'deleting', text: 'being deleted' };
  if (object.kind === 'Pod') return podSay(object);
  if (object.kind === 'Job') return jobSay(object);
  const progress = progressOf(object);
  const failing = view.owned(object).some(child => view.owned(child).some(isTroubled) || isTroubled(child));
  const text = `${progress.ready}/${progress.wanted}${progress.doing ? `, ${progress.doing}` : ''}`;
  return { state: progress.doing === undefined ? 'ready' : failing ? 'stuck' : 'moving', text };
}

const isTroubled = (object: Live): boolean => {
  const trouble = object.kind === 'Pod' ? podTrouble(object) : undefined;
  return trouble !== undefined && trouble.reason !== 'VolumePending';
};

function ourSay(object: Live): { state: State; text: string } {
  const state = stateOf(object);
  const ready = conditionsOf(object).find(c => c.type === 'Ready');
  if (state === 'ready') return { state, text: 'Ready' };
  if (state === 'unseen') return { state, text: 'no operator has looked at it yet' };
  return { state, text: [state === 'paused' ? 'Paused' : ready?.reason, ready?.message].filter(Boolean).join(': ') };
}

function podSay(pod: Live): { state: State; text: string } {
  const { phase = 'Pending' } = (pod.status ?? {}) as { phase?: string };
  const trouble = podTrouble(pod);
  if (trouble)
    return {
      state: trouble.reason === 'VolumePending' ? 'moving' : 'stuck',
      text: `${trouble.reason}: ${trouble.what}`,
    };
  const ready = conditionsOf(pod).some(c => c.type === 'Ready' && c.status === 'True');
  if (ready || phase === 'Succeeded') return { state: 'ready', text: ready ? 'Ready' : 'Completed' };
  return { state: phase === 'Failed' ? 'stuck' : 'moving', text: phase };
}

function jobSay(job: Live): { state: State; text: string } {
  if (conditionsOf(job).some(c => c.type === 'Failed' && c.status === 'True'))
    return { state: 'stuck', text: 'Failed' };
  return isRunning(job) ? { state: 'moving', text: 'Running' } : { state: 'ready', text: 'Complete' };
}

export interface TreeLine {
  readonly indent: string;
  readonly label: string;
  readonly state: State;
  readonly text: string;
}

/** Only trouble is expanded, and equal siblings are one line: a healthy cloud is a dozen lines. `all` shows everything. */
export function linesOf(nodes: readonly TreeNode[], all = false, prefix?: string): readonly TreeLine[] {
  const groups = all ? nodes.map(node => [node]) : foldEqual(nodes);
  return groups.flatMap((group, index) => {
    const last = index === groups.length - 1;
    const [first] = group as readonly [TreeNode];
    const one = group.length === 1;
    const line = {
      indent: prefix === undefined ? '' : `${prefix}${last ? '└─ ' : '├─ '}`,
      label: one ? `${first.kind} ${first.name}` : `${group.length} ${first.kind}s`,
      state: first.state,
      text: one ? first.text : `${first.text}: ${names(group)}`,
    };
    if (!one || !(all || open(first))) return [line];
    return [line, ...linesOf(first.children, all, prefix === undefined ? '' : `${prefix}${last ? '   ' : '│  '}`)];
  });
}

/** Ready things hide what is below them, save the control plane, whose kinds are the point of the picture. */
const open = (node: TreeNode): boolean => node.state !== 'ready' || node.kind === 'OpenStackControlPlane';

const names = (group: readonly TreeNode[]): string => {
  const shown = group.slice(0, 4).map(node => node.name);
  return group.length > 4 ? `${shown.join(', ')} and ${group.length - 4} more` : shown.join(', ');
};

function foldEqual(nodes: readonly TreeNode[]): readonly (readonly TreeNode[])[] {
  const groups = new Map<string, TreeNode[]>();
  for (const node of nodes) {
    const alike = node.children.length === 0 || !open(node);
    const own = isOurs({ kind: node.kind } as never);
    const key = alike && !own ? `${node.kind}/${node.state}/${node.text}` : `${node.kind}/${node.name}`;
    const group = groups.get(key);
    if (group) group.push(node);
    else groups.set(key, [node]);
  }
  return [...groups.values()];
}
