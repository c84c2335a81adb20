/** Who has to do the next thing. */
export type Who = 'User' | 'Operator' | 'Cluster';

/** An object that a cause is about. */
export interface Subject {
  readonly kind: string;
  readonly name: string;
  /** Absent: the namespace of the object whose cause it is. Empty: of objects that are in none. */
  readonly namespace?: string;
}

/** What commands and parents need of a cause beyond the sentence that people read. */
export interface Facts {
  /** The field of the spec that is to be changed, e.g. `spec.databaseInstance`. */
  readonly field?: string | undefined;
  /** Keys of a Secret that are missing. */
  readonly keys?: readonly string[];
  /** The server that was called: its host without a port, its program, and as whom. */
  readonly host?: string;
  readonly server?: string;
  readonly user?: string;
  /** A label that no node has. */
  readonly label?: string;
  /** The release to go back to. */
  readonly release?: string;
  readonly pod?: string;
  /** What another program said: the API server, a scheduler, a container. Only such text may be searched for words. */
  readonly said?: string | undefined;
}

export interface Cause extends Facts {
  /** CamelCase, one of the documented reasons. */
  readonly reason: string;
  /** What is the case, about which object. Stable text: no times, counters or random names, they would re-trigger us. */
  readonly what: string;
  readonly who: Who;
  /** What must happen next. Absent where `what` says that it comes by itself. */
  readonly next?: string;
  /** Milliseconds after which to look again. Only for what cannot be watched; say why where it is used. */
  readonly after?: number;
  /** The object concerned; the one that says so where it is absent. */
  readonly about?: Subject;
  /** An object of ours that has the cause, and this one only waits for it. */
  readonly waitsFor?: Subject;
  /** The reason of the cause itself, where the condition has a word of its own for it. */
  readonly root?: string;
}

/** For people: what is the case, and who has to do what. Programs read the fields. */
export const sentence = ({ what, who, next }: Pick<Cause, 'what' | 'who' | 'next'>): string =>
  next === undefined ? what : `${what}${ending(who, next)}`;

/** How the sentence of a cause ends. */
export const ending = (who: string, next: string): string => `. ${who}: ${next}`;

/** An object as a cause names it: those of the cluster are in no namespace. */
export const subjectOf = (
  { kind, namespaced }: { readonly kind: string; readonly namespaced: boolean },
  name: string,
): Subject => ({ kind, name, ...(!namespaced && { namespace: '' }) });

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
  readonly unmet: Cause;

  constructor(outcome: 'wait' | 'stall', unmet: Cause) {
    super(sentence(unmet));
    this.outcome = outcome;
    this.reason = unmet.reason;
    this.who = unmet.who;
    this.after = unmet.after;
    this.unmet = unmet;
  }
}

export const wait = (unmet: Cause): Unmet => new Unmet('wait', unmet);
export const stall = (unmet: Cause): Unmet => new Unmet('stall', unmet);
export const fieldMissing = (field: string | undefined, what: string, next: string): Unmet =>
  stall({ reason: 'FieldMissing', what, who: 'User', next, field });
