import { computeHost } from '../../../api/nova/host.ts';
import type { Call, Where } from '../../cloud/calls.ts';
import { type Claim, isWithin, markOf, type Owner } from '../../cloud/ownership.ts';
import type { Bus, Cloud, Identity, Sql } from '../../cloud/ports.ts';
import type { AnyObject } from '../../kube/object.ts';

/** One change outside of Kubernetes: `sql mariadb.openstack.svc:3306 ensureDatabase glance`. */
export interface Effect {
  readonly port: 'sql' | 'bus' | 'identity';
  readonly at: string;
  readonly method: string;
  readonly what: string;
}

export interface Believing {
  readonly cloud: Cloud;
  /** What rows make outside of Kubernetes, the last desired state of each thing, in the order in which they first asked. */
  calls(): readonly Call[];
  /** What was asked for and had not been asked for before, since the last call of `forget`. */
  effects(): readonly Effect[];
  /** From here on what was asked for so far counts as there. */
  forget(): void;
}

/**
 * Backends that record every call and report success: for a plan, which assumes that servers work. What
 * they hold at the beginning is read from the Secrets of the cluster.
 */
class BelievingAnswers implements Believing {
  readonly #objects: () => readonly AnyObject[];
  #known: Set<string> | undefined;
  readonly #done = new Set<string>();
  #effects: Effect[] = [];
  readonly #calls = new Map<string, Call>();
  readonly cloud: Cloud;

  constructor(objects: () => readonly AnyObject[]) {
    this.#objects = objects;
    this.cloud = this.#cloudOf('');
  }

  calls() {
    return [...this.#calls.values()];
  }

  effects() {
    return this.#effects;
  }

  forget() {
    this.#effects = [];
  }

  /** Who asked for a database last; a plan assumes that what its Secrets open is the cloud's own. */
  #markFor(name: string): string | undefined {
    const call = [...this.#calls.values()].find(each => each.method === 'ensureDatabase' && each.args[0] === name);
    const [, claim, users] = (call?.args ?? []) as Partial<Parameters<Sql['ensureDatabase']>>;
    return claim && markOf(claim.owner, users);
  }

  #ownedBy(who: Owner | Claim, port: Where['port'], at: string) {
    const owner = 'owner' in who ? who.owner : who;
    const made = (method: string): string[] =>
      [...this.#calls.values()]
        .filter(call => call.port === port && placeOf(call) === at && call.method === method)
        .filter(call => call.args.some(arg => isWithin((arg as Partial<Claim> | undefined)?.owner, owner)))
        .map(call => String(call.args[0]));
    return { databases: made('ensureDatabase'), vhosts: made('ensureVhost'), users: made('ensureUser') };
  }

  async #answer(where: Where, by: string, method: string, args: readonly unknown[]): Promise<unknown> {
    const { port } = where;
    const at = placeOf(where);
    // Not before: Secrets that are kept come after the world, and before anybody asks.
    this.#known ??= new Set(databasesIn(this.#objects()));
    const [first] = args;
    const what = typeof first === 'string' ? first : String((first as { name?: string } | undefined)?.name);
    if (/^(ensure|post)/.test(method)) {
      const thing = method === 'post' ? JSON.stringify(args) : what;
      this.#calls.set(`${by} ${port} ${at} ${method} ${thing}`, { ...where, by, method, args });
    }
    if (method === 'databases')
      return Object.fromEntries([...this.#known].map(name => [name, { mark: this.#markFor(name), empty: false }]));
    if (method === 'owned') return this.#ownedBy(first as Owner | Claim, port, at);
    if (method === 'column') return [];
    if (method === 'get') return { services: processes(this.#objects()) };
    if (!/^(ensure|drop)/.test(method)) return undefined;
    if (method === 'ensureDatabase' && this.#known.has(what)) return false;
    if (method === 'ensureDatabase') this.#known.add(what);
    if (method === 'dropDatabase') this.#known.delete(what);
    const key = `${port} ${at} ${method} ${what}`;
    if (this.#done.has(key)) return false;
    this.#done.add(key);
    this.#done.delete(key.replace(/ (ensure|drop)/, (_, verb) => (verb === 'drop' ? ' ensure' : ' drop')));
    this.#effects.push({ port, at, method, what });
    return true;
  }

  // A Proxy, so that a port may grow a method without anybody having to teach it to this one.
  #port<T extends object>(where: Where, by: string): T {
    return new Proxy({} as T, {
      get: (_, method) =>
        typeof method !== 'string' || method === 'then'
          ? undefined
          : (...args: unknown[]) => this.#answer(where, by, method, args),
    });
  }

  readonly #cloudOf = (by: string): Cloud => ({
    sql: address => this.#port<Sql>({ port: 'sql', address }, by),
    bus: address => this.#port<Bus>({ port: 'bus', address }, by),
    identity: address => this.#port<Identity>({ port: 'identity', address }, by),
    page: async () => undefined,
    asked: this.#cloudOf,
  });
}

export const believing = (objects: () => readonly AnyObject[]): Believing => new BelievingAnswers(objects);

const placeOf = (where: Where): string =>
  where.port === 'sql' ? `${where.address.host}:${where.address.port}` : where.address.url;

const decoded = (secret: AnyObject): string[] =>
  Object.values((secret.data ?? {}) as Record<string, string>).map(value =>
    Buffer.from(value, 'base64').toString('utf8'),
  );

/** Every database that a config file or a connection Secret opens. */
function databasesIn(objects: readonly AnyObject[]): string[] {
  return objects
    .filter(object => object.kind === 'Secret')
    .flatMap(secret => {
      const own = (secret.data as Record<string, string> | undefined)?.database;
      const urls = decoded(secret).flatMap(text =>
        [...text.matchAll(/mysql\+\w+:\/\/[^\s/]+\/([\w-]+)/g)].map(m => m[1]!),
      );
      return own === undefined ? urls : [...urls, Buffer.from(own, 'base64').toString('utf8')];
    });
}

/** Nova's processes report to their database under the names of their pods, or of what these run on. */
const processes = (objects: readonly AnyObject[]): object[] =>
  objects
    .filter(object => object.kind === 'Pod')
    .flatMap(pod => {
      const { name } = pod.metadata;
      const process = /-(scheduler|conductor)-\d+$/.exec(name)?.[1] ?? 'compute';
      const host = process === 'compute' ? computeHost(pod) : name;
      return host === undefined ? [] : [{ binary: `nova-${process}`, host, state: 'up' }];
    });
