import { Node } from '../../kube/resource.ts';
import { type Hands, withCondition } from './hands.ts';
import type {
  Container,
  ContainerState,
  ContainerStatus,
  NodeObject,
  PodObject,
  PodStatus,
  Terminated,
} from './objects.ts';
import type { Outcome } from './program.ts';

export type Phase =
  | { readonly is: 'waiting'; readonly reason: string; readonly message?: string; readonly until?: number }
  | { readonly is: 'preparing'; readonly until: number }
  | { readonly is: 'running'; readonly since: number; readonly startedAt: string; readonly outcome: Outcome }
  | { readonly is: 'ended'; readonly how: Terminated };

/** One container as the kubelet remembers it. */
export interface Slot {
  phase: Phase;
  restarts: number;
  /** In a row, for the back-off. */
  crashes: number;
  last?: Terminated;
}

export interface Box {
  readonly ip: string;
  readonly slots: Map<string, Slot>;
  stopAt?: number;
}

export const fresh = (): Slot => ({ phase: { is: 'waiting', reason: 'ContainerCreating' }, restarts: 0, crashes: 0 });

export const containerID = (pod: PodObject, container: Container, slot: Slot) =>
  `pretend://${pod.metadata.uid}/${container.name}/${slot.restarts}`;

/** The pod's status as it follows from its containers. */
export function statusOf(pod: PodObject, box: Box, hands: Hands): PodStatus {
  const now = hands.clock.now();
  const node = hands.view.get<NodeObject>(Node, '', pod.spec.nodeName ?? '');
  const inits = pod.spec.initContainers ?? [];
  const state = (slot: Slot, waiting: string): ContainerState => {
    const { phase } = slot;
    if (phase.is === 'ended') return { terminated: phase.how };
    if (phase.is === 'running') return { running: { startedAt: phase.startedAt } };
    if (phase.is === 'preparing') return { waiting: { reason: waiting } };
    const reason = phase.reason === 'ContainerCreating' ? waiting : phase.reason;
    return { waiting: { reason, ...(phase.message !== undefined && { message: phase.message }) } };
  };
  const isUp = (slot: Slot) =>
    slot.phase.is === 'running' &&
    'serves' in slot.phase.outcome &&
    now >= slot.phase.since + slot.phase.outcome.readyAfter;
  const initialized = inits.every(c => {
    const { phase } = box.slots.get(c.name)!;
    return c.restartPolicy === 'Always' ? phase.is === 'running' : phase.is === 'ended' && phase.how.exitCode === 0;
  });
  const status =
    (init: boolean) =>
    (c: Container): ContainerStatus => {
      const slot = box.slots.get(c.name)!;
      const running = slot.phase.is === 'running';
      const begun = running || slot.phase.is === 'ended' || slot.restarts > 0;
      const done = slot.phase.is === 'ended' && slot.phase.how.exitCode === 0;
      return {
        name: c.name,
        image: c.image ?? '',
        imageID: begun ? `pretend://${c.image}` : '',
        ready: init && c.restartPolicy !== 'Always' ? done : isUp(slot),
        started: running,
        restartCount: slot.restarts,
        ...(slot.phase.is === 'ended' && { containerID: slot.phase.how.containerID }),
        ...(running && { containerID: containerID(pod, c, slot) }),
        state: state(slot, initialized && !init ? 'ContainerCreating' : 'PodInitializing'),
        lastState: slot.last ? { terminated: slot.last } : {},
      };
    };
  const slots = pod.spec.containers.map(c => box.slots.get(c.name)!);
  const failedInit = inits.some(c => {
    const { phase } = box.slots.get(c.name)!;
    return phase.is === 'ended' && phase.how.exitCode !== 0;
  });
  const ended = slots.every(s => s.phase.is === 'ended');
  const good = slots.every(s => s.phase.is === 'ended' && s.phase.how.exitCode === 0);
  const begun = slots.some(s => s.phase.is === 'running' || s.phase.is === 'ended' || s.restarts > 0);
  const phase = failedInit ? 'Failed' : ended ? (good ? 'Succeeded' : 'Failed') : begun ? 'Running' : 'Pending';
  const ready = phase === 'Running' && slots.every(isUp);
  const over = phase === 'Succeeded' ? 'PodCompleted' : phase === 'Failed' ? 'PodFailed' : 'ContainersNotReady';
  const notReady = pod.spec.containers.filter(c => !isUp(box.slots.get(c.name)!)).map(c => c.name);
  const message = phase === 'Succeeded' ? undefined : `containers with unready status: [${notReady.join(' ')}]`;
  const no = { reason: over, ...(message && { message }) };
  const conditions = (
    [
      ['PodReadyToStartContainers', begun, {}],
      ['Initialized', initialized, { reason: 'ContainersNotInitialized' }],
      ['Ready', ready, no],
      ['ContainersReady', ready, no],
      ['PodScheduled', true, {}],
    ] as const
  ).reduce(
    (list, [type, yes, why]) =>
      withCondition(list, { type, status: yes ? 'True' : 'False', ...(yes ? {} : why) }, hands.time()),
    pod.status?.conditions ?? [],
  );
  const hostIP = node?.status?.addresses?.find(a => a.type === 'InternalIP')?.address;
  return {
    phase,
    conditions,
    startTime: pod.status?.startTime ?? hands.time(),
    ...(hostIP !== undefined && { hostIP, hostIPs: [{ ip: hostIP }] }),
    ...(begun && { podIP: box.ip, podIPs: [{ ip: box.ip }] }),
    ...(inits.length > 0 && { initContainerStatuses: inits.map(status(true)) }),
    containerStatuses: pod.spec.containers.map(status(false)),
  };
}
