import { describe, expect, it } from 'vitest';
import { type FeedWorld, follow } from './feed.ts';

const overview = (mark: number, live = true) => ({ mark, live }) as never;

class Source {
  static all: Source[] = [];
  readyState = 0;
  closed = false;
  readonly listeners = new Map<string, ((event: { data?: unknown }) => void)[]>();
  constructor() {
    Source.all.push(this);
  }
  addEventListener(type: string, listener: (event: { data?: unknown }) => void): void {
    this.listeners.set(type, [...(this.listeners.get(type) ?? []), listener]);
  }
  close(): void {
    this.closed = true;
  }
  say(type: string, data?: unknown): void {
    for (const listener of this.listeners.get(type) ?? []) listener({ data: JSON.stringify(data) });
  }
}

function stage(options: { sse?: boolean; answers?: (() => unknown)[] } = {}) {
  Source.all = [];
  const heard: string[] = [];
  const timers: { ms: number; run: () => void }[] = [];
  const asked: Record<string, string>[] = [];
  const world: FeedWorld = {
    ...(options.sse !== false && { EventSource: Source }),
    fetch: async (_url, { headers }) => {
      asked.push(headers);
      const answer = options.answers?.shift()?.() as { status: number; etag?: string; body?: unknown } | undefined;
      if (!answer) throw new Error('no connection');
      return { status: answer.status, headers: { get: () => answer.etag ?? null }, json: async () => answer.body };
    },
    timer: (ms, run) => {
      const timer = { ms, run };
      timers.push(timer);
      return () => void timers.splice(timers.indexOf(timer), timers.includes(timer) ? 1 : 0);
    },
  };
  const stop = follow(
    {
      overview: found => void heard.push(`overview ${(found as unknown as { mark: number }).mark}`),
      trouble: message => void heard.push(`trouble ${message}`),
      connection: state => void heard.push(state),
    },
    world,
  );
  const fire = async () => {
    timers.shift()?.run();
    await turn();
  };
  return { heard, timers, asked, stop, fire };
}
/** All that waits for promises has run. */
const turn = () => new Promise<void>(resolve => setImmediate(resolve));

describe('listening', () => {
  it('hears what changes, and trouble', () => {
    const { heard } = stage();
    Source.all[0]!.say('overview', overview(1));
    Source.all[0]!.say('trouble', { message: 'no answer' });
    expect(heard).toEqual(['live', 'live', 'overview 1', 'live', 'trouble no answer']);
  });

  it('the browser comes back by itself after a cut, and having missed nothing is said', () => {
    const { heard, timers } = stage();
    Source.all[0]!.say('overview', overview(1));
    Source.all[0]!.say('error');
    Source.all[0]!.say('same', {});
    expect(heard.slice(-2)).toEqual(['lost', 'live']);
    expect(Source.all).toHaveLength(1);
    expect(timers).toEqual([]);
  });

  it('a browser that gave up is made to try again', async () => {
    const { fire } = stage();
    Source.all[0]!.readyState = 2;
    Source.all[0]!.say('error');
    expect(Source.all[0]!.closed).toBe(true);
    await fire();
    expect(Source.all).toHaveLength(2);
  });

  const cut = async () => {
    for (let i = 0; i < 4; i++) Source.all[0]!.say('error');
    await turn();
    expect(Source.all[0]!.closed).toBe(true);
  };

  it('where no stream comes through it asks instead, and tries to listen again after a while', async () => {
    const { heard, fire } = stage({ answers: Array(15).fill(() => ({ status: 200, body: overview(7) })) });
    await cut();
    expect(heard.slice(-2)).toEqual(['polling', 'overview 7']);
    for (let i = 0; i < 13; i++) await fire();
    expect(Source.all).toHaveLength(1);
    await fire();
    expect(Source.all).toHaveLength(2);
  });

  it('a server that was away is listened to as soon as it answers', async () => {
    const { heard, fire } = stage({ answers: [() => undefined, () => ({ status: 200, body: overview(8) })] });
    await cut();
    expect(heard.at(-1)).toBe('lost');
    await fire();
    expect(heard.at(-1)).toBe('overview 8');
    expect(Source.all).toHaveLength(2);
  });

  it('what is from a file is not shown as live', () => {
    const { heard } = stage();
    Source.all[0]!.say('overview', overview(1, false));
    expect(heard.at(-2)).toBe('recorded');
  });
});

describe('a browser without EventSource', () => {
  it('asks again and again, and says what it knows', async () => {
    const { heard, asked, fire } = stage({
      sse: false,
      answers: [
        () => ({ status: 200, etag: '"a"', body: overview(1) }),
        () => ({ status: 304 }),
        () => ({ status: 502, body: { message: 'no answer from the API server' } }),
        () => undefined,
        () => ({ status: 200, etag: '"b"', body: overview(2) }),
      ],
    });
    await turn();
    for (let i = 0; i < 4; i++) await fire();
    expect(asked.map(headers => headers['if-none-match'])).toEqual([undefined, '"a"', '"a"', '"a"', '"a"']);
    expect(heard).toEqual([
      'polling',
      'overview 1',
      'polling',
      'polling',
      'trouble no answer from the API server',
      'lost',
      'polling',
      'overview 2',
    ]);
  });

  it('stops when told', async () => {
    const { stop, timers } = stage({ sse: false, answers: [] });
    await turn();
    stop();
    expect(timers).toEqual([]);
  });
});
