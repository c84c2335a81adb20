import type { Cloud } from '../../../cloud/ports.ts';
import type { Cache, Informer } from '../../../kube/cache/cache.ts';
import type { Client } from '../../../kube/client.ts';
import type { AnyObject, DeepReadonly, Ref } from '../../../kube/object.ts';
import type { Resource } from '../../../kube/resource.ts';
import type { Clock, Random } from '../../../world/clock.ts';
import type { Gate } from '../../gate.ts';
import type { Managed } from '../managed.ts';
import type { Plan } from '../row.ts';
import type { Reads } from '../tracker.ts';
import type { Memory } from './memory.ts';

export type Live = DeepReadonly<AnyObject>;

/** What all passes share. */
export interface Shared {
  readonly client: Client;
  readonly cache: Cache;
  /** Metadata of every Secret and of no other use: foreign ones are read live, once per version (rule 2). */
  readonly secrets: Informer;
  readonly gate: Gate;
  readonly cloud: Cloud;
  /** Throws when leadership is in doubt; absent where nobody else could lead. */
  readonly fence?: () => void;
  readonly clock: Pick<Clock, 'now'>;
  readonly random: Random;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** That are served; absent or empty: all. */
  readonly namespaces?: readonly string[];
  readonly memory: Memory;
  /** Tests look over the shoulder of the rows at every object of ours they read (rule 26). */
  readonly lens?: <T extends Live>(object: T) => T;
  /** For tests: puts other words for every text that people read. No program may tell the difference. */
  readonly reword?: ((text: string) => string) | undefined;
}

/** What is known of one pass to all parts of it. */
export class Walk {
  readonly shared: Shared;
  readonly plan: Pick<Plan<never>, 'kind' | 'manages' | 'rows'>;
  readonly object: DeepReadonly<Managed>;
  /** What it looked at: a change of it runs the object again. */
  readonly tracked: Reads;
  readonly client: Client;
  readonly home: string;
  /** Where its objects of nodes are: spec.nodeNamespace, or its own namespace. */
  readonly nodes: string;
  /** Our own writes of this pass, ahead of the cache. */
  readonly written = new Map<string, Live>();
  readonly reported: Record<string, unknown> = {};
  readonly events: { readonly reason: string; readonly note: string }[] = [];
  after: number | undefined;

  constructor(shared: Shared, plan: Plan<never>, object: DeepReadonly<Managed>, tracked: Reads, client: Client) {
    this.shared = shared;
    this.plan = plan;
    this.object = object;
    this.tracked = tracked;
    this.client = client;
    this.home = object.metadata.namespace ?? '';
    this.nodes = (object.spec as { nodeNamespace?: string } | undefined)?.nodeNamespace || this.home;
  }

  /** Whether deleting the object leaves something that only an undo takes along. */
  get hasNodes(): boolean {
    return this.nodes !== this.home;
  }

  ref(name: string, resource?: Resource, at = this.home): Ref {
    return { namespace: resource?.namespaced === false ? '' : at, name };
  }

  again(ms: number): void {
    this.after = Math.min(this.after ?? ms, ms);
  }
}

/** Nothing tells of what is made by hand, or of a namespace: no watch of ours shows it. */
export const LOOK_AGAIN_MS = 60_000;
