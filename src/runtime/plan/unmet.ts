/** Who has to do the next thing. It is part of every message, and `why` reads it from there. */
export type Who = 'User' | 'Operator' | 'Cluster';

export interface Cause {
  /** CamelCase, one of the documented reasons. */
  readonly reason: string;
  /** What is the case, about which object. Stable text: no times, counters or random names, they would re-trigger us. */
  readonly what: string;
  readonly who: Who;
  /** What must happen next. */
  readonly next: string;
  /** Milliseconds after which to look again. Only for what cannot be watched; say why where it is used. */
  readonly after?: number;
}

/**
 * Why a row cannot give its value now. `wait`: it will come by itself, a watch tells when.
 * `stall`: it will not until somebody acts; nothing is retried until an input changes.
 */
export class Unmet extends Error {
  override readonly name = 'Unmet';
  readonly outcome: 'wait' | 'stall';
  readonly reason: string;
  readonly who: Who;
  readonly after: number | undefined;

  constructor(outcome: 'wait' | 'stall', unmet: Cause) {
    super(`${unmet.what}. ${unmet.who}: ${unmet.next}`);
    this.outcome = outcome;
    this.reason = unmet.reason;
    this.who = unmet.who;
    this.after = unmet.after;
  }
}

export const wait = (unmet: Cause): Unmet => new Unmet('wait', unmet);
export const stall = (unmet: Cause): Unmet => new Unmet('stall', unmet);
export const fieldMissing = (what: string, next: string): Unmet =>
  stall({ reason: 'FieldMissing', what, who: 'User', next });
