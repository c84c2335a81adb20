import type { Live, View } from '../view/view.ts';
import type { Change } from './diff.ts';
import type { Step } from './rolling.ts';

interface Outside {
  readonly method: string;
  readonly what: string;
  readonly at: string;
}

/** What a person should know before an edit is made: data that goes, service that stops, room that lacks. */
export function warningsOf(
  before: View,
  after: View,
  changes: readonly Change[],
  steps: readonly Step[],
  effects: readonly Outside[],
): readonly string[] {
  return [...dataLoss(before, changes, effects), ...pauses(after, steps), ...capacity(before, after)];
}

function dataLoss(before: View, changes: readonly Change[], effects: readonly Outside[]): readonly string[] {
  const gone = changes.filter(change => change.action === 'delete');
  const claims = gone
    .filter(change => change.kind === 'PersistentVolumeClaim')
    .map(change => `PersistentVolumeClaim ${change.name} is deleted, and the data on its volume with it`);
  const dropped = effects
    .filter(effect => effect.method === 'dropDatabase')
    .map(effect => `database ${effect.what} is dropped, and its data with it`);
  const kept = gone.flatMap(change => {
    const object = before.get(change.kind, change.namespace, change.name);
    const policy = (object?.spec as { deletionPolicy?: string } | undefined)?.deletionPolicy;
    return policy === 'Retain'
      ? [
          `${change.kind} ${change.name} is deleted; its data stays (deletionPolicy Retain) and is found again when it is made anew`,
        ]
      : [];
  });
  const namespace =
    kept.length > 0 ? ['deleting the namespace itself deletes its volumes, whatever deletionPolicy says'] : [];
  return [...claims, ...dropped, ...kept, ...namespace];
}

/** Everything that asks these waits while their only member restarts. */
const SHARED: Readonly<Record<string, string>> = { MariaDB: 'database', RabbitMQ: 'message bus' };

function pauses(after: View, steps: readonly Step[]): readonly string[] {
  return steps
    .filter(step => step.is === 'rolls')
    .flatMap(step => {
      const workload = after.ofKind(step.kind).find(object => object.metadata.name === step.name);
      const owner = workload && after.ownerOf(workload);
      const replicas = (workload?.spec as { replicas?: number } | undefined)?.replicas ?? 1;
      const strategy = (workload?.spec as { updateStrategy?: { type?: string } } | undefined)?.updateStrategy?.type;
      if (strategy === 'OnDelete')
        return [`${step.kind} ${step.name} has a new template; its pods keep the old one until somebody deletes them`];
      const what = SHARED[owner?.kind ?? ''];
      if (what && replicas === 1)
        return [`the ${what} ${owner?.metadata.name} has one member: services wait while it restarts`];
      const alone = step.kind === 'StatefulSet' && replicas === 1;
      return alone ? [`${step.kind} ${step.name} has one pod: it is away while it restarts`] : [];
    });
}

interface Requests {
  readonly cpu: number;
  readonly memory: number;
}

/** What new or larger pods ask for, against what nodes have: the sum only, a scheduler may still find no place. */
function capacity(before: View, after: View): readonly string[] {
  const nodes = after
    .ofKind('Node')
    .map(node => (node.status as { allocatable?: Record<string, string> } | undefined)?.allocatable ?? {});
  if (nodes.length === 0) return [];
  const [had, wants] = [requestsOf(before), requestsOf(after)];
  return (['cpu', 'memory'] as const).flatMap(name => {
    const room = nodes.reduce((sum, allocatable) => sum + quantity(allocatable[name] ?? '0'), 0);
    if (room === 0 || wants[name] <= room || wants[name] <= had[name]) return [];
    return [`pods ask for ${shown(name, wants[name])} of ${name}, and the nodes have ${shown(name, room)}`];
  });
}

function requestsOf(view: View): Requests {
  const pods = view
    .ofKind('Pod')
    .filter(pod => !['Succeeded', 'Failed'].includes((pod.status as { phase?: string } | undefined)?.phase ?? ''));
  const sum = (name: 'cpu' | 'memory'): number =>
    pods.flatMap(containersOf).reduce((total, requests) => total + quantity(requests[name] ?? '0'), 0);
  return { cpu: sum('cpu'), memory: sum('memory') };
}

const containersOf = (pod: Live): readonly Readonly<Record<string, string>>[] =>
  (
    (pod.spec as { containers?: readonly { resources?: { requests?: Record<string, string> } }[] } | undefined)
      ?.containers ?? []
  ).map(container => container.resources?.requests ?? {});

const UNITS: Readonly<Record<string, number>> = {
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
};

export function quantity(text: string): number {
  const [, number = '0', unit = ''] = /^([\d.]+)([A-Za-z]*)$/.exec(text) ?? [];
  return Number(number) * (UNITS[unit] ?? 1);
}

const shown = (name: string, value: number): string =>
  name === 'cpu' ? `${Math.round(value * 100) / 100}` : `${Math.round(value / 2 ** 20)} MiB`;
