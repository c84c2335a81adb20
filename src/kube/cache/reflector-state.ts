/** The words of the reflector: what it knows, hears and does. Its rules are in reflector.ts. */
import type { AnyObject } from '../object.ts';
import type { WatchEvent } from '../transport.ts';

export type Phase =
  | { readonly at: 'idle' }
  /** WatchList: the initial events go to a staging area until the mark that ends them. */
  | { readonly at: 'streaming'; readonly quietSaid: boolean }
  | { readonly at: 'listing'; readonly requested: string; readonly page: number; readonly version: string }
  /** `ordered`: a watch from "" or "0" begins with unordered ADDEDs, whose versions say nothing about the others. */
  | {
      readonly at: 'watching';
      readonly ordered: boolean;
      readonly openedAt: number | undefined;
      readonly events: number;
    }
  | { readonly at: 'waiting'; readonly next: Next }
  | { readonly at: 'stopped' };

export type Next = 'fill' | 'watch';

export interface State {
  readonly phase: Phase;
  /** Kinds that objects of this collection may claim to be. */
  readonly kinds: readonly string[];
  /** Everything up to here is in the store. '' before the first fill. */
  readonly version: string;
  /** False once the server refused WatchList. */
  readonly watchList: boolean;
  /** A list at "0" came in pages: the server has no watch cache, so lists go on being paged. */
  readonly uncached: boolean;
  /** The server does not have our version: the next fill asks for the newest instead. */
  readonly unavailable: boolean;
  readonly failures: number;
  readonly failedAt: number;
  readonly serverErrors: number;
  readonly heardAt: number;
  readonly strangeSeen: boolean;
}

export interface Failure {
  readonly status: number;
  readonly message: string;
  readonly retryAfter?: number;
  /** The version asked for is ahead of the server's. */
  readonly tooLarge?: boolean;
}

export type ReflectorEvent =
  | { readonly is: 'start' }
  | { readonly is: 'stop' }
  | { readonly is: 'page'; readonly items: readonly AnyObject[]; readonly version: string; readonly next?: string }
  | { readonly is: 'opened' }
  | { readonly is: 'event'; readonly event: WatchEvent }
  /** The server ended the stream in good order. */
  | { readonly is: 'closed' }
  /** No answer, or the stream broke. */
  | { readonly is: 'broken'; readonly why: string }
  | { readonly is: 'refused'; readonly failure: Failure }
  | { readonly is: 'alarm'; readonly name: Alarm };

export type Alarm = 'retry' | 'idle' | 'deadline' | 'quiet';

/** Why a request is made; for metrics. */
export type Cause =
  | 'start'
  | 'filled'
  | 'closed'
  | 'broken'
  | 'short'
  | 'stalled'
  | 'deadline'
  | 'throttled'
  | 'server-error'
  | 'expired'
  | 'refused'
  | 'fallback'
  | 'retry';

export type Effect =
  | { readonly do: 'list'; readonly query: Query; readonly cause: Cause }
  | { readonly do: 'watch'; readonly query: Query; readonly cause: Cause }
  /** Ends the open request; nothing more is heard from it. */
  | { readonly do: 'hangUp' }
  /** Calls back with the alarm of that name; a later one of the same name replaces it. */
  | { readonly do: 'alarm'; readonly name: Alarm; readonly ms: number }
  /** Forgets what was staged. */
  | { readonly do: 'unstageAll' }
  | { readonly do: 'stage'; readonly objects: readonly AnyObject[] }
  | { readonly do: 'unstage'; readonly object: AnyObject }
  /** Makes what was staged the contents, in one go. */
  | { readonly do: 'commit'; readonly version: string }
  | { readonly do: 'put'; readonly object: AnyObject }
  | { readonly do: 'remove'; readonly object: AnyObject }
  | { readonly do: 'advance'; readonly version: string }
  | { readonly do: 'reject'; readonly why: string }
  | { readonly do: 'warn'; readonly text: string }
  | { readonly do: 'failed'; readonly cause: Cause; readonly why: string };

export type Query = Readonly<Record<string, string>>;
export interface Step {
  readonly state: State;
  readonly effects: readonly Effect[];
}
/** What a step may not find out by itself. `roll` is uniform in [0, 1). */
export interface Moment {
  readonly now: number;
  readonly roll: number;
}

export const initialState = (kinds: readonly string[]): State => ({
  phase: { at: 'idle' },
  kinds,
  version: '',
  watchList: true,
  uncached: false,
  unavailable: false,
  failures: 0,
  failedAt: Number.NEGATIVE_INFINITY,
  serverErrors: 0,
  heardAt: 0,
  strangeSeen: false,
});
