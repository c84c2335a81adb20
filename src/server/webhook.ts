import { createServer } from 'node:https';
import { type AdmissionRequest, admit, type Neighbours } from '../insight/admission.ts';
import type { Live } from '../insight/view.ts';
import type { Certificate } from '../real/certificate.ts';
import type { Server } from '../runtime/manager.ts';
import type { Log } from '../world/log.ts';
import { listening } from './listening.ts';

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
    const chunks: Buffer[] = [];
    let size = 0;
    const end = (status: number, body: object): void => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    };
    if (request.method !== 'POST' || new URL(request.url ?? '/', 'https://x').pathname !== VALIDATE)
      return end(404, { message: `POST ${VALIDATE} is all there is` });
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > MOST_BYTES) request.destroy();
      else chunks.push(chunk);
    });
    request.on('end', () => {
      void review(Buffer.concat(chunks).toString('utf8'), options).then(
        answer => end(200, answer),
        error => {
          options.log.error('Webhook: a review failed', { error: String(error) });
          // The API server then does what failurePolicy says.
          end(500, { message: 'internal error' });
        },
      );
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

async function review(text: string, { neighbours }: WebhookOptions): Promise<object> {
  const { apiVersion, kind, request } = JSON.parse(text) as Review;
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
