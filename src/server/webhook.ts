import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:https';
import { type AdmissionRequest, admit, type Neighbours } from '../insight/config/admission.ts';
import type { Live } from '../insight/view/view.ts';
import type { Certificate } from '../real/certificate.ts';
import type { Server } from '../runtime/manager.ts';
import { type Clock, sleep } from '../world/clock.ts';
import type { Log } from '../world/log.ts';
import { listening } from './listening.ts';
import { targetOf } from './target.ts';

/** The path that the API server posts to. */
export const VALIDATE = '/validate';

/** etcd takes no object above 1.5 MB; a review holds it twice. */
const MOST_BYTES = 4 << 20;
/** The API server holds a handful; each costs some 100 KiB. */
const MOST_CONNECTIONS = 200;
/** Of all reviews that are being read or wait for their turn: the operator has 256 MiB for everything. */
const MOST_HELD = 4 * MOST_BYTES;

export interface WebhookOptions {
  readonly port: number;
  readonly host?: string;
  readonly certificate: Certificate;
  readonly neighbours: Neighbours;
  /** Objects of others pass: another operator looks at them, or none. Empty: all. */
  readonly namespaces?: readonly string[];
  /** The operator's. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly log: Log;
}

export interface WebhookServer extends Server {
  readonly port: number;
  /** From the next connection on. */
  renew(certificate: Certificate): void;
}

interface Review {
  readonly apiVersion: string;
  readonly kind: string;
  readonly request: {
    readonly uid: string;
    readonly operation: string;
    readonly object: Live | null;
    readonly oldObject?: Live | null;
  };
}

/** Answers AdmissionReviews over TLS, and nothing else. */
export function createWebhook(options: WebhookOptions): WebhookServer {
  const tls = ({ cert, key }: Certificate) => ({ cert, key, minVersion: 'TLSv1.2' as const });
  const desk: Desk = { room: MOST_HELD, inTurn: oneByOne(options.clock) };
  const server = createServer(tls(options.certificate), (request, response) => {
    const end = ({ status, body }: Answer): void => {
      // Who hung up hears nothing.
      if (response.headersSent || response.destroyed) return;
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    };
    answer(request, options, desk).then(end, (error: unknown) => {
      options.log.error('Webhook: a review failed', { error: String(error) });
      // The API server then does what failurePolicy says.
      end(problem(500, 'internal error'));
    });
  });
  server.keepAliveTimeout = 60_000;
  const { port, start, stop } = listening(server, {
    port: options.port,
    host: options.host ?? '127.0.0.1',
    most: MOST_CONNECTIONS,
  });
  return {
    name: 'webhook',
    get port() {
      return port();
    },
    renew: certificate => server.setSecureContext(tls(certificate)),
    start,
    stop,
  };
}

interface Answer {
  readonly status: number;
  readonly body: object;
}

const problem = (status: number, message: string): Answer => ({ status, body: { message } });

/** What all requests share. */
interface Desk {
  /** Bytes that may still be held. */
  room: number;
  readonly inTurn: <T>(work: () => T) => Promise<T>;
}

/**
 * One after the other, and everybody else of this process in between: a review may take a good part of a second, and a
 * crowd of them in one turn of the loop would keep the lease from being renewed.
 */
function oneByOne(clock: Clock): Desk['inTurn'] {
  let last: Promise<unknown> = Promise.resolve();
  return work => {
    const mine = last.then(() => sleep(clock, 0, undefined, { daemon: true, label: 'turn of a review' })).then(work);
    last = mine.catch(() => undefined);
    return mine;
  };
}

async function answer(request: IncomingMessage, options: WebhookOptions, desk: Desk): Promise<Answer> {
  if (request.method !== 'POST' || targetOf(request)?.pathname !== VALIDATE)
    return problem(404, `POST ${VALIDATE} is all there is`);
  const held = { bytes: 0 };
  try {
    const text = await bodyOf(request, desk, held);
    if (text === 'too long') return problem(413, `a review is at most ${MOST_BYTES >> 20} MiB`);
    if (text === 'too many') return problem(503, 'too many reviews are being sent: try again in a moment');
    // Only its start takes the turn: it may have to ask for neighbours then.
    const { found } = await desk.inTurn(() => {
      const asked = reviewIn(text.text);
      return { found: asked && review(asked, options) };
    });
    if (found === undefined) return problem(400, 'the body is no AdmissionReview with a request');
    return { status: 200, body: await found };
  } finally {
    desk.room += held.bytes;
  }
}

/** One that is too much is read on all the same, without keeping it: who still sends hears no answer. */
async function bodyOf(
  request: IncomingMessage,
  desk: Desk,
  held: { bytes: number },
): Promise<'too long' | 'too many' | { readonly text: string }> {
  const chunks: Buffer[] = [];
  let [size, crowded] = [0, false];
  for await (const chunk of request) {
    const { length } = chunk as Buffer;
    size += length;
    crowded ||= length > desk.room;
    if (size > 10 * MOST_BYTES) {
      request.destroy();
      break;
    }
    if (size <= MOST_BYTES && !crowded) {
      desk.room -= length;
      held.bytes += length;
      chunks.push(chunk as Buffer);
    } else {
      desk.room += held.bytes;
      held.bytes = 0;
      chunks.length = 0;
    }
  }
  if (size > MOST_BYTES) return 'too long';
  return crowded ? 'too many' : { text: Buffer.concat(chunks).toString('utf8') };
}

const isRecord = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);

/** What the text holds, if it is a review: a client of the port may send anything. */
function reviewIn(text: string): Review | undefined {
  let found: Partial<Review> | null;
  try {
    found = JSON.parse(text) as Partial<Review> | null;
  } catch {
    return undefined;
  }
  const { object, oldObject } = found?.request ?? {};
  const isObject = (value: unknown): boolean =>
    value === undefined || value === null || isRecord((value as Partial<Live>).metadata);
  return found?.request && typeof found.request === 'object' && isObject(object) && isObject(oldObject)
    ? (found as Review)
    : undefined;
}

async function review(
  { apiVersion, kind, request }: Review,
  { neighbours, namespaces = [], env = {} }: WebhookOptions,
): Promise<object> {
  const { uid, operation, object, oldObject } = request;
  const served = namespaces.length === 0 || namespaces.includes(object?.metadata.namespace ?? '');
  const asked: AdmissionRequest | undefined =
    object && served ? { operation, object, ...(oldObject && { oldObject }) } : undefined;
  const { refusals, warnings } = asked ? await admit(asked, neighbours, env) : { refusals: [], warnings: [] };
  return {
    apiVersion,
    kind,
    response: {
      uid,
      allowed: refusals.length === 0,
      ...(refusals.length > 0 && { status: { code: 422, reason: 'Invalid', message: refusals.join('; ') } }),
      ...(warnings.length > 0 && { warnings }),
    },
  };
}
