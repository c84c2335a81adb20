import { Agent, buildConnector, type Dispatcher } from 'undici';
import { type Backend, unreachable } from '../cloud/faults.ts';
import { DEADLINE, type Dial } from './dial.ts';

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Parsed JSON, or the text where it is none, or undefined when empty. */
  readonly body: unknown;
}

export type Http = (
  what: Backend,
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  url: string,
  options?: { readonly headers?: Readonly<Record<string, string>>; readonly body?: unknown; readonly ca?: string },
) => Promise<HttpAnswer>;

/** An answer of these may come from a proxy in front of nobody. */
const NOBODY_BEHIND = new Set([502, 503, 504]);

/** JSON over HTTP with one deadline for the whole exchange; throws CloudError `unreachable` when there was no answer. */
export function createHttp(dial: Dial, deadline = DEADLINE): { http: Http; close(): Promise<void> } {
  const agents = new Map<string, Agent>();
  const agentFor = (ca: string | undefined): Agent => {
    const old = agents.get(ca ?? '');
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
    agents.set(ca ?? '', agent);
    return agent;
  };
  const http: Http = async (what, method, url, { headers = {}, body, ca } = {}) => {
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
      signal: AbortSignal.timeout(deadline),
    };
    try {
      const answer = await agentFor(ca).request(options);
      const text = await answer.body.text();
      if (NOBODY_BEHIND.has(answer.statusCode)) throw unreachable(what, host, `status ${answer.statusCode}`);
      return { status: answer.statusCode, headers: answer.headers, body: parse(text) };
    } catch (error) {
      if (error instanceof Error && error.name === 'CloudError') throw error;
      throw unreachable(what, host, reasonOf(error), error);
    }
  };
  return { http, close: async () => void (await Promise.all([...agents.values()].map(a => a.destroy()))) };
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
  const { code, name, cause } = (error ?? {}) as { code?: string; name?: string; cause?: unknown };
  if (name === 'TimeoutError' || code?.includes('TIMEOUT') || code === 'ETIMEDOUT') return 'no answer in time';
  if (code === 'PROTOCOL_CONNECTION_LOST' || code === 'ECONNRESET' || code === 'UND_ERR_SOCKET')
    return 'the connection broke';
  if (code === 'ECONNREFUSED') return 'connection refused';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'its name does not resolve';
  if (['ERR_TLS', 'CERT', 'SIGNATURE', 'SSL'].some(part => code?.includes(part))) return `TLS: ${code}`;
  if (code !== undefined) return code;
  return cause === undefined ? 'the connection broke' : reasonOf(cause);
}
