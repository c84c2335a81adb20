import type { AnyObject } from '../../../kube/object.ts';
import type { Resource } from '../../../kube/resource.ts';
import { hashOf } from '../canonical.ts';
import type { Body } from '../cx.ts';
import { dress, mayDelete } from '../dress.ts';
import { appliedTemplate } from '../match.ts';
import { MANAGER } from '../names.ts';
import { workloadUnmet } from '../ready.ts';
import { HANGS_MS, rollOf } from '../roll.ts';
import { wait } from '../unmet.ts';
import type { Copies } from './copies.ts';
import { INSTANCE_INDEX, INSTANCE_LABEL, KIND_LABEL } from './indexes.ts';
import { keyIn } from './memory.ts';
import type { Reading } from './reading.ts';
import type { Live, Walk } from './walk.ts';
import type { Writing } from './writing.ts';

/** Workloads: one template at a time, in one namespace at a time. */
export class Rollout {
  readonly #walk: Walk;
  readonly #copies: Copies;
  readonly #reading: Reading;
  readonly #writing: Writing;

  constructor(walk: Walk, copies: Copies, reading: Reading, writing: Writing) {
    this.#walk = walk;
    this.#copies = copies;
    this.#reading = reading;
    this.#writing = writing;
  }

  async workload(row: string, resource: Resource, body: Body, at: string): Promise<Live> {
    const astray = this.astray(resource, body.metadata.name, at);
    if (astray) await this.#leavePlace(resource, astray, at);
    this.#inTurn(row, resource, body, at);
    if (at !== this.#walk.home) await this.#copies.copySecrets(body);
    const live = await this.#writing.apply(row, resource, body, { at });
    const unmet = workloadUnmet(live, this.#reading.podsOf(live));
    if (unmet) throw wait(unmet);
    return live;
  }

  /** One of its name in another namespace than the one where it belongs by now. */
  astray(resource: Resource, name: string, at: string): Live | undefined {
    const { kind, metadata } = this.#walk.object;
    const labels = { [KIND_LABEL]: kind.toLowerCase(), [INSTANCE_LABEL]: metadata.name };
    const index = { name: INSTANCE_INDEX, value: metadata.name };
    const found = this.#reading
      .informer(resource)
      ?.list({ labels, index })
      .find(
        other => other.metadata.name === name && other.metadata.namespace !== at && mayDelete(this.#walk.object, other),
      );
    if (found) this.#walk.tracked.read(resource, this.#walk.ref(name, resource, found.metadata.namespace));
    return found;
  }

  /** Two of one workload would work on the same volumes or nodes. Foreground: it is there until its pods are gone. */
  async #leavePlace(resource: Resource, cached: Live, at: string): Promise<void> {
    const { namespace = '', name, uid } = cached.metadata;
    const live = await this.#walk.client.get<AnyObject>(resource, this.#walk.ref(name, resource, namespace));
    if (live === undefined || live.metadata.uid !== uid || !mayDelete(this.#walk.object, live)) return;
    const going = live.metadata.deletionTimestamp
      ? live
      : await this.#writing.delete(resource, live, { propagation: 'Foreground' });
    if (going)
      throw wait({
        reason: 'Terminating',
        about: { kind: resource.kind, name, namespace },
        what: `${resource.kind} ${name} in namespace ${namespace} is being deleted, because it belongs in namespace ${at}`,
        who: 'Cluster',
        next: 'finish deleting it',
      });
  }

  /** Whether there is such a workload and its pods would stay. */
  runs(row: string, resource: Resource, body: Body, at: string): boolean {
    const live = this.#reading.get(resource, body.metadata.name, at);
    const key = keyIn(resource, this.#walk.ref(body.metadata.name, undefined, at));
    return (
      live !== undefined && this.#sameTemplate(key, dress(this.#walk.object, resource, body, row, false, at), live)
    );
  }

  /** A new template waits while it would take a second pod of its set down, unless the set hangs. */
  #inTurn(row: string, resource: Resource, body: Body, at: string): void {
    const { memory, clock } = this.#walk.shared;
    const { name } = body.metadata;
    const key = keyIn(resource, this.#walk.ref(name, undefined, at));
    const live = this.#reading.get(resource, name, at);
    const picture = live?.kind === 'StatefulSet' ? rollOf(live, this.#reading.podsOf(live)) : undefined;
    if (
      picture === undefined ||
      this.#sameTemplate(key, dress(this.#walk.object, resource, body, row, false, at), live)
    )
      return void memory.rolls.delete(key);
    const known = memory.rolls.get(key);
    const since = known?.picture === picture ? known.since : clock.now();
    memory.rolls.set(key, { picture, since });
    const left = since + HANGS_MS - clock.now();
    if (left <= 0) return;
    throw wait({
      reason: 'Progressing',
      about: { kind: resource.kind, name, namespace: at },
      what: `${resource.kind} ${name} replaces its pods one by one, and a new template now would take a second one`,
      who: 'Cluster',
      next: 'finish that; then they are replaced once more',
      // Nobody tells of what does not change.
      after: left,
    });
  }

  /** Where the server normalised a value, only memory tells that it is what we sent. */
  #sameTemplate(key: string, wanted: AnyObject, live: Live | undefined): boolean {
    const memo = this.#walk.shared.memory.applied.get(key);
    return (live !== undefined && appliedTemplate(wanted, live, MANAGER)) || memo?.hash === hashOf(wanted);
  }
}
