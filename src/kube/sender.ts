import type { Clock } from '../world/clock.ts';
import { sleep } from '../world/clock.ts';
import { narrowOffset, type Offset, offsetMs } from './servertime.ts';
import type { Request, Response, Transport } from './transport.ts';
import { NoAnswer } from './transport.ts';

/** client-go's bound on server-directed retries. */
const RETRIES = 10;
/** A server that asks for more patience than this gets it from the caller's queue, not from inside a pass. */
const LONGEST_WAIT = 30_000;
/** Reads without an answer: a moved or restarted API server is back within a second or stays away for longer. */
const UNANSWERED_READS = 3;
const UNANSWERED_WAIT = 250;
const READ_TIMEOUT = 30_000;
/** Below leaseDuration - renewDeadline (5 s): a write sent in our term must not land deep in the next leader's. */
const WRITE_TIMEOUT = 4_500;
/** Warnings are shown once; the memory of them is bounded because some texts carry names. */
const WARNINGS_KEPT = 1_000;

/** One attempt at one request, for metrics. */
export interface RequestInfo {
  readonly verb: 'get' | 'list' | 'apply' | 'create' | 'update' | 'patch' | 'delete';
  /** `deployments.apps` */
  readonly resource: string;
  readonly subresource: string | undefined;
  /** HTTP status; undefined when no answer came. */
  readonly status: number | undefined;
  readonly ms: number;
  /** 1 for the first. */
  readonly attempt: number;
}

export interface ClientOptions {
  /** A warning header of the API server, once per text. */
  readonly onWarning?: (text: string) => void;
  /** Called at send time before every attempt of a mutating request; throws when leadership is in doubt. */
  readonly fence?: () => void;
  readonly onRequest?: (info: RequestInfo) => void;
  /** ms */
  readonly readTimeout?: number;
  /** ms; keep it below leaseDuration - renewDeadline, or a write may land in the next leader's term. */
  readonly writeTimeout?: number;
  /** Attempts after the first; 0 for leader election, which has its own rhythm. */
  readonly retries?: number;
}

/** A request with what metrics and retry rules need to know about it. */
interface Call {
  readonly verb: RequestInfo['verb'];
  readonly resource: string;
  readonly subresource?: string;
  readonly request: Request;
}

export interface Sender {
  send(call: Call, signal?: AbortSignal): Promise<Response>;
  serverTime(): number;
}

const isRead = (verb: RequestInfo['verb']): boolean => verb === 'get' || verb === 'list';

/**
 * How long to wait before trying again, or undefined when the answer stands. A write is repeated only when the server
 * surely did not do it (429, 503) and says when to come back; 500 and 504 leave the outcome open, and the caller reads
 * before it writes again.
 */
function retryDelay(verb: RequestInfo['verb'], response: Response): number | undefined {
  const { status, headers } = response;
  const retryable = status === 429 || status === 503 || (isRead(verb) && status >= 500);
  const seconds = Number(headers['retry-after'] ?? Number.NaN);
  if (!retryable || !Number.isFinite(seconds) || seconds < 0) return undefined;
  return seconds * 1000 <= LONGEST_WAIT ? seconds * 1000 : undefined;
}

/** `299 - "text"` with \" and \\ escaped, several joined by commas (RFC 9110 5.6.4, RFC 7234 5.5). */
function parseWarnings(header: string | undefined): string[] {
  if (header === undefined) return [];
  return [...header.matchAll(/299 \S+ "((?:[^"\\]|\\.)*)"/g)].map(match => match[1]!.replace(/\\(.)/g, '$1'));
}

export function createSender(transport: Transport, clock: Clock, options: ClientOptions): Sender {
  const retries = options.retries ?? RETRIES;
  const warned = new Set<string>();
  let offset: Offset | undefined;

  async function attempt(call: Call, number: number, signal: AbortSignal | undefined): Promise<Response> {
    const read = isRead(call.verb);
    const timeout = read ? (options.readTimeout ?? READ_TIMEOUT) : (options.writeTimeout ?? WRITE_TIMEOUT);
    // Last thing before the wire: a timer that should have noticed the lost lease may itself be late.
    if (!read) options.fence?.();
    const began = clock.now();
    const sentAt = clock.wall();
    let status: number | undefined;
    try {
      const response = await transport.send({ timeout, ...call.request }, signal);
      status = response.status;
      if (response.headers.date !== undefined)
        offset = narrowOffset(offset, response.headers.date, sentAt, clock.wall());
      for (const text of parseWarnings(response.headers.warning)) warn(text);
      return response;
    } finally {
      const { verb, resource, subresource } = call;
      options.onRequest?.({ verb, resource, subresource, status, ms: clock.now() - began, attempt: number });
    }
  }

  function warn(text: string): void {
    if (warned.has(text)) return;
    if (warned.size >= WARNINGS_KEPT) warned.clear();
    warned.add(text);
    options.onWarning?.(text);
  }

  async function send(call: Call, signal?: AbortSignal): Promise<Response> {
    for (let number = 1; ; number++) {
      signal?.throwIfAborted();
      let wait: number | undefined;
      let outcome: { response: Response } | { error: unknown };
      try {
        const response = await attempt(call, number, signal);
        outcome = { response };
        wait = retryDelay(call.verb, response);
      } catch (error) {
        outcome = { error };
        const again = error instanceof NoAnswer && isRead(call.verb) && number <= UNANSWERED_READS && !signal?.aborted;
        wait = again ? UNANSWERED_WAIT * 2 ** (number - 1) : undefined;
      }
      if (wait === undefined || number > retries) {
        if ('error' in outcome) throw outcome.error;
        return outcome.response;
      }
      await sleep(clock, wait, signal, { label: `retry ${call.verb} ${call.resource}` });
    }
  }

  return { send, serverTime: () => clock.wall() + offsetMs(offset) };
}
