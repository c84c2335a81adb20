import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../../world/clock.ts';
import { type Log, silent } from '../../world/log.ts';
import { maskShapes } from '../../world/mask/shapes.ts';
import { targetOf } from '../target.ts';
import type { Assets } from './assets.ts';
import { createFeed, type FeedMessage } from './feed.ts';
import type { Guard, Need } from './guard.ts';
import { type PageAnswers, type PageRef, Refused } from './wire.ts';

export interface PageOptions {
  readonly answers: PageAnswers;
  readonly assets: Assets;
  readonly guard: Guard;
  readonly clock: Clock;
  readonly log?: Log;
  /** Between two looks while somebody watches. */
  readonly intervalMs?: number;
}

export interface Page {
  handle(request: IncomingMessage, response: ServerResponse): void;
  /** Ends the streams, so that a server can close. */
  close(): void;
}

/** Nothing from elsewhere, nothing inline, in nobody's frame. */
const SAFE: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

/** Proxies cut connections on which nothing is said for a minute, some for half of one. */
const HEARTBEAT_MS = 15_000;
/**
 * A stream whose right to look nobody could confirm for so long ends: an API server that is away shows nothing anyway, and
 * a flood of tokens must not keep one open that was withdrawn.
 */
const DOUBT_MS = 120_000;
/** So many heartbeats without a byte read. */
const DEAF_BEATS = 4;
/** How soon a browser comes back after a lost connection. */
const RETRY_MS = 1000;
/** A cloud is a few kilobytes of YAML. */
const LONGEST_PLAN = 1_000_000;
/** Streams cost a socket each; a browser opens six at most, so this is many people. */
const MOST_STREAMS = 100;

/** The page, read-only: its files, its answers as JSON, and a stream of what changes. */
export function createPage(options: PageOptions): Page {
  const { answers, assets, guard, clock, log = silent } = options;
  const feed = createFeed({ answers, clock, log, ...(options.intervalMs && { intervalMs: options.intervalMs }) });
  const streams = new Set<() => void>();
  /** A plan takes seconds of a whole core: one after the other. */
  let planning: Promise<unknown> = Promise.resolve();

  async function route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = targetOf(request);
    if (url === undefined) return problem(response, 400, 'the target of the request is no URL');
    const isPlan = url.pathname === '/api/plan';
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    if (method !== (isPlan ? 'POST' : 'GET'))
      return problem(response, 405, `only ${isPlan ? 'POST' : 'GET'} here`, { allow: isPlan ? 'POST' : 'GET' });
    const need: Need = isPlan || url.pathname === '/api/settings' ? 'secrets' : 'look';
    const verdict = await guard(request.headers, need);
    if (verdict.status !== 200) return problem(response, verdict.status, verdict.message, verdict.headers);
    const file = assets.get(url.pathname);
    if (file) {
      if (request.headers['if-none-match'] === file.etag) return send(response, 304, '', { etag: file.etag });
      const zipped = /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''));
      return send(response, 200, zipped ? file.gzip : file.bytes, {
        'content-type': file.type,
        etag: file.etag,
        'cache-control': 'no-cache',
        vary: 'accept-encoding',
        ...(zipped && { 'content-encoding': 'gzip' }),
      });
    }
    switch (url.pathname) {
      case '/api/stream':
        return stream(request, response);
      case '/api/overview': {
        const message = await feed.current();
        if (message.type === 'trouble') return send(response, 502, message.text, JSON_TYPE);
        const etag = `"${message.id}"`;
        if (request.headers['if-none-match'] === etag) return send(response, 304, '', { etag });
        return send(response, 200, message.text, { ...JSON_TYPE, etag });
      }
      case '/api/object':
        return found(response, await answers.detail(refOf(url)));
      case '/api/settings':
        return found(response, await answers.settings(refOf(url)));
      case '/api/plan':
        return plan(request, response);
    }
    problem(response, 404, 'there is no such page');
  }

  async function plan(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!answers.plan)
      return problem(
        response,
        501,
        'no plans here: a plan takes a whole core for seconds. Ask kubectl openstack plan -f',
      );
    // A form of another site can't send this type without asking first.
    if (!/^application\/(yaml|json)\b/.test(String(request.headers['content-type'] ?? '')))
      return problem(response, 415, 'send application/yaml');
    const text = await bodyOf(request);
    const mine = planning.then(() => answers.plan?.(text));
    planning = mine.catch(() => undefined);
    return found(response, await mine);
  }

  async function stream(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (streams.size >= MOST_STREAMS) return problem(response, 503, 'too many pages are open');
    response.writeHead(200, {
      ...SAFE,
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
    response.write(`retry: ${RETRY_MS}\n\n`);
    const given = String(request.headers['last-event-id'] ?? '');
    let known = given;
    let open = true;
    /** What a reader that is slow has not heard yet: only the newest, or what it does not read would fill the memory. */
    let late: FeedMessage | undefined;
    let deafBeats = 0;
    const tell = (message: FeedMessage): void => {
      if (!open) return;
      late = response.writableNeedDrain ? message : undefined;
      if (late || (message.id !== '' && message.id === known)) return;
      known = message.id;
      response.write(`event: ${message.type}\n${message.id ? `id: ${message.id}\n` : ''}data: ${message.text}\n\n`);
    };
    response.on('drain', () => {
      deafBeats = 0;
      if (late) tell(late);
    });
    const deaf = feed.listen(tell);
    let beat: () => void;
    let sure = clock.now();
    /** Who may not look any more: the token was withdrawn or has ended, or the user lost the right. */
    const recheck = async (): Promise<void> => {
      const { status } = await guard(request.headers, 'look');
      if (status === 200) sure = clock.now();
      if (status === 401 || status === 403) end();
    };
    const beats = (): void => {
      beat = clock.timer(
        HEARTBEAT_MS,
        () => {
          // Nobody reads: it would hold its place for ever.
          if (response.writableNeedDrain && ++deafBeats > DEAF_BEATS) return void response.destroy();
          if (clock.now() - sure >= DOUBT_MS) return end();
          if (!response.writableNeedDrain) response.write(': still here\n\n');
          beats();
          // An API server that does not answer is no verdict; the next beat asks again.
          recheck().catch(() => undefined);
        },
        { daemon: true, label: 'page heartbeat' },
      );
    };
    beats();
    const end = (): void => {
      if (!open) return;
      open = false;
      deaf();
      beat();
      streams.delete(end);
      response.end();
    };
    streams.add(end);
    response.once('close', end);
    const first = await feed.current();
    // A write after the end is an error event of the response, and nobody listens to those.
    if (!open) return;
    // Who comes back and has missed nothing learns that at once.
    if (first.id !== '' && first.id === given) response.write('event: same\ndata: {}\n\n');
    else tell(first);
  }

  return {
    handle(request, response) {
      route(request, response).catch((error: unknown) => {
        if (response.headersSent) return void response.destroy();
        const message = maskShapes(error instanceof Error ? error.message : String(error));
        if (error instanceof Refused) return problem(response, 400, message);
        log.warn('Page could not answer', { path: request.url, error: message });
        problem(response, 502, message);
      });
    },
    close() {
      for (const end of [...streams]) end();
    },
  };
}

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' } as const;

function send(
  response: ServerResponse,
  status: number,
  body: string | Buffer,
  headers: Readonly<Record<string, string>>,
): void {
  const length = status === 304 ? {} : { 'content-length': Buffer.byteLength(body) };
  response.writeHead(status, { ...SAFE, 'cache-control': 'no-store', ...length, ...headers });
  response.end(body);
}

const problem = (
  response: ServerResponse,
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): void => send(response, status, JSON.stringify({ message }), { ...JSON_TYPE, ...headers });

const found = (response: ServerResponse, answer: unknown): void =>
  answer === undefined
    ? problem(response, 404, 'there is no such object')
    : send(response, 200, JSON.stringify(answer), JSON_TYPE);

const refOf = ({ searchParams }: URL): PageRef => ({
  kind: searchParams.get('kind') ?? '',
  namespace: searchParams.get('namespace') ?? '',
  name: searchParams.get('name') ?? '',
});

/** What is too much is read to its end all the same: who still sends hears no answer. */
async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    length += (chunk as Buffer).length;
    if (length <= LONGEST_PLAN) chunks.push(chunk as Buffer);
    else if (length > 50 * LONGEST_PLAN) throw new Error('a request without end');
  }
  if (length > LONGEST_PLAN) throw new Refused(`more than ${LONGEST_PLAN / 1e6} MB: use kubectl openstack plan -f`);
  return Buffer.concat(chunks).toString('utf8');
}
