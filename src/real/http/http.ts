import { Agent, buildConnector, type Dispatcher } from 'undici';
import { assertTerm } from '../../cloud/during.ts';
import { type Backend, stranger, unreachable } from '../../cloud/faults.ts';
import type { Term } from '../../cloud/ports.ts';
import { digestOf } from '../../world/digest.ts';
import { Lru } from '../../world/lru.ts';
import { DEADLINE, type Dial } from './dial.ts';

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Parsed JSON; undefined when empty. The text where it is none: only of a failure, or where HTML was asked for. */
  readonly body: unknown;
}

export type Http = (
  what: Backend,
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  url: string,
  options?: { readonly headers?: Readonly<Record<string, string>>; readonly body?: unknown; readonly ca?: string },
) => Promise<HttpAnswer>;

/** One for each bundle of CAs in use: each cloud has one, and for a while two when it is renewed. */
const MOST_AGENTS = 100;

/** An answer of these may come from a proxy in front of nobody. */
const NOBODY_BEHIND = new Set([502, 503, 504]);

/** JSON over HTTP with one deadline for the whole exchange; throws CloudError `unreachable` when there was no answer. */
export function createHttp(
  dial: Dial,
  deadline = DEADLINE,
): { http: Http; during(term: Term): Http; close(): Promise<void> } {
  // Bundles are renewed and clouds come and go: an agent that was not used for long closes its sockets.
  const agents = new Lru<string, Agent>(MOST_AGENTS, agent => void agent.close().catch(() => undefined));
  const agentFor = (ca: string | undefined): Agent => {
    const key = digestOf(ca);
    const old = agents.get(key);
    if (old) return old;
    const connect = buildConnector({ timeout: deadline, ...(ca !== undefined && { ca }) });
    const agent = new Agent({
      // Few calls, minutes apart: keep nothing open that a restarted server would answer with a reset.
      keepAliveTimeout: 1_000,
      connect: (options, callback) => {
        const port = Number(options.port || (options.protocol === 'https:' ? 443 : 80));
        dial(options.hostname, port).then(
          to =>
            connect(
              {
                ...options,
                hostname: to.host,
                port: String(to.port),
                servername: options.servername || options.hostname,
              },
              callback,
            ),
          error => callback(error instanceof Error ? error : new Error(String(error)), null),
        );
      },
    });
    agents.set(key, agent);
    return agent;
  };
  const during =
    (term?: Term): Http =>
    async (what, method, url, { headers = {}, body, ca } = {}) => {
      const { origin, pathname, search, host } = new URL(url);
      const options: Dispatcher.RequestOptions = {
        origin,
        path: pathname + search,
        method,
        headers: {
          accept: 'application/json',
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal: AbortSignal.any([AbortSignal.timeout(deadline), ...(term ? [term.signal] : [])]),
      };
      if (term) assertTerm(term);
      try {
        const answer = await agentFor(ca).request(options);
        const text = await answer.body.text();
        if (NOBODY_BEHIND.has(answer.statusCode)) throw unreachable(what, host, `status ${answer.statusCode}`);
        const said = parse(text);
        const asJson = headers.accept === undefined || headers.accept.includes('json');
        // Something else responds in place of the server: its page would be read as `not found`.
        if (answer.statusCode < 300 && asJson && typeof said === 'string')
          throw stranger(what, host, `${method} ${pathname}`);
        // So would the 404 of a proxy that knows no way to the server; the servers themselves say theirs in JSON.
        if (answer.statusCode === 404 && asJson && typeof said === 'string')
          throw stranger(what, host, `${method} ${pathname}`, 'status 404');
        return { status: answer.statusCode, headers: answer.headers, body: said };
      } catch (error) {
        // Our own doing says nothing about the server.
        if (term) assertTerm(term);
        if (error instanceof Error && error.name === 'CloudError') throw error;
        throw unreachable(what, host, reasonOf(error), error);
      }
    };
  return {
    http: during(),
    during,
    close: async () => void (await Promise.all([...agents.values()].map(a => a.destroy()))),
  };
}

function parse(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Stable words for what differs in detail from one try to the next. */
export function reasonOf(error: unknown): string {
  const { code, name, cause, message } = (error ?? {}) as {
    code?: string;
    name?: string;
    cause?: unknown;
    message?: string;
  };
  if (name === 'TimeoutError' || code?.includes('TIMEOUT') || code === 'ETIMEDOUT') return 'no answer in time';
  if (code === 'PROTOCOL_CONNECTION_LOST' || code === 'ECONNRESET' || code === 'UND_ERR_SOCKET')
    return 'the connection broke';
  if (code === 'ECONNREFUSED') return 'connection refused';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'its name does not resolve';
  // mysql2 keeps only the words of what Node said.
  if (code === 'HANDSHAKE_SSL_ERROR' && message) return `TLS: ${message}`;
  if (['ERR_TLS', 'CERT', 'SIGNATURE', 'SSL'].some(part => code?.includes(part))) return `TLS: ${code}`;
  if (code !== undefined) return code;
  return cause === undefined ? 'the connection broke' : reasonOf(cause);
}
