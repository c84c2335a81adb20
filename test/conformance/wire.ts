import type { IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest, type RequestOptions } from 'node:https';
import type { Store } from '../../src/embedded/store/store.ts';
import type { Request, Response, WatchEvent } from '../../src/kube/transport.ts';

/** One side of a comparison: the real API server or the Store. */
export interface Side {
  readonly name: 'real' | 'store';
  send(request: Request): Promise<Response>;
  /** Opens a watch, runs `during`, and gives the events: at most `count`, or those of `patience` milliseconds. */
  watch(request: Request, count: number, during: () => Promise<void>): Promise<WatchEvent[] | Response>;
  close(): void;
}

/** How long the real server may take with the events of a watch, or to establish a CRD. */
const PATIENCE = 3_000;

export function realSide(server: { url: string; ca: string }, token: string): Side {
  const agent = new Agent({ keepAlive: true, ca: server.ca, maxSockets: 8 });
  const open = (request: Request): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const query = new URLSearchParams(request.query ?? {}).toString();
      const body = request.body === undefined ? undefined : JSON.stringify(request.body);
      const options: RequestOptions = {
        method: request.method,
        agent,
        headers: {
          authorization: `Bearer ${token}`,
          accept: request.accept ?? 'application/json',
          // What the server takes as the field manager of a request that names none; Store calls it the same.
          'user-agent': 'unknown/1',
          ...(body === undefined
            ? {}
            : {
                'content-type': request.contentType ?? 'application/json',
                'content-length': String(Buffer.byteLength(body)),
              }),
        },
      };
      const outgoing = httpsRequest(`${server.url}${request.path}${query === '' ? '' : `?${query}`}`, options, resolve);
      outgoing.once('error', reject);
      outgoing.end(body);
    });
  const read = async (answer: IncomingMessage): Promise<Response> => {
    let text = '';
    for await (const chunk of answer) text += chunk;
    const headers = Object.fromEntries(Object.entries(answer.headers).map(([k, v]) => [k, String(v)]));
    return { status: answer.statusCode ?? 0, headers, body: parse(text) };
  };
  return {
    name: 'real',
    send: async request => read(await open(request)),
    async watch(request, count, during) {
      const answer = await open({ ...request, query: { ...request.query, watch: 'true' } });
      if (answer.statusCode !== 200) return read(answer);
      const events: WatchEvent[] = [];
      const enough = new Promise<void>(resolve => {
        let rest = '';
        answer.on('data', chunk => {
          const lines = (rest + chunk).split('\n');
          rest = lines.pop() ?? '';
          for (const line of lines) if (line !== '') events.push(JSON.parse(line) as WatchEvent);
          if (events.length >= count) resolve();
        });
        answer.once('end', resolve);
        answer.once('error', () => resolve());
      });
      await during();
      await Promise.race([enough, sleep(PATIENCE)]);
      // One that should not have come would come now.
      await sleep(50);
      answer.destroy();
      return events;
    },
    close: () => agent.destroy(),
  };
}

export function storeSide(store: Store): Side {
  return {
    name: 'store',
    send: async request => wire(store.handle(clone(request))),
    async watch(request, _count, during) {
      const events: WatchEvent[] = [];
      const opened = store.watch(
        { ...clone(request), query: { ...request.query, watch: 'true' } },
        e => events.push(clone(e)),
        () => {},
      );
      if ('refusal' in opened) return wire(opened.refusal);
      await during();
      opened.close();
      return events;
    },
    close: () => {},
  };
}

/** Through JSON, as over a wire. */
const clone = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;
const wire = (response: Response): Response => ({
  ...response,
  body: response.body === undefined ? undefined : clone(response.body),
});

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export const sleep = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms));
