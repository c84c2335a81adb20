import type { Clock } from '../world/clock.ts';
import { digestOf } from '../world/digest.ts';
import { Lru } from '../world/lru.ts';
import { markOf } from './ownership.ts';
import type { Bus, Cloud, Identity, Sql } from './ports.ts';

/**
 * Passes come in bursts while a cloud rolls out, and each asks the same handful of questions, one after the other, with a
 * login for each. What a server is known to have is remembered for this long, unless something speaks against it: somebody's
 * hand is seen a moment later then, which no watch would show either.
 */
const MOMENT = 60_000;

/** Logins of the operator: a handful for each cloud, and a new one for each password that was rotated. */
const MOST_SERVERS = 500;
/** Things that one server was asked for: users, vhosts, rows of a catalog. */
const MOST_ANSWERS = 1000;

interface Answer {
  /** A digest: the arguments hold passwords. */
  readonly asked: string;
  readonly until: number;
  readonly value: unknown;
}

/** What a call is about. Of each thing the last call counts: a different call since then replaces the first. */
const subjectOf = ([first]: readonly unknown[]): unknown =>
  (first as { readonly type?: string } | undefined)?.type ?? first;

type Call<A extends readonly unknown[], T> = (...args: A) => Promise<T>;

/** The same cloud, which asks its servers for nothing that they answered a moment ago. */
export function remembering(cloud: Cloud, clock: Clock): Cloud {
  return over(cloud, clock, new Lru(MOST_SERVERS));
}

type Known = Lru<string, Lru<string, Answer>>;

/** What is remembered of one server; another login is another server, as one made anew has new passwords. */
function memoryOf(at: object, clock: Clock, known: Known) {
  const server = digestOf(at);
  const forget = (): void => void known.delete(server);
  /** Whatever fails may fail because an answer is no longer true. */
  const doubt =
    <A extends readonly unknown[], T>(run: Call<A, T>): Call<A, T> =>
    (...args) =>
      run(...args).catch((error: unknown) => {
        forget();
        throw error;
      });
  /** A question whose answer does not change by being asked; `later` is the answer to who asks again. */
  const ask =
    <A extends readonly unknown[], T>(name: string, run: Call<A, T>, later: (answer: T) => T): Call<A, T> =>
    async (...args) => {
      const answers = known.get(server) ?? new Lru<string, Answer>(MOST_ANSWERS);
      known.set(server, answers);
      const key = JSON.stringify([name, subjectOf(args)]);
      const asked = digestOf(args);
      const found = answers.get(key);
      if (found?.asked === asked && found.until > clock.now()) return found.value as T;
      const value = await doubt(run)(...args);
      // Not the map from before: what was forgotten meanwhile stays so.
      if (known.get(server) === answers) answers.set(key, { asked, until: clock.now() + MOMENT, value: later(value) });
      return value;
    };
  /** To a second one there is nothing left to change. */
  const ensure = <A extends readonly unknown[]>(name: string, run: Call<A, boolean>) => ask(name, run, () => false);
  /** After it, nothing is remembered any more. */
  const drop =
    <A extends readonly unknown[]>(run: Call<A, boolean>): Call<A, boolean> =>
    (...args) =>
      run(...args).finally(forget);
  return { doubt, ask, ensure, drop, forget };
}
type Memory = ReturnType<typeof memoryOf>;

function sqlOf(port: Sql, memory: Memory): Sql {
  const { doubt, ask, ensure, drop, forget } = memory;
  const databases = ask(
    'databases',
    () => port.databases(),
    same => same,
  );
  const makeDatabase = drop((...args: Parameters<Sql['ensureDatabase']>) => port.ensureDatabase(...args));
  return {
    check: doubt(() => port.check()),
    // By the list alone: a database that was reported lost must not be reported as existing when it is created again.
    ensureDatabase: async (name, claim, users) =>
      (await databases())[name]?.mark !== markOf(claim.owner, users) && makeDatabase(name, claim, users),
    ensureUser: ensure('user', (...args) => port.ensureUser(...args)),
    ensureAdmin: ensure('admin', (...args) => port.ensureAdmin(...args)),
    ensureCertificate: doubt((...args) => port.ensureCertificate(...args)),
    // Never from memory: a restart of the server may have changed it.
    ensureSecureTransport: doubt((...args) => port.ensureSecureTransport(...args)),
    dropUser: drop((...args) => port.dropUser(...args)),
    dropDatabase: drop((...args) => port.dropDatabase(...args)),
    owned: doubt((...args) => port.owned(...args)),
    column: doubt((...args) => port.column(...args)),
    databases: now => {
      if (now) forget();
      return databases();
    },
  };
}

function busOf(port: Bus, memory: Memory): Bus {
  const { doubt, ensure, drop } = memory;
  return {
    check: doubt(() => port.check()),
    ensureVhost: ensure('vhost', (...args) => port.ensureVhost(...args)),
    ensureUser: ensure('user', (...args) => port.ensureUser(...args)),
    dropUser: drop((...args) => port.dropUser(...args)),
    dropVhost: drop((...args) => port.dropVhost(...args)),
    owned: doubt((...args) => port.owned(...args)),
  };
}

function identityOf(port: Identity, memory: Memory): Identity {
  const { doubt, ensure, drop } = memory;
  return {
    check: doubt(() => port.check()),
    get: doubt((...args) => port.get(...args)),
    post: doubt((...args) => port.post(...args)),
    ensureProject: ensure('project', (...args) => port.ensureProject(...args)),
    ensureUser: ensure('user', (...args) => port.ensureUser(...args)),
    ensureRole: ensure('role', (...args) => port.ensureRole(...args)),
    ensureDomain: ensure('domain', (...args) => port.ensureDomain(...args)),
    ensureService: ensure('service', (...args) => port.ensureService(...args)),
    dropUser: drop((...args) => port.dropUser(...args)),
    dropDomain: drop((...args) => port.dropDomain(...args)),
    dropService: drop((...args) => port.dropService(...args)),
  };
}

/** What each pass learns, all of them know. */
function over(cloud: Cloud, clock: Clock, known: Known): Cloud {
  const memory = (at: object): Memory => memoryOf(at, clock, known);
  const inner = cloud.during;
  return {
    ...cloud,
    sql: at => sqlOf(cloud.sql(at), memory(at)),
    bus: at => busOf(cloud.bus(at), memory(at)),
    identity: at => identityOf(cloud.identity(at), memory(at)),
    ...(inner && { during: term => over(inner(term), clock, known) }),
  };
}
