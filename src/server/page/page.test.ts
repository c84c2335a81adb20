import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../../test/unit/kube.ts';
import { realClock } from '../../real/clock.ts';
import type { Clock } from '../../world/clock.ts';
import { assetsOf } from './assets.ts';
import { createFeed } from './feed.ts';
import { type Guard, loopbackGuard } from './guard.ts';
import { createPage } from './page.ts';
import { createPageServer, type PageServer } from './serve.ts';
import { type PageAnswers, type PageOverview, Refused } from './wire.ts';

let server: PageServer | undefined;
afterEach(async () => {
  await server?.stop();
  server = undefined;
});

const overview = (mark: number): PageOverview => ({
  clouds: [],
  why: { causes: [], moving: [`step ${mark}`] },
  now: mark,
  live: true,
  where: 'a test',
  notes: [],
  version: '0',
  can: { plan: true },
});

async function serve(answers: Partial<PageAnswers> = {}, guard: Guard = loopbackGuard, clock: Clock = realClock) {
  const page = createPage({
    answers: {
      overview: async () => overview(1),
      detail: async () => undefined,
      settings: async () => undefined,
      ...answers,
    },
    assets: assetsOf({ 'index.html': '<!doctype html>hello', 'app.js': 'let a = 1;' }),
    guard,
    clock,
    intervalMs: 5,
  });
  server = createPageServer({ page, port: 0, host: '127.0.0.1' });
  await server.start();
  const { url } = server;
  return (path: string, init?: RequestInit) => fetch(new URL(path, url), init);
}

/** Messages of a stream until `enough`, then hangs up. */
async function listen(response: Response, enough: (messages: string[]) => boolean): Promise<string[]> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const { value, done } = await reader.read();
    text += value ?? '';
    const messages = text.split('\n\n').slice(0, -1);
    if (done || enough(messages)) {
      await reader.cancel();
      return messages;
    }
  }
}

describe('the page', () => {
  it('comes with its files, zipped, once, and under a policy that lets nothing else in', async () => {
    const get = await serve();
    const html = await get('/');
    expect(await html.text()).toBe('<!doctype html>hello');
    expect(html.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self'/,
    );
    expect(html.headers.get('content-security-policy')).not.toMatch(/unsafe|http/);
    expect(html.headers.get('x-content-type-options')).toBe('nosniff');
    expect(html.headers.get('content-encoding')).toBe('gzip');
    const again = await get('/', { headers: { 'if-none-match': html.headers.get('etag')! } });
    expect(again.status).toBe(304);
    expect((await get('/app.js')).headers.get('content-type')).toMatch(/^text\/javascript/);
  });

  it.each([
    ['/nothing', 'GET', 404],
    ['/../package.json', 'GET', 404],
    ['/', 'POST', 405],
    ['/api/overview', 'DELETE', 405],
    ['/api/object', 'PUT', 405],
    ['/api/plan', 'GET', 405],
    ['/api/object?kind=Keystone&namespace=a&name=b', 'GET', 404],
  ])('%s %s is %i, and says so as JSON', async (path, method, status) => {
    const get = await serve();
    const answer = await get(path, { method });
    expect(answer.status).toBe(status);
    expect(await answer.json()).toHaveProperty('message');
  });

  it('asks the guard before everything, files too', async () => {
    const needs: string[] = [];
    const get = await serve({}, async (_headers, need) => {
      needs.push(need);
      return { status: 401, message: 'who?', headers: { 'www-authenticate': 'Basic' } };
    });
    for (const path of ['/', '/api/overview', '/api/stream', '/api/settings?kind=a']) {
      const answer = await get(path);
      expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Basic']);
    }
    expect(needs).toEqual(['look', 'look', 'look', 'secrets']);
  });

  it('what goes wrong is told, without passwords', async () => {
    const get = await serve({
      detail: async () => {
        throw new Error('no answer from https://me:hunter22@api');
      },
    });
    const answer = await get('/api/object?kind=a&namespace=b&name=c');
    expect([answer.status, await answer.json()]).toEqual([502, { message: 'no answer from https://me:***@api' }]);
  });
});

describe('a plan', () => {
  const send = (get: Awaited<ReturnType<typeof serve>>, body: string, type = 'application/yaml') =>
    get('/api/plan', { method: 'POST', body, headers: { 'content-type': type } });

  it('takes YAML and gives what it found', async () => {
    const get = await serve({ plan: async text => ({ plan: { got: text }, outside: [] }) });
    expect(await (await send(get, 'kind: x')).json()).toEqual({ plan: { got: 'kind: x' }, outside: [] });
  });

  it('a mistake in it is the sender’s', async () => {
    const get = await serve({
      plan: async () => {
        throw new Refused('line:1:1: no');
      },
    });
    const answer = await send(get, 'x');
    expect([answer.status, await answer.json()]).toEqual([400, { message: 'line:1:1: no' }]);
  });

  it('is made one after the other, and one that fails holds up nobody', async () => {
    let running = 0;
    const get = await serve({
      plan: async text => {
        expect(++running).toBe(1);
        await new Promise(resolve => setImmediate(resolve));
        running--;
        if (text === 'bad') throw new Refused('bad');
        return { plan: text, outside: [] };
      },
    });
    const answers = await Promise.all(['a', 'bad', 'b'].map(text => send(get, text)));
    expect(answers.map(answer => answer.status)).toEqual([200, 400, 200]);
  });

  it('is not taken from a form, not without end, and not where none are made', async () => {
    const get = await serve({ plan: async () => ({ plan: {}, outside: [] }) });
    expect((await send(get, 'x', 'text/plain')).status).toBe(415);
    expect((await send(get, 'x'.repeat(1_000_001))).status).toBe(400);
    await server?.stop();
    expect((await send(await serve(), 'x')).status).toBe(501);
  });
});

describe('the stream', () => {
  it('tells each change once, and nothing while nothing changes', async () => {
    let looks = 0;
    const get = await serve({ overview: async () => ({ ...overview(Math.floor(looks++ / 3)), now: looks }) });
    const messages = await listen(await get('/api/stream'), found => found.length >= 4);
    const told = messages
      .filter(message => message.startsWith('event: overview'))
      .map(message => (JSON.parse(/data: (.*)/.exec(message)![1]!) as PageOverview).why.moving[0]);
    expect(told).toEqual(['step 0', 'step 1', 'step 2']);
    expect(messages[0]).toBe('retry: 1000');
  });

  it('who comes back and missed nothing hears that, who missed something hears it', async () => {
    let mark = 1;
    const get = await serve({ overview: async () => overview(mark) });
    const [, first] = await listen(await get('/api/stream'), found => found.length >= 2);
    const id = /id: (\S+)/.exec(first!)![1]!;
    const back = () => get('/api/stream', { headers: { 'last-event-id': id } });
    expect((await listen(await back(), found => found.length >= 2))[1]).toBe('event: same\ndata: {}');
    mark = 2;
    const missed = await listen(await back(), found => found.some(message => message.includes('step 2')));
    expect(missed.at(-1)).toContain('step 2');
  });

  it('a cluster that does not answer is news, and that it answers again too', async () => {
    let broken = false;
    const get = await serve({
      overview: async () => {
        if (broken) throw new Error('no answer from the API server');
        return overview(1);
      },
    });
    const kinds = (messages: string[]) => messages.flatMap(message => /event: (\w+)/.exec(message)?.[1] ?? []);
    const messages = await listen(await get('/api/stream'), found => {
      if (kinds(found).length === 1) broken = true;
      if (kinds(found).length === 2) broken = false;
      return kinds(found).length >= 3;
    });
    expect(kinds(messages)).toEqual(['overview', 'trouble', 'overview']);
  });

  it('ends when its token does, and not because nobody could say', async () => {
    const clock = new ManualClock();
    let verdict: () => Awaited<ReturnType<Guard>> = () => ({ status: 200, message: '' });
    const get = await serve({}, async () => verdict(), clock);
    const response = await get('/api/stream');
    const reader = response.body!.getReader();
    let ended = false;
    const end = (async () => {
      while (!(await reader.read()).done);
      ended = true;
    })();
    for (const doubtful of [
      () => ({ status: 503 as const, message: '' }),
      () => {
        throw new Error('no answer');
      },
    ]) {
      verdict = doubtful;
      await clock.advance(15_000);
      expect(ended).toBe(false);
    }
    verdict = () => ({ status: 401, message: 'the API server does not know this token' });
    await clock.advance(15_000);
    await end;
    expect(ended).toBe(true);
  });

  it('ends when nobody could say for two minutes whether its token still holds', async () => {
    const clock = new ManualClock();
    let verdict: Awaited<ReturnType<Guard>> = { status: 200, message: '' };
    const get = await serve({}, async () => verdict, clock);
    const reader = (await get('/api/stream')).body!.getReader();
    let ended = false;
    const end = (async () => {
      while (!(await reader.read()).done);
      ended = true;
    })();
    const minutes = async (many: number) => {
      for (let beat = 0; beat < 4 * many; beat++) await clock.advance(15_000);
    };
    await minutes(5);
    // A flood of tokens that another sends.
    verdict = { status: 503, message: 'too many tokens are being checked' };
    await minutes(1);
    expect(ended).toBe(false);
    await minutes(2);
    await end;
    expect(ended).toBe(true);
  });

  it('a reader that does not read costs no more than one message, and hears the newest later', async () => {
    let looks = 0;
    const responses: ServerResponse[] = [];
    const page = createPage({
      answers: {
        overview: async () => ({ ...overview(++looks), where: 'x'.repeat(1 << 20) }),
        detail: async () => undefined,
        settings: async () => undefined,
      },
      assets: assetsOf({}),
      guard: loopbackGuard,
      clock: realClock,
      intervalMs: 1,
    });
    const plain = createServer((request, response) => {
      responses.push(response);
      page.handle(request, response);
    });
    await new Promise<void>(resolve => plain.listen(0, '127.0.0.1', resolve));
    const socket = connect((plain.address() as AddressInfo).port, '127.0.0.1');
    socket.pause();
    socket.write('GET /api/stream HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
    try {
      await expect.poll(() => looks, { timeout: 20_000 }).toBeGreaterThan(30);
      expect(responses[0]!.writableLength).toBeLessThan(8 << 20);
      let heard = '';
      socket.on('data', chunk => {
        heard = (heard + chunk.toString('latin1')).slice(-(4 << 20));
      });
      const newest = looks;
      socket.resume();
      const last = () => Math.max(0, ...[...heard.matchAll(/step (\d+)/g)].map(found => Number(found[1])));
      await expect.poll(last, { timeout: 10_000 }).toBeGreaterThanOrEqual(newest);
    } finally {
      page.close();
      socket.destroy();
      plain.closeAllConnections();
      plain.close();
    }
  }, 40_000);

  it('for those who ask instead: the same, or that nothing changed', async () => {
    const get = await serve();
    const first = await get('/api/overview');
    expect(await first.json()).toMatchObject({ where: 'a test' });
    const etag = first.headers.get('etag')!;
    expect((await get('/api/overview', { headers: { 'if-none-match': etag } })).status).toBe(304);
  });
});

describe('the feed', () => {
  it('looks only while somebody listens', async () => {
    const timers: (() => void)[] = [];
    let [now, looks] = [0, 0];
    const clock = {
      now: () => now,
      wall: () => now,
      timer: (_ms: number, run: () => void) => {
        timers.push(run);
        return () => void timers.splice(timers.indexOf(run), timers.includes(run) ? 1 : 0);
      },
    };
    const feed = createFeed({ clock, answers: { overview: async () => overview(looks++) } });
    expect(timers).toHaveLength(0);
    const heard: string[] = [];
    const first = feed.listen(message => void heard.push(message.type));
    const second = feed.listen(message => void heard.push(message.type));
    expect(timers).toHaveLength(1);
    now += 2000;
    timers.shift()!();
    await new Promise(resolve => setImmediate(resolve));
    expect(heard).toEqual(['overview', 'overview']);
    expect(timers).toHaveLength(1);
    first();
    second();
    expect(timers).toHaveLength(0);
    expect(looks).toBe(1);
  });
});
