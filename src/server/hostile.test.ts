import { once } from 'node:events';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { makeCertificate } from '../real/certificate.ts';
import { realClock } from '../real/clock.ts';
import type { Server } from '../runtime/manager.ts';
import type { Clock } from '../world/clock.ts';
import { silent } from '../world/log.ts';
import { createProbeServer } from './http.ts';
import { assetsOf } from './page/assets.ts';
import { loopbackGuard } from './page/guard.ts';
import { createPage } from './page/page.ts';
import { createPageServer } from './page/serve.ts';
import { createWebhook } from './webhook.ts';

/** A client of a port may send anything. No request may end the process, and none may end the service of a server. */

interface Target {
  readonly server: Server;
  readonly port: number;
  readonly tls: boolean;
  /** A request that must be answered afterwards, and how. */
  readonly well: string;
  readonly answer: RegExp;
}

const host = 'Host: 127.0.0.1\r\n';
const post = (target: string, body: string, more = ''): string =>
  `POST ${target} HTTP/1.1\r\n${host}Connection: close\r\n${more}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
const get = (target: string, more = ''): string => `GET ${target} HTTP/1.1\r\n${host}Connection: close\r\n${more}\r\n`;
const json = 'Content-Type: application/json\r\n';

/** `true`: the sender hangs up in the middle. */
const REQUESTS: readonly (readonly [name: string, text: string, hangUp?: boolean])[] = [
  ['a target of two slashes', post('//', '')],
  ['the same, read', get('//')],
  ['two slashes and a bad port', get('//x:99999/')],
  ['a target with a host of its own', get('//evil.example/metrics')],
  ['a URL as target', get('http://[::bad/')],
  ['a URL of another scheme', get('gopher:x')],
  ['an asterisk', `OPTIONS * HTTP/1.1\r\n${host}Connection: close\r\n\r\n`],
  ['a broken escape', get('/%')],
  ['a zero byte escaped', get('/%00')],
  ['a query of nothing but marks', get('/?????&&&===')],
  ['a path up the tree', get('/../../../etc/passwd')],
  ['a path with a tab', 'GET /\tx HTTP/1.1\r\n\r\n'],
  ['a very long target', get(`/${'a'.repeat(60_000)}`)],
  ['a very long header', get('/', `X: ${'a'.repeat(60_000)}\r\n`)],
  ['many headers', get('/', 'X: y\r\n'.repeat(3000))],
  ['no host', 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n'],
  ['two hosts', get('/', 'Host: b\r\n')],
  ['a header without a name', get('/', ': x\r\n')],
  ['a header with a line of its own', get('/', 'X: a\r\n b\r\n')],
  ['an old version of HTTP', 'GET / HTTP/0.9\r\n\r\n'],
  ['a version that is none', 'GET / HTTP/9.9\r\n\r\n'],
  ['a method that is none', 'BREW / HTTP/1.1\r\n\r\n'],
  ['CONNECT', `CONNECT x:443 HTTP/1.1\r\n${host}\r\n`],
  ['TRACE', `TRACE / HTTP/1.1\r\n${host}Connection: close\r\n\r\n`],
  ['an upgrade', get('/', 'Upgrade: websocket\r\nConnection: upgrade\r\n')],
  ['the start of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['bytes that are no HTTP', '\x16\x03\x01\x00\x00\x00\xff\xfe'],
  ['an expectation', post('/', 'x', 'Expect: what\r\n')],
  ['a length that is none', `POST /validate HTTP/1.1\r\n${host}Content-Length: x\r\n\r\n`],
  ['two lengths', `POST /validate HTTP/1.1\r\n${host}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`],
  ['length and chunks', post('/validate', 'x', 'Transfer-Encoding: chunked\r\n')],
  ['a chunk that is none', `POST /validate HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\nzz\r\n`],
  ['a body that is not JSON', post('/validate', '{', json)],
  ['JSON null', post('/validate', 'null', json)],
  ['JSON of another shape', post('/validate', '[[]]', json)],
  ['a review without a request', post('/validate', '{"kind":"AdmissionReview"}', json)],
  ['a request that is text', post('/validate', '{"request":"x"}', json)],
  ['an object that is a number', post('/validate', '{"request":{"object":1}}', json)],
  ['an object without metadata', post('/validate', '{"request":{"object":{"kind":"Keystone"}}}', json)],
  ['an object with no metadata', post('/validate', '{"request":{"object":{"kind":"Keystone","metadata":null}}}', json)],
  ['metadata that is a list', post('/validate', '{"request":{"object":{"kind":"Keystone","metadata":[]}}}', json)],
  ['HTTP/1.0', 'GET / HTTP/1.0\r\n\r\n'],
  ['a host that is none', get('/').replace('127.0.0.1', `${'a.'.repeat(2000)}:99999999`)],
  ['a body of no bytes', post('/validate', '')],
  ['a body of another type', post('/validate', '<xml/>', 'Content-Type: text/xml\r\n')],
  ['a body of bad UTF-8', post('/validate', '\xff\xfe\x00', json)],
  ['a body that is too long', post('/validate', 'x'.repeat(5 << 20), json)],
  ['a plan that is too long', post('/api/plan', 'x'.repeat(2 << 20), json)],
  ['a plan of nothing', post('/api/plan', '', json)],
  ['a body that ends early', `POST /validate HTTP/1.1\r\n${host}Content-Length: 100\r\n\r\n{"a":`, true],
  ['a plan that ends early', `POST /api/plan HTTP/1.1\r\n${host}${json}Content-Length: 100\r\n\r\na`, true],
  ['a stream that is left', get('/api/stream'), true],
  ['headers that end early', `GET / HTTP/1.1\r\nHos`, true],
  ['an object of odd names', get('/api/object?kind=__proto__&name=constructor&namespace=%ff')],
  ['a token that is none', get('/api/overview', 'Authorization: Basic ====\r\n')],
  ['a mark that is none', get('/api/stream', 'Last-Event-ID: \x7f\r\n'), true],
];

let open: Server | undefined;
afterEach(async () => {
  await open?.stop();
  open = undefined;
});

async function webhook(clock: Clock): Promise<Target> {
  const { ca, cert, key } = makeCertificate(Date.now());
  const neighbours = { list: async () => [] };
  const options = { certificate: { ca, cert, key }, clock, log: silent, neighbours };
  const server = createWebhook({ port: 0, ...options });
  await server.start();
  const answer = /^HTTP\/1\.1 200 [\s\S]*"allowed":true/;
  return { server, port: server.port, tls: true, well: post('/validate', reviewOf({}), json), answer };
}

const SERVERS: Readonly<Record<string, () => Promise<Target>>> = {
  async probes() {
    const metrics = { render: async () => 'a 1\n', contentType: 'text/plain' };
    const server = createProbeServer({ port: 0, health: { live: {}, ready: {} }, metrics });
    await server.start();
    return { server, port: server.port, tls: false, well: get('/healthz'), answer: /^HTTP\/1\.1 200 [\s\S]*ok/ };
  },
  async metrics() {
    const target = await SERVERS.probes!();
    return { ...target, well: get('/metrics'), answer: /^HTTP\/1\.1 200 [\s\S]*a 1/ };
  },
  webhook: () => webhook(realClock),
  async page() {
    const page = createPage({
      answers: {
        overview: async () => ({
          clouds: [],
          why: { causes: [], moving: [] },
          now: 0,
          live: true,
          where: 'a test',
          notes: [],
          version: '0',
          can: { plan: true },
        }),
        detail: async () => undefined,
        settings: async () => undefined,
        plan: async () => ({ plan: {}, outside: [] }),
      },
      assets: assetsOf({ 'index.html': 'hello' }),
      guard: loopbackGuard,
      clock: realClock,
      intervalMs: 5,
    });
    const server = createPageServer({ page, port: 0, host: '127.0.0.1' });
    await server.start();
    const port = Number(new URL(server.url).port);
    return { server, port, tls: false, well: get('/'), answer: /^HTTP\/1\.1 200 [\s\S]*hello/ };
  },
  async 'live feed'() {
    const target = await SERVERS.page!();
    return { ...target, well: get('/api/stream'), answer: /^HTTP\/1\.1 200 [\s\S]*event: overview/ };
  },
};

/** What comes back before `enough`, the end, or a moment without a word. */
async function exchange({ port, tls }: Target, text: string, enough: RegExp, hangUp = false): Promise<string> {
  const socket: Socket = tls
    ? connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false })
    : connectTcp(port, '127.0.0.1');
  let heard = '';
  socket.on('error', () => undefined);
  await once(socket, tls ? 'secureConnect' : 'connect');
  const over = new Promise<void>(resolve => {
    socket.on('data', chunk => {
      heard += chunk.toString('latin1');
      if (enough.test(heard)) resolve();
    });
    socket.on('close', () => resolve());
    socket.setTimeout(hangUp ? 20 : 300, resolve);
  });
  socket.write(Buffer.from(text, 'latin1'));
  await over;
  socket.destroy();
  return heard;
}

describe.each(Object.keys(SERVERS))('the server of %s', name => {
  it('is asked for nonsense, and goes on', async () => {
    const fatal: unknown[] = [];
    const note = (error: unknown): void => void fatal.push(error);
    process.on('uncaughtException', note);
    process.on('unhandledRejection', note);
    try {
      const target = await SERVERS[name]!();
      open = target.server;
      for (const [what, text, hangUp] of REQUESTS) {
        const answer = await exchange(target, text, /^HTTP\/1\.1 [\s\S]*\r\n\r\n/, hangUp);
        // Nobody caught what it threw: the socket stays open without a word.
        expect([what, fatal.map(String)]).toEqual([what, []]);
        expect([what, answer]).toEqual([what, expect.not.stringMatching(/^HTTP\/1\.1 50[0-9]/)]);
      }
      expect(await exchange(target, target.well, target.answer)).toMatch(target.answer);
    } finally {
      process.off('uncaughtException', note);
      process.off('unhandledRejection', note);
    }
  });
});

const reviewOf = (spec: object): string => {
  const object = { apiVersion: 'x/v1', kind: 'Keystone', metadata: { name: 'keystone' }, spec };
  const review = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' };
  return JSON.stringify({ ...review, request: { uid: 'u', operation: 'CREATE', object } });
};

/** Sends all but the last byte on many connections, and then the last on all of them at once. */
async function together({ port }: Target, text: string, many: number): Promise<string[]> {
  const sockets = await Promise.all(
    Array.from({ length: many }, async () => {
      const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false });
      socket.on('error', () => undefined);
      await once(socket, 'secureConnect');
      await new Promise(resolve => socket.write(text.slice(0, -1), resolve));
      return socket;
    }),
  );
  await new Promise(resolve => setTimeout(resolve, 100));
  return Promise.all(
    sockets.map(
      socket =>
        new Promise<string>(resolve => {
          let heard = '';
          socket.on('data', chunk => {
            heard += chunk.toString('latin1');
          });
          socket.on('close', () => resolve(heard));
          socket.write(text.slice(-1));
        }),
    ),
  );
}

it('reviews come one after the other, and the loop gets a turn between two of them', async () => {
  // The lease must be renewed meanwhile. Each review waits for a timer: here they fire one by one, long after all came.
  const waiting: (() => void)[] = [];
  const clock: Clock = {
    ...realClock,
    timer(ms, run, options) {
      if (options?.label !== 'turn of a review') return realClock.timer(ms, run, options);
      waiting.push(run);
      return () => undefined;
    },
  };
  const target = await webhook(clock);
  open = target.server;
  let answered = false;
  const answers = together(target, post('/validate', reviewOf({}), json), 8);
  void answers.then(() => {
    answered = true;
  });
  const seen: number[] = [];
  while (!answered) {
    await new Promise(resolve => setTimeout(resolve, 50));
    if (waiting.length > 0) seen.push(waiting.length);
    waiting.shift()?.();
  }
  for (const answer of await answers) expect(answer).toMatch(/^HTTP\/1\.1 200/);
  expect(seen).toEqual(Array.from({ length: 8 }, () => 1));
});

it('many long reviews at once are held up to a bound, and it serves again when they are gone', async () => {
  const target = await SERVERS.webhook!();
  open = target.server;
  const answers = await together(target, post('/validate', 'x'.repeat(4 << 20), json), 8);
  expect(answers.filter(text => text.startsWith('HTTP/1.1 503')).length).toBeGreaterThanOrEqual(4);
  expect(answers.filter(text => text.startsWith('HTTP/1.1 400')).length).toBeGreaterThanOrEqual(2);
  expect(await exchange(target, target.well, target.answer)).toMatch(target.answer);
});

it('a page that closes while a stream waits for its first look does not write after the end', async () => {
  const fatal: unknown[] = [];
  const note = (error: unknown): void => void fatal.push(error);
  process.on('uncaughtException', note);
  const looks: (() => void)[] = [];
  const page = createPage({
    answers: {
      overview: () =>
        new Promise(resolve => {
          const found = { clouds: [], why: { causes: [], moving: [] }, now: 0, live: true, where: 'a test' };
          looks.push(() => resolve({ ...found, notes: [], version: '0', can: { plan: false } }));
        }),
      detail: async () => undefined,
      settings: async () => undefined,
    },
    assets: assetsOf({}),
    guard: loopbackGuard,
    clock: realClock,
    intervalMs: 1,
  });
  const server = createPageServer({ page, port: 0, host: '127.0.0.1' });
  await server.start();
  open = server;
  const looked = async (): Promise<() => void> => {
    while (looks.length === 0) await new Promise(resolve => setImmediate(resolve));
    return looks.shift()!;
  };
  const first = fetch(new URL('/api/overview', server.url));
  (await looked())();
  const id = (await first).headers.get('etag')!.replaceAll('"', '');
  // Who comes back with the mark of the last look is told that nothing changed, in a write of its own.
  const back = fetch(new URL('/api/stream', server.url), { headers: { 'last-event-id': id } });
  const second = await looked();
  await back;
  page.close();
  second();
  await new Promise(resolve => setTimeout(resolve, 20));
  process.off('uncaughtException', note);
  expect(fatal.map(String)).toEqual([]);
});
