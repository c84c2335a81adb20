import type { StatusCause } from '../../../api/schema/kind.ts';
import type { DeepReadonly } from '../../kube/object.ts';
import type { Draft } from '../conditions.ts';
import type { Managed } from './managed.ts';
import { type Outcome, type Tried, worstOf } from './outcome.ts';
import type { Cause, Facts, Subject } from './unmet.ts';

/** Status stays below 32 KiB (rule 27), and conditions and lists need most of that. */
const MOST_BYTES = 8_192;
/** Beyond this a cause goes without what only commands and people need. */
const MOST_BYTES_OF_DETAILS = 5_120;
/** As many as the schema admits. */
const MOST = 64;
/** Of one text among the details: what another program said may be as long as it likes. */
const MOST_CHARACTERS = 512;

type Live = DeepReadonly<Managed>;

/** The name of a cause of one key of a row, e.g. of one cell. */
export const keyedType = (type: string, key: string): string => `${type}.${key}`;

/** A cause as status holds it. */
export function causeOf(object: Live, type: string, cause: Cause): StatusCause {
  const details = detailsOf(cause);
  return {
    type,
    reason: cause.root ?? cause.reason,
    actor: cause.who,
    object: objectOf(object, cause.about),
    ...(cause.waitsFor && { waitsFor: objectOf(object, cause.waitsFor) }),
    ...(cause.next !== undefined && { next: cause.next }),
    ...(details && { details }),
  };
}

/** Written out, so that nobody needs to know where a name without a namespace is meant. */
function objectOf({ kind, metadata }: Live, about: Subject | undefined): StatusCause['object'] {
  const { namespace = metadata.namespace ?? '' } = about ?? {};
  return { kind: about?.kind ?? kind, name: about?.name ?? metadata.name, ...(namespace !== '' && { namespace }) };
}

function detailsOf({ field, keys, host, server, user, label, release, pod, said }: Facts) {
  const all = { field, keys: keys?.join(','), host, server, user, label, release, pod, said };
  const known = Object.entries(all).filter((entry): entry is [string, string] => Boolean(entry[1]));
  return known.length === 0 ? undefined : Object.fromEntries(known);
}

const isOpen = (outcome: Outcome): outcome is Exclude<Tried, { is: 'ok' }> =>
  outcome.is === 'wait' || outcome.is === 'stall' || outcome.is === 'error';

/** What an outcome says as data; one that was made without a cause says what it can. */
const causeIn = (outcome: Exclude<Tried, { is: 'ok' }>): Cause =>
  outcome.cause ?? { reason: outcome.reason, what: outcome.message, who: outcome.who };

/**
 * The causes of everything that is not done, beside the conditions that tell people of it: that of Ready first, then in the
 * order of the rows, a row with keys before each of its keys. `drafts`: those that Ready sums up.
 */
export function causesOf(
  object: Live,
  outcomes: ReadonlyMap<string, Outcome>,
  drafts: readonly Draft[],
): readonly StatusCause[] {
  const all: StatusCause[] = [];
  for (const [type, outcome] of outcomes) {
    if (!isOpen(outcome)) continue;
    const { key, keys = [] } = outcome;
    all.push({ ...causeOf(object, type, causeIn(outcome)), ...(key !== undefined && { key }) });
    for (const [name, one] of keys) if (isOpen(one)) all.push(causeOf(object, keyedType(type, name), causeIn(one)));
  }
  const worst = worstOf(drafts, outcomes);
  const sum = worst && all.find(cause => cause.type === worst.type);
  return sum ? [summed(sum), ...all] : all;
}

/** Ready's: whose it is, and no more, because the rest stands under the condition that it names. */
const summed = ({ type, reason, actor, object, waitsFor }: StatusCause): StatusCause => ({
  type: 'Ready',
  reason,
  actor,
  object,
  ...(waitsFor && { waitsFor }),
  condition: type,
});

interface Writer {
  /** Without values of Secrets. */
  mask(text: string): string;
  /** The same, as it is written for people. */
  text(text: string): string;
}

/**
 * As they are written. Beyond the limit a cause keeps what programs decide by, and then is left out: conditions and messages
 * still tell of it.
 */
export function bounded(causes: readonly DeepReadonly<StatusCause>[], writer: Writer): DeepReadonly<StatusCause>[] {
  const out: DeepReadonly<StatusCause>[] = [];
  let bytes = 0;
  const fits = (cause: DeepReadonly<StatusCause>, most: number): boolean => {
    const size = Buffer.byteLength(JSON.stringify(cause));
    if (out.length >= MOST || bytes + size > most) return false;
    bytes += size;
    out.push(cause);
    return true;
  };
  for (const { next, details, ...cause } of causes) {
    const short = Object.entries(details ?? {}).map(([name, text]) => [
      name,
      writer.mask(text).slice(0, MOST_CHARACTERS),
    ]);
    const whole: DeepReadonly<StatusCause> = {
      ...cause,
      ...(next !== undefined && { next: writer.text(next) }),
      ...(details && { details: Object.fromEntries(short) as Record<string, string> }),
    };
    if (!fits(whole, MOST_BYTES_OF_DETAILS) && !fits(cause, MOST_BYTES)) break;
  }
  return out;
}
