import { setMaxListeners } from 'node:events';
import { createSecureContext } from 'node:tls';
import { type Dispatcher, Pool } from 'undici';
import {
  NoAnswer,
  type Request,
  type Response,
  type Transport,
  type WatchAnswer,
  type WatchEvent,
} from '../kube/transport.ts';
import type { Credentials, Material } from './credentials.ts';
import { linesOf } from './lines.ts';

/** Enough for every worker of the operator at once; a local API server answers 3,000 calls/s over 16 (measured). */
const CONNECTIONS = 32;
const CONNECT_TIMEOUT = 10_000;
/** kube-apiserver closes idle connections after 90 s: close them first, or a write meets a closing socket. */
const KEEP_ALIVE = 30_000;
/** TCP probes on a watch: they find a peer that vanished without a word, which HTTP/1.1 itself cannot. */
const PROBE_AFTER = 30_000;
/** A watch may be silent until the server's own end of it; this much later the server is gone. */
const WATCH_GRACE = 30_000;
/** Projected tokens rotate hourly and are valid for long after; client-go looks once a minute as well. */
const RELOAD_EVERY = 60_000;
const DEFAULT_TIMEOUT = 30_000;

export interface ConnectOptions {
  readonly userAgent?: string;
  /** For calls; watches have one each. */
  readonly connections?: number;
}

export interface Connection extends Transport {
  /** Ends every open request. */
  close(): Promise<void>;
}

/** HTTP/1.1 on purpose: slower h2 calls (measured), and one stalled reader would hold every watch on the connection. */
export function connect(credentials: Credentials, options: ConnectOptions = {}): Connection {
  const server = new URL(credentials.server);
  const prefix = server.pathname.replace(/\/$/, '');
  let material = credentials.read();
  let readAt = performance.now();
  let pools = openPools(server.origin, material, options.connections);
  let closed = false;

  /** Takes up rotated tokens and certificates. True when something changed. */
  function reload(): boolean {
    readAt = performance.now();
    const old = { material, pools };
    try {
      const fresh = credentials.read();
      const { token: _, ...tls } = fresh;
      const { token: __, ...oldTls } = material;
      if (JSON.stringify(tls) !== JSON.stringify(oldTls)) pools = openPools(server.origin, fresh, options.connections);
      material = fresh;
    } catch {
      return false; // a file in the middle of being replaced; what we have may still be good, and we look again
    }
    // Requests under way end in their own time.
    if (pools !== old.pools) for (const pool of Object.values(old.pools)) pool.close().catch(() => {});
    return JSON.stringify(material) !== JSON.stringify(old.material);
  }

  /** One exchange; a 401 is answered by reading the credentials again, and by one retry if they changed. */
  async function exchange(kind: keyof Pools, request: Request, signal: AbortSignal, bodyTimeout: number) {
    if (performance.now() - readAt > RELOAD_EVERY) reload();
    const first = await dispatch(kind, request, signal, bodyTimeout);
    if (first.statusCode !== 401 || !reload()) return first;
    await first.body.dump();
    return dispatch(kind, request, signal, bodyTimeout);
  }

  function dispatch(kind: keyof Pools, request: Request, signal: AbortSignal, bodyTimeout: number) {
    const query = new URLSearchParams(request.query).toString();
    const headers: Record<string, string> = { accept: request.accept ?? 'application/json' };
    if (options.userAgent) headers['user-agent'] = options.userAgent;
    if (material.token !== undefined) headers.authorization = `Bearer ${material.token}`;
    if (request.body !== undefined) headers['content-type'] = request.contentType ?? 'application/json';
    return pools[kind].request({
      method: request.method,
      path: prefix + request.path + (query && `?${query}`),
      headers,
      body: request.body === undefined ? null : JSON.stringify(request.body),
      signal,
      headersTimeout: 0, // the caller's deadline, kept below, ends the wait
      bodyTimeout,
    });
  }

  async function send(request: Request, signal?: AbortSignal): Promise<Response> {
    const limit = deadline(request.timeout ?? DEFAULT_TIMEOUT, signal);
    try {
      return await responseOf(await exchange('calls', request, limit.signal, 0));
    } catch (error) {
      throw signal?.aborted ? signal.reason : unanswered(request, error);
    } finally {
      limit.clear();
    }
  }

  async function watch(request: Request, signal: AbortSignal): Promise<WatchAnswer> {
    const limit = deadline(request.timeout ?? DEFAULT_TIMEOUT, signal);
    try {
      const seconds = Number(request.query?.timeoutSeconds ?? 600);
      const answer = await exchange('watches', request, limit.signal, seconds * 1000 + WATCH_GRACE);
      limit.disarm();
      if (answer.statusCode === 200)
        return { status: 200, events: eventsOf(request, answer.body, signal, limit.clear) };
      const refusal = await responseOf(answer);
      limit.clear();
      return { status: refusal.status, refusal };
    } catch (error) {
      limit.clear();
      throw signal.aborted ? signal.reason : unanswered(request, error);
    }
  }

  async function close(): Promise<void> {
    if (closed) return;
    closed = true;
    await Promise.all(Object.values(pools).map(pool => pool.destroy(new NoAnswer('the connection was closed'))));
  }

  return { send, watch, close };
}

interface Pools {
  readonly calls: Pool;
  /** Apart, so that watches never take a place from calls; each has a socket of its own. */
  readonly watches: Pool;
}

function openPools(
  origin: string,
  { ca, cert, key, serverName, insecure }: Material,
  connections = CONNECTIONS,
): Pools {
  // One for all: three dozen watches start at once, and each would parse the certificates and keep them for itself.
  const secureContext = createSecureContext({ ca, cert, key });
  const tls = { secureContext, servername: serverName, rejectUnauthorized: !insecure };
  const common: Pool.Options = {
    connect: { ...tls, timeout: CONNECT_TIMEOUT, keepAlive: true, keepAliveInitialDelay: PROBE_AFTER },
    allowH2: false,
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE,
    keepAliveMaxTimeout: KEEP_ALIVE,
  };
  return { calls: new Pool(origin, { ...common, connections }), watches: new Pool(origin, common) };
}

/** A signal that follows `outer` and fires by itself after `ms`, until disarmed. `clear` unties it from `outer`. */
function deadline(ms: number, outer: AbortSignal | undefined) {
  const controller = new AbortController();
  const follow = () => controller.abort(outer?.reason);
  const timer = setTimeout(() => controller.abort(new Error(`no answer within ${ms / 1000} s`)), ms);
  // A pass makes many calls at once under one signal; Node warns of a leak from the eleventh listener on.
  if (outer) setMaxListeners(0, outer);
  if (outer?.aborted) follow();
  else outer?.addEventListener('abort', follow, { once: true });
  return {
    signal: controller.signal,
    disarm: () => clearTimeout(timer),
    clear: () => {
      clearTimeout(timer);
      outer?.removeEventListener('abort', follow);
    },
  };
}

async function responseOf({ statusCode, headers, body }: Dispatcher.ResponseData): Promise<Response> {
  const text = await body.text();
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value;
  }
  const isJson = flat['content-type']?.includes('json') ?? false;
  return { status: statusCode, headers: flat, body: isJson ? JSON.parse(text) : text };
}

async function* eventsOf(
  request: Request,
  body: Dispatcher.ResponseData['body'],
  signal: AbortSignal,
  done: () => void,
): AsyncGenerator<WatchEvent> {
  try {
    for await (const line of linesOf(body)) yield JSON.parse(line) as WatchEvent;
  } catch (error) {
    if (!signal.aborted) throw unanswered(request, error);
  } finally {
    done();
    body.destroy();
  }
}

function unanswered(request: Request, cause: unknown): NoAnswer {
  if (cause instanceof NoAnswer) return cause;
  const why = cause instanceof Error ? cause.message || cause.name : String(cause);
  // JSON.parse quotes what it could not read, which may be the data of a Secret.
  const said = cause instanceof SyntaxError ? 'the answer is not JSON' : why;
  return new NoAnswer(`${request.method} ${request.path}: ${said}`, cause instanceof SyntaxError ? undefined : cause);
}
