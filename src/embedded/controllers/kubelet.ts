import { Node, Pod } from '../../kube/resource.ts';
import { type Box, containerID, fresh, type Phase, type Slot, statusOf } from './container.ts';
import { type Hands, withCondition } from './hands.ts';
import type { Again } from './loop.ts';
import { environment, expand, files, missingVolume, volumeAt } from './mounts.ts';
import type { Container, ContainerStatus, PodObject, Terminated } from './objects.ts';
import type { Exit, Outcome, Programs, Run } from './program.ts';
import { schedule } from './schedule.ts';

export interface Delays {
  /** Of an image that the node does not have yet. */
  readonly pull: number;
  /** From the image to the running process. */
  readonly start: number;
  /** From the running process to its first good probe, where the program does not say. */
  readonly ready: number;
  /** How long a Job's command takes, where the program does not say. */
  readonly job: number;
  /** From the request to stop until the process is gone; never longer than the pod's grace. */
  readonly stop: number;
}

/** Pods on a silent node are given up after this: the default toleration of not-ready and unreachable nodes. */
const EVICTION = 300_000;
/** Crash back-off: nothing, then 10 s doubled up to 5 min; forgotten after 10 min of good life. */
const [BACKOFF, MAX_BACKOFF, GOOD_LIFE] = [10_000, 300_000, 600_000];

export class Kubelet {
  readonly #hands: Hands;
  readonly #programs: Programs;
  readonly #delays: Delays;
  /** By uid. Memory only: after a restart it is read back from the pods' status. */
  readonly #boxes = new Map<string, Box>();
  readonly #images = new Set<string>();
  /** Since when. */
  readonly #silent = new Map<string, number>();

  constructor(hands: Hands, programs: Programs, delays: Delays) {
    this.#hands = hands;
    this.#programs = programs;
    this.#delays = delays;
  }

  silence(node: string): void {
    this.#silent.set(node, this.#hands.clock.now());
  }

  heal(node: string): void {
    this.#silent.delete(node);
  }

  isSilent(node: string): boolean {
    return this.#silent.has(node);
  }

  kill(pod: PodObject): void {
    const slots = this.#boxes.get(pod.metadata.uid ?? '')?.slots;
    for (const container of pod.spec.containers) {
      const slot = slots?.get(container.name);
      if (slot?.phase.is === 'running') this.#end(pod, container, slot, slot.phase, { exit: 137, message: 'killed' });
    }
  }

  forget(pod: { metadata: { uid?: string } }): void {
    this.#boxes.delete(pod.metadata.uid ?? '');
  }

  async look(pod: PodObject): Promise<Again> {
    const node = pod.spec.nodeName;
    if (pod.metadata.deletionTimestamp !== undefined) return this.#leave(pod);
    if (node === undefined) {
      await schedule(this.#hands, pod);
      return undefined;
    }
    if (this.#silent.has(node)) return this.#lost(pod, this.#silent.get(node)!);
    if (pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed') return undefined;
    const box = this.#box(pod);
    const due = await this.#advance(pod, box);
    await this.#hands.setStatus(Pod, pod, statusOf(pod, box, this.#hands));
    return due;
  }

  async #leave(pod: PodObject): Promise<number | undefined> {
    const { clock } = this.#hands;
    const { nodeName } = pod.spec;
    if (nodeName !== undefined && this.#silent.has(nodeName)) return undefined;
    const box = this.#boxes.get(pod.metadata.uid ?? '');
    const runs = [...(box?.slots.values() ?? [])].some(s => s.phase.is === 'running');
    if (box && runs) {
      const grace = (pod.metadata.deletionGracePeriodSeconds ?? pod.spec.terminationGracePeriodSeconds ?? 30) * 1000;
      box.stopAt ??= clock.now() + Math.min(grace, this.#delays.stop);
      if (clock.now() < box.stopAt) return box.stopAt - clock.now();
    }
    await this.#hands.remove(Pod, pod, { grace: 0 });
    return undefined;
  }

  async #lost(pod: PodObject, since: number): Promise<number | undefined> {
    let conditions = pod.status?.conditions ?? [];
    for (const { type } of conditions.filter(c => c.type === 'Ready')) {
      conditions = withCondition(conditions, { type, status: 'False', reason: 'NodeNotReady' }, this.#hands.time());
    }
    await this.#hands.setStatus(Pod, pod, { conditions });
    const left = since + EVICTION - this.#hands.clock.now();
    if (left > 0) return left;
    await this.#hands.remove(Pod, pod);
    return undefined;
  }

  #box(pod: PodObject): Box {
    const uid = pod.metadata.uid ?? '';
    const old = this.#boxes.get(uid);
    if (old) return old;
    const box: Box = { ip: pod.status?.podIP ?? this.#address(pod), slots: new Map() };
    this.#boxes.set(uid, box);
    const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
    for (const c of [...(pod.spec.initContainers ?? []), ...pod.spec.containers]) {
      const status = statuses.find(s => s.name === c.name);
      box.slots.set(c.name, status ? this.#recall(pod, c, box, status) : fresh());
    }
    return box;
  }

  /** A process outlives the kubelet that started it. */
  #recall(pod: PodObject, container: Container, box: Box, status: ContainerStatus): Slot {
    const slot: Slot = { ...fresh(), restarts: status.restartCount, crashes: status.restartCount };
    if (status.lastState.terminated) slot.last = status.lastState.terminated;
    if ('terminated' in status.state) slot.phase = { is: 'ended', how: status.state.terminated };
    if ('running' in status.state) {
      const env = environment(this.#hands.view, pod, container);
      const outcome = this.#start(pod, container, box, 'env' in env ? env.env : {});
      const since = status.ready
        ? this.#hands.clock.now() - ('readyAfter' in outcome ? outcome.readyAfter : 0)
        : this.#hands.clock.now();
      slot.phase = { is: 'running', since, startedAt: status.state.running.startedAt, outcome };
    }
    return slot;
  }

  /** Lowest free one of the node's range. */
  #address(pod: PodObject): string {
    const nodes = this.#hands.view
      .list(Node)
      .map(n => n.metadata.name)
      .sort();
    const net = `10.244.${nodes.indexOf(pod.spec.nodeName ?? '')}`;
    const used = new Set([...this.#boxes.values()].map(b => b.ip));
    for (const p of this.#hands.view.list<PodObject>(Pod)) if (p.status?.podIP) used.add(p.status.podIP);
    for (let i = 2; ; i++) if (!used.has(`${net}.${i}`)) return `${net}.${i}`;
  }

  /** Moves every container as far as time allows; answers when to look again. */
  async #advance(pod: PodObject, box: Box): Promise<Again> {
    const absent = missingVolume(this.#hands.view, pod);
    const begun = [...box.slots.values()].some(s => s.phase.is !== 'waiting');
    if (absent !== undefined && !begun) {
      await this.#hands.event(pod, 'Warning', 'FailedMount', absent);
      return undefined;
    }
    let due = Number.POSITIVE_INFINITY;
    // A crash loop would keep a simulation from ever being quiet.
    let looping = true;
    const step = async (container: Container) => {
      const next = await this.#step(pod, box, container);
      due = Math.min(due, next);
      const slot = box.slots.get(container.name)!;
      looping &&= next === Number.POSITIVE_INFINITY || slot.crashes > 3;
      return slot.phase;
    };
    for (const container of pod.spec.initContainers ?? []) {
      const phase = await step(container);
      const done =
        container.restartPolicy === 'Always'
          ? phase.is === 'running'
          : phase.is === 'ended' && phase.how.exitCode === 0;
      if (!done) return this.#in(due, looping);
    }
    for (const container of pod.spec.containers) await step(container);
    return this.#in(due, looping);
  }

  #in(due: number, idle: boolean): Again {
    return due === Number.POSITIVE_INFINITY ? undefined : { ms: Math.max(0, due - this.#hands.clock.now()), idle };
  }

  /** The moment of the container's next change, Infinity when only an event can bring one. */
  async #step(pod: PodObject, box: Box, container: Container): Promise<number> {
    const slot = box.slots.get(container.name)!;
    const now = this.#hands.clock.now();
    for (;;) {
      const { phase } = slot;
      if (phase.is === 'ended') {
        if (!this.#restarts(pod, container, phase.how.exitCode)) return Number.POSITIVE_INFINITY;
        await this.#again(pod, container, slot, phase.how, now);
      } else if (phase.is === 'waiting') {
        if (phase.until !== undefined && now < phase.until) return phase.until;
        if (this.#stuck(pod, container, slot, phase)) return wake(slot.phase);
        const image = `${pod.spec.nodeName} ${container.image}`;
        const pull = this.#images.has(image) ? 0 : this.#delays.pull;
        slot.phase = { is: 'preparing', until: now + pull + this.#delays.start };
      } else if (phase.is === 'preparing') {
        if (now < phase.until) return phase.until;
        if (!(await this.#begin(pod, box, container, slot))) return Number.POSITIVE_INFINITY;
      } else if ('serves' in phase.outcome) {
        const ready = phase.since + phase.outcome.readyAfter;
        if (now >= ready) return Number.POSITIVE_INFINITY;
        if (phase.outcome.unhealthy === undefined) return ready;
        const limit = phase.since + patience(container.startupProbe);
        if (now < limit) return this.#ails(pod, container, phase.outcome.unhealthy, Math.min(ready, limit));
        const note = `Container ${container.name} failed startup probe, will be restarted`;
        await this.#hands.event(pod, 'Normal', 'Killing', note);
        this.#end(pod, container, slot, phase, { exit: 143 });
      } else {
        const end = phase.since + phase.outcome.after;
        if (now < end) return end;
        const exit = 'end' in phase.outcome ? phase.outcome.end() : phase.outcome;
        this.#end(pod, container, slot, phase, exit);
      }
    }
  }

  async #ails(pod: PodObject, container: Container, says: string, until: number): Promise<number> {
    const probe = container.startupProbe ? 'Startup' : 'Readiness';
    await this.#hands.event(pod, 'Warning', 'Unhealthy', `${probe} probe failed: ${says}`);
    return until;
  }

  /** What only somebody else can end: an image that is nowhere, a key that is missing. */
  #stuck(pod: PodObject, container: Container, slot: Slot, phase: Phase & { is: 'waiting' }): boolean {
    if (phase.reason === 'ErrImagePull' || phase.reason === 'ImagePullBackOff') {
      const message = `Back-off pulling image "${container.image}": not found`;
      slot.phase = { is: 'waiting', reason: 'ImagePullBackOff', message };
      return true;
    }
    if (phase.reason !== 'CreateContainerConfigError') return false;
    const { reason, message = '', until } = phase;
    const missing = 'missing' in environment(this.#hands.view, pod, container);
    if (!missing && until !== undefined) return false;
    // A kubelet looks again in its own time, not when the key comes.
    slot.phase = { is: 'waiting', reason, message, ...(!missing && { until: this.#hands.clock.now() + BACKOFF }) };
    return true;
  }

  /** False when it waits for somebody else. */
  async #begin(pod: PodObject, box: Box, container: Container, slot: Slot): Promise<boolean> {
    const now = this.#hands.clock.now();
    const image = container.image ?? '';
    if (image.includes('no-such')) {
      const message = `failed to pull and unpack image "${image}": not found`;
      slot.phase = { is: 'waiting', reason: 'ErrImagePull', message, until: now + BACKOFF };
      await this.#hands.event(pod, 'Warning', 'Failed', `Failed to pull image "${image}": not found`);
      return true;
    }
    this.#images.add(`${pod.spec.nodeName} ${image}`);
    const env = environment(this.#hands.view, pod, container);
    if ('missing' in env) {
      slot.phase = { is: 'waiting', reason: 'CreateContainerConfigError', message: env.missing };
      await this.#hands.event(pod, 'Warning', 'Failed', `Error: ${env.missing}`);
      return false;
    }
    const outcome = this.#start(pod, container, box, env.env);
    slot.phase = { is: 'running', since: now, startedAt: this.#hands.time(), outcome };
    return true;
  }

  #start(pod: PodObject, container: Container, box: Box, env: Record<string, string>): Outcome {
    const { view, clock } = this.#hands;
    const seen = { ...pod, status: { ...pod.status, podIP: box.ip } };
    const run: Run = {
      pod: seen,
      container,
      argv: [...(container.command ?? []), ...(container.args ?? [])].map(a => expand(a, env)),
      env,
      file: path => files(view, pod, container)[path],
      files: directory => {
        const root = `${directory.replace(/\/$/, '')}/`;
        return Object.keys(files(view, pod, container)).flatMap(p => (p.startsWith(root) ? p.slice(root.length) : []));
      },
      volume: path => volumeAt(view, pod, container, path),
      clock,
    };
    const known = this.#programs(run);
    if (known !== undefined) return known;
    const ends =
      pod.spec.restartPolicy === 'Never' ||
      pod.spec.restartPolicy === 'OnFailure' ||
      !pod.spec.containers.includes(container);
    return ends && container.restartPolicy !== 'Always'
      ? { exit: 0, after: this.#delays.job }
      : { serves: true, readyAfter: this.#delays.ready };
  }

  #end(pod: PodObject, container: Container, slot: Slot, phase: Phase & { is: 'running' }, exit: Exit): void {
    if (this.#hands.clock.now() - phase.since > GOOD_LIFE) slot.crashes = 0;
    const how: Terminated = {
      exitCode: exit.exit,
      reason: exit.reason ?? (exit.exit === 0 ? 'Completed' : 'Error'),
      ...(exit.message !== undefined && { message: exit.message }),
      startedAt: phase.startedAt,
      finishedAt: this.#hands.time(),
      containerID: containerID(pod, container, slot),
    };
    slot.phase = { is: 'ended', how };
  }

  #restarts(pod: PodObject, container: Container, code: number): boolean {
    const policy = container.restartPolicy ?? pod.spec.restartPolicy ?? 'Always';
    const init = !pod.spec.containers.includes(container) && container.restartPolicy !== 'Always';
    if (policy === 'Never') return false;
    return code !== 0 || (policy === 'Always' && !init);
  }

  async #again(pod: PodObject, container: Container, slot: Slot, how: Terminated, now: number): Promise<void> {
    slot.last = how;
    slot.restarts++;
    const wait = backoff(++slot.crashes);
    const message = `back-off ${wait / 1000}s restarting failed container=${container.name} pod=${pod.metadata.name}`;
    slot.phase = { is: 'waiting', reason: 'CrashLoopBackOff', message, until: now + wait };
    if (how.exitCode !== 0) {
      const note = `Back-off restarting failed container ${container.name} in pod ${pod.metadata.name}`;
      await this.#hands.event(pod, 'Warning', 'BackOff', note);
    }
  }
}

const wake = (phase: Phase): number => ('until' in phase ? phase.until : undefined) ?? Number.POSITIVE_INFINITY;

/** How long a process may take until its first good probe; without a startup probe nobody ends it. */
const patience = (startup: Container['startupProbe']): number =>
  startup === undefined
    ? Number.POSITIVE_INFINITY
    : (startup.periodSeconds ?? 10) * (startup.failureThreshold ?? 3) * 1000;

const backoff = (crashes: number) => (crashes <= 1 ? 0 : Math.min(BACKOFF * 2 ** (crashes - 2), MAX_BACKOFF));
