import { setTimeout as pause } from 'node:timers/promises';
import type { OpenStack } from './openstack.ts';

/** A cheap question of each API that makes it look into its database. */
const QUESTIONS: Readonly<Record<string, string>> = {
  identity: '/v3/regions',
  image: '/v2/images?limit=1',
  placement: '/resource_providers?name=none',
  network: '/v2.0/networks?limit=1',
  compute: '/flavors?limit=1',
  'block-storage': '/volumes?limit=1',
  orchestration: '/stacks?limit=1',
};
const EVERY_MS = 500;
const PATIENCE_MS = 60_000;
/** How often a client asks Keystone where things are. */
const CATALOG_MS = 5000;

interface Tally {
  asked: number;
  readonly failed: { readonly service: string; readonly at: number; readonly why: string }[];
}

/**
 * A client of all APIs, each asked every half second, which never tries a request again. It learns addresses as clients
 * do: from the catalog, now and then.
 */
export class Poller {
  readonly #end = new AbortController();
  #tally: Tally = { asked: 0, failed: [] };
  #began = performance.now();
  #work: Promise<unknown> = Promise.resolve();

  static async start(login: () => Promise<OpenStack>): Promise<Poller> {
    const poller = new Poller();
    let os = await login();
    const missing = Object.keys(QUESTIONS).filter(service => !os.catalog.has(service));
    if (missing.length > 0) throw new Error(`the catalog has no ${missing.join(', ')}`);
    const follow = async (): Promise<void> => {
      while (await poller.#wait(CATALOG_MS))
        await poller.#count('login', async () => {
          os = await login();
        });
    };
    const ask = async (service: string, path: string): Promise<void> => {
      do await poller.#count(service, () => os.call(service, 'GET', path));
      while (await poller.#wait(EVERY_MS));
    };
    poller.#work = Promise.all([follow(), ...Object.entries(QUESTIONS).map(([service, path]) => ask(service, path))]);
    return poller;
  }

  /** What happened since the last call. */
  turn(): Tally & { readonly seconds: number } {
    const tally = { ...this.#tally, seconds: (performance.now() - this.#began) / 1000 };
    this.#tally = { asked: 0, failed: [] };
    this.#began = performance.now();
    return tally;
  }

  async stop(): Promise<void> {
    this.#end.abort();
    await this.#work;
  }

  async #wait(milliseconds: number): Promise<boolean> {
    await pause(milliseconds, undefined, { signal: this.#end.signal }).catch(() => undefined);
    return !this.#end.signal.aborted;
  }

  async #count(service: string, request: () => Promise<unknown>): Promise<void> {
    const tally = this.#tally;
    const began = this.#began;
    tally.asked++;
    const late = pause(PATIENCE_MS, undefined, { ref: false }).then(() => {
      throw new Error(`no answer within ${PATIENCE_MS / 1000} s`);
    });
    await Promise.race([request(), late]).catch(error => {
      const why = error instanceof Error ? `${error.message} ${error.cause ?? ''}`.slice(0, 160) : String(error);
      tally.failed.push({ service, at: Math.round((performance.now() - began) / 1000), why });
    });
  }
}

/** `1200 requests in 600 s, 3 failed: image 3 (12 to 19 s: 2x connect ECONNREFUSED, 1x status 502)` */
export function told({ asked, failed, seconds }: ReturnType<Poller['turn']>): string {
  const lines = [...new Set(failed.map(({ service }) => service))].map(service => {
    const all = failed.filter(each => each.service === service);
    const times = all.map(({ at }) => at);
    const reasons = [...new Set(all.map(({ why }) => why))].map(
      why => `${all.filter(each => each.why === why).length}x ${why}`,
    );
    return `${service} ${all.length} (${Math.min(...times)} to ${Math.max(...times)} s: ${reasons.join(', ')})`;
  });
  return `${asked} requests in ${seconds.toFixed(0)} s, ${failed.length} failed${lines.length > 0 ? `: ${lines.join('; ')}` : ''}`;
}
