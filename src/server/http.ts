import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type Check, failures, type Health } from '../runtime/health.ts';
import type { Server } from '../runtime/manager.ts';
import { listening } from './listening.ts';
import { targetOf } from './target.ts';

export interface ProbeOptions {
  readonly port: number;
  /** 127.0.0.1 unless said: who opens it to the network does so knowingly. */
  readonly host?: string;
  readonly health: Health;
  readonly metrics?: { render(): Promise<string>; readonly contentType: string };
}

export interface ProbeServer extends Server {
  /** After start; with port 0 the system chose one. */
  readonly port: number;
}

interface Answer {
  readonly status: number;
  readonly type?: string;
  readonly text: string;
}

/** Many: a crowd here must not keep the kubelet out, which would end the process. Without TLS each costs little. */
const MOST_CONNECTIONS = 2000;

/** `/healthz`, `/readyz` (each with `?verbose`) and `/metrics`. */
export function createProbeServer(options: ProbeOptions): ProbeServer {
  const server = createServer((request, response) => {
    answer(options, request).then(
      result => send(response, result),
      () => send(response, { status: 500, text: 'internal error\n' }),
    );
  });
  // A scraper that holds a connection open must not hold up the stop.
  server.keepAliveTimeout = 5000;
  const { port, start, stop } = listening(server, {
    port: options.port,
    host: options.host ?? '127.0.0.1',
    most: MOST_CONNECTIONS,
  });
  return {
    name: 'probes',
    get port() {
      return port();
    },
    start,
    stop,
  };
}

async function answer({ health, metrics }: ProbeOptions, request: IncomingMessage): Promise<Answer> {
  if (request.method !== 'GET' && request.method !== 'HEAD') return { status: 405, text: 'only GET\n' };
  const url = targetOf(request);
  if (url === undefined) return { status: 400, text: 'the target of the request is no URL\n' };
  switch (url.pathname) {
    case '/healthz':
    case '/livez':
      return report(health.live, url.searchParams.has('verbose'));
    case '/readyz':
      return report(health.ready, url.searchParams.has('verbose'));
    case '/metrics':
      if (metrics) return { status: 200, type: metrics.contentType, text: await metrics.render() };
  }
  return { status: 404, text: 'try /healthz, /readyz or /metrics\n' };
}

function report(checks: Readonly<Record<string, Check>>, verbose: boolean): Answer {
  const wrong = failures(checks);
  const ok = Object.keys(wrong).length === 0;
  if (ok && !verbose) return { status: 200, text: 'ok\n' };
  const lines = Object.keys(checks).map(name => (name in wrong ? `[-]${name}: ${wrong[name]}` : `[+]${name} ok`));
  return { status: ok ? 200 : 503, text: `${lines.join('\n')}\n` };
}

function send(response: ServerResponse, { status, type = 'text/plain; charset=utf-8', text }: Answer): void {
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text) });
  response.end(text);
}
