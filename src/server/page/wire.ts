import type { Settings } from '../../insight/config/settings.ts';
import type { Detail } from '../../insight/status/detail.ts';
import type { Overview } from '../../insight/why/overview.ts';
import type { Cause } from '../../insight/why/why.ts';

/** The messages between the page and its server. */

export interface PageOverview extends Overview {
  /** Milliseconds since 1970 by the clock of the cluster. */
  readonly now: number;
  /** Whether time goes on there: objects from a file or an embedded cloud at rest do not change. */
  readonly live: boolean;
  /** Which cluster or file. */
  readonly where: string;
  /** What could not be read, and what the answer therefore lacks. */
  readonly notes: readonly string[];
  readonly version: string;
  /** What this server answers besides. */
  readonly can: { readonly plan: boolean };
}

export interface PageRef {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

export interface PageDetail extends Detail {
  readonly why: {
    readonly causes: readonly (Cause & { readonly log?: readonly string[] })[];
    readonly moving: readonly string[];
  };
}

export interface PageSettings {
  readonly settings: readonly Settings[];
  readonly notes: readonly string[];
}

/** Same as `plan -o json`, and the lines that `plan` prints for what happens outside Kubernetes. */
export interface PagePlan<Plan = unknown> {
  readonly plan: Plan;
  readonly outside: readonly string[];
}

/** The source of the answers. Every function may throw; the text of a `Refused` is shown to the user. */
export interface PageAnswers {
  overview(): Promise<PageOverview>;
  /** undefined: no such object. */
  detail(ref: PageRef): Promise<PageDetail | undefined>;
  settings(ref: PageRef): Promise<PageSettings | undefined>;
  /** The text is YAML as it would be given to `kubectl apply`; absent where plans are not made. */
  readonly plan?: (text: string) => Promise<PagePlan>;
}

/** The question was wrong, and the message says how. */
export class Refused extends Error {
  override readonly name = 'Refused';
}
