import { randomBytes, timingSafeEqual } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { Request, Response } from '../../kube/transport.ts';
import type { Store } from '../store/store.ts';

export interface ServeOptions {
  /** 0 takes a free one. */
  readonly port: number;
  /** Where the kubeconfig goes. */
  readonly dir: string;
  /** What it shows, in PEM: for 127.0.0.1. */
  readonly certificate: { readonly ca: string; readonly cert: string; readonly key: string };
}

export interface Serving {
  readonly url: string;
  /** Path of the file for `kubectl --kubeconfig`. */
  readonly kubeconfig: string;
  close(): Promise<void>;
}

/** The Store on https://127.0.0.1, for clients with the token in the kubeconfig. It has all rights: there is no RBAC here. */
export async function serve(store: Store, { port, dir, certificate }: ServeOptions): Promise<Serving> {
  const { ca, cert, key } = certificate;
  const token = randomBytes(24).toString('hex');
  const server = createServer({ cert, key }, (incoming, outgoing) => {
    void answer(store, token, incoming, outgoing).catch(error => outgoing.destroy(error as Error));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const address = server.address();
  const url = `https://127.0.0.1:${typeof address === 'object' && address ? address.port : port}`;
  mkdirSync(dir, { recursive: true });
  const kubeconfig = join(dir, 'kubeconfig');
  writeFileSync(kubeconfig, kubeconfigText(url, ca, token), { mode: 0o600 });
  return {
    url,
    kubeconfig,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve());
        // Watches stay open for minutes; nobody waits for them.
        server.closeAllConnections();
      }),
  };
}

async function answer(store: Store, token: string, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  if (!authorised(incoming.headers.authorization, token)) {
    return reply(outgoing, refusal(401, 'Unauthorized', 'Unauthorized'));
  }
  if (incoming.headers['content-type']?.includes('protobuf')) {
    return reply(outgoing, refusal(415, 'UnsupportedMediaType', NO_PROTOBUF));
  }
  const url = new URL(incoming.url ?? '/', 'https://127.0.0.1');
  const query = Object.fromEntries(url.searchParams);
  const body = await bodyOf(incoming);
  const request: Request = {
    method: (incoming.method ?? 'GET') as Request['method'],
    path: url.pathname,
    query,
    ...(body === undefined ? {} : { body }),
    ...(incoming.headers['content-type'] ? { contentType: incoming.headers['content-type'] } : {}),
    ...(incoming.headers.accept ? { accept: incoming.headers.accept } : {}),
  };
  if (request.method === 'GET' && (query.watch === 'true' || query.watch === '1'))
    return stream(store, request, incoming, outgoing);
  reply(outgoing, store.handle(request, 'kubectl'));
}

/** `kubectl create configmap` and its like send protobuf, and no client falls back from it. */
const NO_PROTOBUF =
  'the embedded API server reads JSON and YAML only; add --dry-run=client -o yaml and pipe it into kubectl apply --server-side -f -';

const refusal = (code: number, reason: string, message: string): Response => ({
  status: code,
  headers: {},
  body: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code },
});

function authorised(header: string | undefined, token: string): boolean {
  const given = Buffer.from(header ?? '');
  const wanted = Buffer.from(`Bearer ${token}`);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

/** JSON is YAML too, but JSON.parse is faster and knows no aliases; only an apply may be YAML. */
async function bodyOf(incoming: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return incoming.headers['content-type']?.includes('yaml') ? parse(text, { version: '1.1' }) : text;
  }
}

function reply(outgoing: ServerResponse, response: Response): void {
  const text = typeof response.body === 'string' ? response.body : JSON.stringify(response.body);
  outgoing.writeHead(response.status, { 'content-type': 'application/json', ...response.headers });
  outgoing.end(text);
}

function stream(store: Store, request: Request, incoming: IncomingMessage, outgoing: ServerResponse): void {
  let started = false;
  const start = () => {
    if (started) return;
    started = true;
    outgoing.writeHead(200, { 'content-type': 'application/json' });
    outgoing.flushHeaders();
  };
  const opened = store.watch(
    request,
    event => {
      start();
      outgoing.write(`${JSON.stringify(event)}\n`);
    },
    () => {
      start();
      outgoing.end();
    },
  );
  if ('refusal' in opened) {
    reply(outgoing, opened.refusal);
    return;
  }
  start();
  incoming.socket.once('close', () => opened.close());
  outgoing.once('close', () => opened.close());
}

const kubeconfigText = (url: string, ca: string, token: string) =>
  `${JSON.stringify(
    {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'embedded',
      clusters: [
        {
          name: 'embedded',
          cluster: { server: url, 'certificate-authority-data': Buffer.from(ca).toString('base64') },
        },
      ],
      contexts: [{ name: 'embedded', context: { cluster: 'embedded', user: 'embedded' } }],
      users: [{ name: 'embedded', user: { token } }],
    },
    null,
    2,
  )}\n`;
