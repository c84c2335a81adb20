import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:https';
import { type AdmissionRequest, admit, type Neighbours } from '../insight/admission.ts';
import type { Live } from '../insight/view.ts';
import type { Certificate } from '../real/certificate.ts';
import type { Server } from '../runtime/manager.ts';
import type { Log } from '../world/log.ts';
import { listening } from './listening.ts';
import { targetOf } from './target.ts';

/** The path that the API server posts to. */
export const VALIDATE = '/validate';

/** etcd takes no object above 1.5 MB; a review holds it twice. */
const MOST_BYTES = 4 << 20;

export interface WebhookOptions {
  readonly port: number;
  readonly host?: string;
  readonly certificate: Certificate;
  readonly neighbours: Neighbours;
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
  const server = createServer(tls(options.certificate), (request, response) => {
    const end = ({ status, body }: Answer): void => {
      // Who hung up hears nothing.
      if (response.headersSent || response.destroyed) return;
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    };
    answer(request, options).then(end, (error: unknown) => {
      options.log.error('Webhook: a review failed', { error: String(error) });
      // The API server then does what failurePolicy says.
      end(problem(500, 'internal error'));
    });
  });
  server.keepAliveTimeout = 60_000;
  const { port, start, stop } = listening(server, { port: options.port, host: options.host ?? '127.0.0.1' });
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

async function answer(request: IncomingMessage, options: WebhookOptions): Promise<Answer> {
  if (request.method !== 'POST' || targetOf(request)?.pathname !== VALIDATE)
    return problem(404, `POST ${VALIDATE} is all there is`);
  const text = await bodyOf(request);
  if (text === undefined) return problem(413, `a review is at most ${MOST_BYTES >> 20} MiB`);
  const asked = reviewIn(text);
  if (asked === undefined) return problem(400, 'the body is no AdmissionReview with a request');
  return { status: 200, body: await review(asked, options) };
}

/** undefined when it is too long. It is read on then, without keeping it: who still sends hears no answer. */
async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += (chunk as Buffer).length;
    if (size <= MOST_BYTES) chunks.push(chunk as Buffer);
    else if (size > 10 * MOST_BYTES) return void request.destroy();
    else chunks.length = 0;
  }
  return size > MOST_BYTES ? undefined : Buffer.concat(chunks).toString('utf8');
}

/** What the text holds, if it is a review: whoever reaches the port may send anything. */
function reviewIn(text: string): Review | undefined {
  let found: Partial<Review> | null;
  try {
    found = JSON.parse(text) as Partial<Review> | null;
  } catch {
    return undefined;
  }
  const { object, oldObject } = found?.request ?? {};
  const isObject = (value: unknown): boolean =>
    value === undefined || value === null || typeof (value as Partial<Live>).metadata === 'object';
  return found?.request && typeof found.request === 'object' && isObject(object) && isObject(oldObject)
    ? (found as Review)
    : undefined;
}

async function review({ apiVersion, kind, request }: Review, { neighbours }: WebhookOptions): Promise<object> {
  const { uid, operation, object, oldObject } = request;
  const asked: AdmissionRequest | undefined = object
    ? { operation, object, ...(oldObject && { oldObject }) }
    : undefined;
  const { refusals, warnings } = asked ? await admit(asked, neighbours) : { refusals: [], warnings: [] };
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
