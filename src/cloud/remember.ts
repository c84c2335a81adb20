import type { Clock } from '../world/world.ts';
import type { Cloud, Identity } from './ports.ts';

/**
 * Passes come in bursts while a cloud rolls out, and each asks Keystone the same handful of questions, one after the other.
 * What it was told it had is believed for this long, unless something speaks against it: somebody's hand is seen a moment
 * later then, which no watch would show either.
 */
const MOMENT = 10_000;

/** The same cloud, which asks Keystone for nothing that it answered a moment ago. */
export function remembering(cloud: Cloud, clock: Clock): Cloud {
  /** By server and question: until when the answer is believed. */
  const known = new Map<string, Map<string, number>>();

  const identity: Cloud['identity'] = at => {
    const port = cloud.identity(at);
    const server = at.url;
    const forget = (): void => void known.delete(server);
    /** A question whose answer does not change by being asked. */
    const ask =
      <A extends readonly unknown[]>(name: string, run: (...args: A) => Promise<boolean>) =>
      async (...args: A): Promise<boolean> => {
        const answers = known.get(server) ?? new Map<string, number>();
        known.set(server, answers);
        const key = JSON.stringify([name, at.region, args]);
        for (const [old, until] of answers) if (until <= clock.now()) answers.delete(old);
        if (answers.has(key)) return false;
        const changed = await doubting(run)(...args);
        // Not the map from before: what was forgotten meanwhile stays so.
        if (known.get(server) === answers) answers.set(key, clock.now() + MOMENT);
        return changed;
      };
    /** Whatever fails may fail because an answer is no longer true. */
    const doubting =
      <A extends readonly unknown[], T>(run: (...args: A) => Promise<T>) =>
      (...args: A): Promise<T> =>
        run(...args).catch((error: unknown) => {
          forget();
          throw error;
        });
    const drop =
      <A extends readonly unknown[]>(run: (...args: A) => Promise<boolean>) =>
      (...args: A): Promise<boolean> =>
        run(...args).finally(forget);
    const told: Identity = {
      check: doubting(() => port.check()),
      get: doubting((...args) => port.get(...args)),
      post: doubting((...args) => port.post(...args)),
      ensureProject: ask('project', (...args) => port.ensureProject(...args)),
      ensureUser: ask('user', (...args) => port.ensureUser(...args)),
      ensureRole: ask('role', (...args) => port.ensureRole(...args)),
      ensureDomain: ask('domain', (...args) => port.ensureDomain(...args)),
      ensureService: ask('service', (...args) => port.ensureService(...args)),
      dropUser: drop((...args) => port.dropUser(...args)),
      dropDomain: drop((...args) => port.dropDomain(...args)),
      dropService: drop((...args) => port.dropService(...args)),
    };
    return told;
  };
  return { ...cloud, identity };
}
