import type { PageOverview } from '../src/server/page/wire.ts';

/** How the page hears of changes. `recorded`: there is nothing to hear, the objects are from a file. */
export type Connection = 'connecting' | 'live' | 'polling' | 'lost' | 'recorded';

export interface FeedHandlers {
  overview(overview: PageOverview): void;
  /** The server runs and can't reach its cluster. */
  trouble(message: string): void;
  connection(state: Connection): void;
}

/** What of the browser it uses; tests bring their own. */
export interface FeedWorld {
  readonly EventSource?: new (url: string) => EventSourceLike;
  fetch(url: string, init: { headers: Record<string, string> }): Promise<ResponseLike>;
  timer(ms: number, run: () => void): () => void;
}
interface EventSourceLike {
  readonly readyState: number;
  addEventListener(type: string, listener: (event: { data?: unknown }) => void): void;
  close(): void;
}
interface ResponseLike {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  json(): Promise<unknown>;
}

const POLL_MS = 2000;
/** A stream that could not be opened this many times in a row is not wanted by something in between: ask instead. */
const TRIES = 3;
/** After that many answers a stream is tried again: what was in between may have gone. */
const ASKED = 15;
/** EventSource gives up for good (readyState CLOSED) on an answer that is no stream; then somebody must try again. */
const CLOSED = 2;
const AGAIN_MS = 1000;

/** Listens where the browser can, asks again and again where it can't, and never gives up. Returns the end of it. */
export function follow(handlers: FeedHandlers, world: FeedWorld): () => void {
  let stopped = false;
  let source: EventSourceLike | undefined;
  let cancel: (() => void) | undefined;
  let failures = 0;
  let etag = '';
  /** Answers since the last try to listen. */
  let answers = 0;
  /** The server itself did not answer. */
  let away = false;

  const later = (ms: number, run: () => void): void => {
    cancel?.();
    cancel = world.timer(ms, () => {
      if (!stopped) run();
    });
  };
  const heard = (overview: PageOverview, how: Connection): void => {
    handlers.connection(overview.live ? how : 'recorded');
    handlers.overview(overview);
  };

  function listen(): void {
    if (!world.EventSource) return void poll();
    const mine = new world.EventSource('api/stream');
    source = mine;
    const alive = (): void => {
      failures = 0;
      cancel?.();
      handlers.connection('live');
    };
    mine.addEventListener('same', alive);
    mine.addEventListener('overview', event => {
      alive();
      heard(JSON.parse(String(event.data)) as PageOverview, 'live');
    });
    mine.addEventListener('trouble', event => {
      alive();
      handlers.trouble((JSON.parse(String(event.data)) as { message: string }).message);
    });
    mine.addEventListener('error', () => {
      if (stopped || source !== mine) return;
      failures++;
      handlers.connection('lost');
      if (failures > TRIES) {
        mine.close();
        source = undefined;
        return void poll();
      }
      if (mine.readyState !== CLOSED) return;
      mine.close();
      later(AGAIN_MS, listen);
    });
  }

  async function poll(): Promise<void> {
    try {
      const answer = await world.fetch('api/overview', { headers: etag ? { 'if-none-match': etag } : {} });
      if (stopped) return;
      if (answer.status === 200) {
        etag = answer.headers.get('etag') ?? '';
        heard((await answer.json()) as PageOverview, 'polling');
      } else if (answer.status === 304) handlers.connection('polling');
      else {
        const { message } = (await answer.json().catch(() => ({}))) as { message?: string };
        handlers.connection('polling');
        handlers.trouble(message ?? `the server answered ${answer.status}`);
      }
      // A server that was away takes streams again; one that answers and gives no stream is asked for a while.
      if (world.EventSource && (away || ++answers >= ASKED)) {
        away = false;
        answers = 0;
        failures = 0;
        return listen();
      }
    } catch {
      away = true;
      if (!stopped) handlers.connection('lost');
    }
    later(POLL_MS, () => void poll());
  }

  listen();
  return () => {
    stopped = true;
    cancel?.();
    source?.close();
  };
}
