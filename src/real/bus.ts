import { createHash } from 'node:crypto';
import { refused, rejected } from '../cloud/faults.ts';
import type { Bus, BusAddress } from '../cloud/ports.ts';
import type { Http, HttpAnswer } from './http.ts';

/** RabbitMQ by its management API. Every change is preceded by a GET that asks whether it is needed. */

interface User {
  password_hash: string;
  hashing_algorithm: string;
  /** A list since 3.9, comma-separated text before. */
  tags: string | string[];
}

interface Permission {
  vhost: string;
  configure: string;
  write: string;
  read: string;
}

const HASHES: Readonly<Record<string, string>> = {
  rabbit_password_hashing_sha256: 'sha256',
  rabbit_password_hashing_sha512: 'sha512',
};

/** RabbitMQ shows an administrator base64(salt + hash(salt + password)), salt being four bytes: no login needed. */
export function passwordMatches(user: Pick<User, 'password_hash' | 'hashing_algorithm'>, password: string): boolean {
  const algorithm = HASHES[user.hashing_algorithm];
  if (algorithm === undefined) return false;
  const stored = new Uint8Array(Buffer.from(user.password_hash, 'base64'));
  const digest = createHash(algorithm).update(stored.subarray(0, 4)).update(password, 'utf8').digest('hex');
  return digest === Buffer.from(stored.subarray(4)).toString('hex');
}

export function realBus(at: BusAddress, http: Http): Bus {
  const base = at.url.replace(/\/$/, '');
  const { host } = new URL(base);
  const authorization = `Basic ${Buffer.from(`${at.user}:${at.password}`).toString('base64')}`;
  const call = async (method: 'GET' | 'PUT' | 'DELETE', path: string[], body?: unknown): Promise<HttpAnswer> => {
    const url = `${base}/api/${path.map(encodeURIComponent).join('/')}`;
    const options = { headers: { authorization }, body, ...(at.ca !== undefined && { ca: at.ca }) };
    const answer = await http('RabbitMQ', method, url, options);
    const said = (answer.body as { reason?: unknown } | undefined)?.reason;
    if (answer.status === 401) {
      if (said === 'Not management user')
        throw rejected('RabbitMQ', host, `user ${at.user} may not use the management API`);
      throw refused('RabbitMQ', host, at.user);
    }
    if (answer.status >= 300 && answer.status !== 404) {
      const why = typeof said === 'string' ? ` (${said.slice(0, 200)})` : '';
      throw rejected('RabbitMQ', host, `${method} /api/${path.join('/')}: status ${answer.status}${why}`);
    }
    return answer;
  };
  const find = async <T>(...path: string[]): Promise<T | undefined> => {
    const answer = await call('GET', path);
    return answer.status === 404 ? undefined : (answer.body as T);
  };
  const write = async (method: 'PUT' | 'DELETE', path: string[], body?: unknown) => {
    const answer = await call(method, path, body);
    // Somebody else was faster: the wish is fulfilled.
    if (answer.status === 404 && method === 'PUT')
      throw rejected('RabbitMQ', host, `PUT /api/${path.join('/')}: not found`);
  };
  const drop = async (...path: string[]): Promise<boolean> => {
    if ((await find(...path)) === undefined) return false;
    await write('DELETE', path);
    return true;
  };

  return {
    async check() {
      const me = await find<{ tags: string | string[] }>('whoami');
      if (!tagsOf(me?.tags ?? []).includes('administrator')) {
        throw rejected('RabbitMQ', host, `user ${at.user} is no administrator`);
      }
    },
    async ensureVhost(name) {
      if (await find('vhosts', name)) return false;
      await write('PUT', ['vhosts', name], {});
      return true;
    },
    async ensureUser(user, password, vhost) {
      if ((await find('vhosts', vhost)) === undefined)
        throw rejected('RabbitMQ', host, `vhost ${vhost} does not exist`);
      const have = await find<User>('users', user);
      const same = have !== undefined && passwordMatches(have, password) && tagsOf(have.tags).length === 0;
      if (!same) await write('PUT', ['users', user], { password, tags: '' });
      let changed = !same;
      const all = (await find<Permission[]>('users', user, 'permissions')) ?? [];
      const isFull = (p: Permission) => [p.configure, p.write, p.read].every(pattern => pattern === '.*');
      if (!all.some(p => p.vhost === vhost && isFull(p))) {
        await write('PUT', ['permissions', vhost, user], { configure: '.*', write: '.*', read: '.*' });
        changed = true;
      }
      for (const elsewhere of all.filter(p => p.vhost !== vhost)) {
        await write('DELETE', ['permissions', elsewhere.vhost, user]);
        changed = true;
      }
      return changed;
    },
    dropUser: user => drop('users', user),
    dropVhost: name => drop('vhosts', name),
  };
}

const tagsOf = (tags: string | readonly string[]): string[] =>
  (typeof tags === 'string' ? tags.split(',') : [...tags]).filter(t => t !== '');
