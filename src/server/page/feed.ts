import { createHash } from 'node:crypto';
import type { Clock } from '../../world/clock.ts';
import { type Log, silent } from '../../world/log.ts';
import { maskShapes } from '../../world/mask/shapes.ts';
import type { PageAnswers, PageOverview } from './wire.ts';

/** What listeners get: the newest overview, or why there is none at the moment. */
export type FeedMessage =
  | { readonly type: 'overview'; readonly id: string; readonly text: string }
  | { readonly type: 'trouble'; readonly id: ''; readonly text: string };

export interface Feed {
  /** The newest; looks by itself when the last look is older than an interval. */
  current(): Promise<FeedMessage>;
  /** From now on, each message that differs from the one before. Nobody listens, nobody looks. */
  listen(listener: (message: FeedMessage) => void): () => void;
}

export interface FeedOptions {
  readonly answers: Pick<PageAnswers, 'overview'>;
  readonly clock: Clock;
  readonly log?: Log;
  /** Between two looks. */
  readonly intervalMs?: number;
}

/** People see no difference below this, and a look at a large cluster takes a good part of it. */
const INTERVAL_MS = 1000;
/** A look that takes long is made less often: at most this part of the time is spent looking. */
const SHARE = 0.25;

/** Polls while a page listens, and sends only what changed. */
export function createFeed({ answers, clock, log = silent, intervalMs = INTERVAL_MS }: FeedOptions): Feed {
  const listeners = new Set<(message: FeedMessage) => void>();
  let last: { readonly message: FeedMessage; readonly at: number; readonly took: number } | undefined;
  let looking: Promise<FeedMessage> | undefined;
  let timer: (() => void) | undefined;

  const pause = (): number => Math.max(intervalMs, (last?.took ?? 0) * (1 / SHARE - 1));
  const look = (): Promise<FeedMessage> => {
    looking ??= (async () => {
      const began = clock.now();
      let message: FeedMessage;
      try {
        message = overviewMessage(await answers.overview());
      } catch (error) {
        const text = maskShapes(error instanceof Error ? error.message : String(error));
        log.warn('Page could not look at the cluster', { error: text });
        message = { type: 'trouble', id: '', text: JSON.stringify({ message: text }) };
      }
      const before = last?.message;
      last = { message, at: clock.now(), took: clock.now() - began };
      if (
        before?.type !== message.type ||
        before.id !== message.id ||
        (message.id === '' && before.text !== message.text)
      )
        for (const listener of listeners) listener(message);
      return message;
    })().finally(() => {
      looking = undefined;
    });
    return looking;
  };
  const again = (): void => {
    timer = clock.timer(
      pause(),
      () => {
        timer = undefined;
        void look().finally(() => {
          if (listeners.size > 0 && timer === undefined) again();
        });
      },
      { daemon: true, label: 'page looks' },
    );
  };
  return {
    current: () => (last && clock.now() - last.at < pause() ? Promise.resolve(last.message) : look()),
    listen(listener) {
      listeners.add(listener);
      if (timer === undefined) again();
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        timer?.();
        timer = undefined;
      };
    },
  };
}

/** The time of the look is no news: it is left out of what the id is made of, and so are spans that end at that time. */
function overviewMessage(overview: PageOverview): FeedMessage {
  const { now, ...rest } = overview;
  const still = JSON.stringify(rest, (key, value: unknown) => (key === 'to' && value === now ? null : value));
  const id = createHash('sha256').update(still).digest('base64url').slice(0, 16);
  return { type: 'overview', id, text: JSON.stringify(overview) };
}
