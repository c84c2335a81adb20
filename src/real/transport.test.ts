import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { NoAnswer, type WatchAnswer, type WatchEvent } from '../kube/transport.ts';
import type { Credentials, Material } from './credentials.ts';
import { type Connection, connect } from './transport.ts';

type Handle = (request: IncomingMessage & { text: string }, response: ServerResponse) => void;

const open: { server?: Server; connection?: Connection } = {};
afterEach(async () => {
  await open.connection?.close();
  open.server?.closeAllConnections();
  await new Promise(resolve => open.server?.close(resolve) ?? resolve(undefined));
});

async function setUp(handle: Handle, tokens: string[] = [], certs: (string | undefined)[] = []) {
  const seen: { method?: string; url?: string; headers: IncomingMessage['headers']; text: string }[] = [];
  const sockets = new Set<{ closed: Promise<void> }>();
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    seen.push({ method: request.method, url: request.url, headers: request.headers, text });
    handle(Object.assign(request, { text }), response);
  });
  server.on('connection', socket => {
    sockets.add({ closed: new Promise(resolve => socket.once('close', () => resolve())) });
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const none: Material = {
    ca: undefined,
    insecure: false,
    serverName: undefined,
    cert: undefined,
    key: undefined,
    token: undefined,
  };
  let reads = 0;
  const credentials: Credentials = {
    server: `http://127.0.0.1:${(server.address() as AddressInfo).port}/prefix/`,
    namespace: 'default',
    source: 'test',
    read: () => {
      const at = reads++;
      return { ...none, token: tokens[Math.min(at, tokens.length - 1)], cert: certs[at] };
    },
  };
  const connection = connect(credentials, { userAgent: 'me/1' });
  Object.assign(open, { server, connection });
  return { seen, sockets, server, connection };
}

const json = (
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string | string[]> = {},
) => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
};
const eventsOf = (answer: WatchAnswer): AsyncIterator<WatchEvent> => {
  if (!('events' in answer)) throw new Error(`refused with ${answer.status}`);
  return answer.events[Symbol.asyncIterator]();
};
const event = (name: string) => `${JSON.stringify({ type: 'ADDED', object: { metadata: { name } } })}\n`;
const get = { method: 'GET', path: '/api/v1/pods' } as const;
const never = new AbortController().signal;

describe('calls', () => {
  it('carry path, query, body, types and token; answers of any status come back', async () => {
    const { seen, connection } = await setUp(
      (_, response) => json(response, 409, { kind: 'Status' }, { warning: ['299 - "a"', '299 - "b"'] }),
      ['t0'],
    );
    const answer = await connection.send({
      method: 'PATCH',
      path: '/api/v1/pods',
      query: { labelSelector: 'a=b,c', force: 'true' },
      body: { x: 1 },
      contentType: 'application/apply-patch+yaml',
    });
    expect(answer).toMatchObject({ status: 409, body: { kind: 'Status' } });
    expect(answer.headers.warning).toBe('299 - "a", 299 - "b"');
    expect(seen[0]).toMatchObject({
      method: 'PATCH',
      url: '/prefix/api/v1/pods?labelSelector=a%3Db%2Cc&force=true',
      text: '{"x":1}',
      headers: { 'content-type': 'application/apply-patch+yaml', authorization: 'Bearer t0', 'user-agent': 'me/1' },
    });
  });

  it('share connections', async () => {
    const { sockets, connection } = await setUp((_, response) => json(response, 200, {}));
    for (let i = 0; i < 20; i++) await connection.send(get);
    expect(sockets.size).toBeLessThan(4); // a second one opens when the first still reads the end of an answer
    await Promise.all(Array.from({ length: 100 }, () => connection.send(get)));
    expect(sockets.size).toBeLessThanOrEqual(32);
  });

  it('401: credentials are read again and the call repeated once, if they changed', async () => {
    const refuse: Handle = (request, response) =>
      json(response, request.headers.authorization === 'Bearer new' ? 200 : 401, {});
    const { seen, connection } = await setUp(refuse, ['old', 'new', 'bad', 'bad']);
    expect((await connection.send(get)).status).toBe(200);
    expect(seen.map(({ headers }) => headers.authorization)).toEqual(['Bearer old', 'Bearer new']);
  });

  it('half a certificate, read while it is replaced, takes the place of nothing, and the next look finds the whole', async () => {
    const refuse: Handle = (request, response) =>
      json(response, request.headers.authorization === 'Bearer new' ? 200 : 401, {});
    const { connection } = await setUp(refuse, ['old', 'new'], [undefined, '-----BEGIN CERTIFICATE-----\nMII']);
    expect((await connection.send(get)).status).toBe(401);
    expect((await connection.send(get)).status).toBe(200);
  });

  it('401 with the same credentials stands', async () => {
    const { seen, connection } = await setUp((_, response) => json(response, 401, {}), ['old']);
    expect([(await connection.send(get)).status, seen.length]).toEqual([401, 1]);
  });

  it('no answer: refused, cut, late, or not JSON', async () => {
    const { server, connection } = await setUp((request, response) => {
      if (request.url?.endsWith('/cut')) request.socket.destroy();
      else if (request.url?.endsWith('/garbage')) {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end('{"password": hunter2');
      }
    });
    const failure = (path: string, timeout?: number) =>
      connection.send({ ...get, path, timeout }).catch((e: unknown) => e as Error);
    expect(await failure('/cut')).toBeInstanceOf(NoAnswer);
    expect(await failure('/late', 30)).toMatchObject({
      name: 'NoAnswer',
      message: 'GET /late: no answer within 0.03 s',
    });
    expect(await failure('/garbage')).toMatchObject({
      name: 'NoAnswer',
      message: 'GET /garbage: the answer is not JSON',
    });
    server.closeAllConnections();
    await new Promise(resolve => server.close(resolve));
    expect(await failure('/gone')).toBeInstanceOf(NoAnswer);
  });

  it('end with their signal', async () => {
    const { connection } = await setUp(() => {});
    const stop = new AbortController();
    const call = connection.send(get, stop.signal).catch((e: unknown) => e);
    stop.abort(new Error('enough'));
    expect(await call).toMatchObject({ message: 'enough' });
  });
});

describe('watches', () => {
  it('yield events however they are cut, and end when the server ends them', async () => {
    const { connection } = await setUp((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write(event('a') + event('b').slice(0, 10));
      response.write(event('b').slice(10));
      response.end();
    });
    const events = eventsOf(await connection.watch({ ...get, query: { watch: 'true', timeoutSeconds: '300' } }, never));
    expect((await events.next()).value).toMatchObject({ object: { metadata: { name: 'a' } } });
    expect((await events.next()).value).toMatchObject({ object: { metadata: { name: 'b' } } });
    expect((await events.next()).done).toBe(true);
  });

  it.each([
    ['a bad line', (response: ServerResponse) => response.end(`${event('a')}{"type": hunter2\n`)],
    ['half a line', (response: ServerResponse) => response.end(event('a') + event('b').slice(0, 10))],
    ['a cut connection', (response: ServerResponse) => response.write(event('a'), () => response.socket?.destroy())],
  ])('%s breaks the stream', async (_, rest) => {
    const { connection } = await setUp((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      rest(response);
    });
    const events = eventsOf(await connection.watch(get, never));
    expect((await events.next()).done).toBe(false);
    const error = await events.next().catch((e: unknown) => e);
    expect(error).toBeInstanceOf(NoAnswer);
    expect(String((error as Error).message)).not.toContain('hunter2');
  });

  it('come back with the refusal', async () => {
    const { connection } = await setUp((_, response) => json(response, 410, { kind: 'Status', code: 410 }));
    expect(await connection.watch(get, never)).toMatchObject({ status: 410, refusal: { body: { code: 410 } } });
  });

  it('end quietly with their signal, and free the socket', async () => {
    const { sockets, connection } = await setUp((_, response) => {
      response.writeHead(200);
      response.write(event('a'));
    });
    const stop = new AbortController();
    const events = eventsOf(await connection.watch(get, stop.signal));
    await events.next();
    const last = events.next();
    stop.abort(new Error('enough'));
    expect((await last).done).toBe(true);
    await [...sockets][0]!.closed; // undici opens another at once, for the next one
  });

  it('do not take the place of calls', async () => {
    const { connection } = await setUp((request, response) => {
      if (request.url?.includes('watch')) response.writeHead(200).write(event('a'));
      else json(response, 200, {});
    });
    const watches = await Promise.all(
      Array.from({ length: 60 }, () => connection.watch({ ...get, query: { watch: '1' } }, never)),
    );
    expect(watches.every(answer => answer.status === 200)).toBe(true);
    expect((await connection.send(get)).status).toBe(200);
  });
});
