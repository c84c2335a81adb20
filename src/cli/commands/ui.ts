import { realClock } from '../../real/clock.ts';
import { pageAssets } from '../../server/page/assets.ts';
import { loopbackGuard } from '../../server/page/guard.ts';
import { createPage } from '../../server/page/page.ts';
import { createPageServer, type PageServer } from '../../server/page/serve.ts';
import { sleep } from '../../world/clock.ts';
import { numberOf, portOf, UsageError } from '../input/yaml.ts';
import { openSource, type Source } from '../source/source.ts';
import { answersOf } from './answers.ts';
import type { Answer, Invocation } from './command.ts';

export async function ui(cx: Invocation): Promise<Answer> {
  const port = portOf(cx.flags.port, '--port');
  const seconds = cx.flags.for === undefined ? undefined : numberOf(cx.flags.for, '--for');
  const source = await openSource(cx.flags);
  // What is wrong with the source is reported here and not in the browser.
  const { where } = await source.read('look');
  const server = await servePage(source, port);
  const { url } = server;
  cx.say(`${url}\nThe page shows ${where}, to this machine only. It changes nothing. Ctrl-C ends it.\n`);
  const stop = new AbortController();
  const end = (): void => stop.abort();
  process.once('SIGINT', end);
  process.once('SIGTERM', end);
  await sleep(realClock, (seconds ?? FOREVER_S) * 1000, stop.signal).catch(() => undefined);
  process.off('SIGINT', end);
  process.off('SIGTERM', end);
  await server.stop();
  return { data: { url, where }, text: () => 'The page is closed.', code: 0 };
}

const FOREVER_S = 10 * 365 * 86_400;

/** On 127.0.0.1 and nowhere else. */
export async function servePage(source: Source, port: number, intervalMs?: number): Promise<PageServer> {
  const page = createPage({
    answers: answersOf(source, realClock),
    assets: await pageAssets(),
    guard: loopbackGuard,
    clock: realClock,
    ...(intervalMs !== undefined && { intervalMs }),
  });
  const server = createPageServer({ page, port, host: '127.0.0.1' });
  await server.start().catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`port ${port} of 127.0.0.1 can't be taken (${error.code}): name another one with --port`);
  });
  return server;
}
