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
  /** What was asked for and had not been asked for before, since the last call of `forget`. */
  effects(): readonly Effect[];
  /** From here on what was asked for so far counts as there. */
  forget(): void;
}

/**
 * Backends that hold whatever they are told and answer every proof: for a plan, which assumes that servers work. What
 * they hold at the beginning is read from the Secrets of the cluster.
 */
export function believing(objects: () => readonly AnyObject[]): Believing {
  const databases = new Set(databasesIn(objects()));
  const done = new Set<string>();
  let effects: Effect[] = [];
  const answer = async (
    port: Effect['port'],
    at: string,
    method: string,
    args: readonly unknown[],
  ): Promise<unknown> => {
    if (method === 'databases') return [...databases];
    if (method === 'get') return { services: processes(objects()) };
    if (!/^(ensure|drop)/.test(method)) return undefined;
    const [first] = args;
    const what = typeof first === 'string' ? first : String((first as { name?: string }).name);
    if (method === 'ensureDatabase') databases.add(what);
    if (method === 'dropDatabase') databases.delete(what);
    const key = `${port} ${at} ${method} ${what}`;
    if (done.has(key)) return false;
    done.add(key);
    done.delete(key.replace(/ (ensure|drop)/, (_, verb) => (verb === 'drop' ? ' ensure' : ' drop')));
    effects.push({ port, at, method, what });
    return true;
  };
  // A Proxy, so that a port may grow a method without anybody having to teach it to this one.
  const port = <T extends object>(name: Effect['port'], at: string): T =>
    new Proxy({} as T, {
      get: (_, method) =>
        typeof method !== 'string' || method === 'then'
          ? undefined
          : (...args: unknown[]) => answer(name, at, method, args),
    });
  return {
    cloud: {
      sql: at => port<Sql>('sql', `${at.host}:${at.port}`),
      bus: at => port<Bus>('bus', at.url),
      identity: at => port<Identity>('identity', at.url),
      page: async () => undefined,
    },
    effects: () => effects,
    forget: () => {
      effects = [];
    },
  };
}

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

/** Nova's processes report to their database under the names of their pods. */
const processes = (objects: readonly AnyObject[]): object[] =>
  objects
    .filter(object => object.kind === 'Pod')
    .flatMap(({ metadata: { name } }) => {
      const process = /-(scheduler|conductor)-\d+$/.exec(name)?.[1];
      return process ? [{ binary: `nova-${process}`, host: name, state: 'up' }] : [];
    });
