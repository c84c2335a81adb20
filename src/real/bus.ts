import { createHash } from 'node:crypto';
import { refused, rejected, stranger } from '../cloud/faults.ts';
import { type Claim, isHomeOf, isWithin, markOf, readMark } from '../cloud/ownership.ts';
import type { Bus, BusAddress } from '../cloud/ports.ts';
import { settle } from '../cloud/settle.ts';
import type { Http, HttpAnswer } from './http/http.ts';

/** RabbitMQ by its management API. Every change is preceded by a GET that asks whether it is needed. */

interface User {
  password_hash: string;
  hashing_algorithm: string;
  /** A list since 3.9, comma-separated text before. */
  tags: string | string[];
}

interface NamedUser extends User {
  name: string;
}

interface Vhost {
  name: string;
  description?: string;
  tags?: string[];
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

class RealBus implements Bus {
  readonly #at: BusAddress;
  readonly #http: Http;
  readonly #base: string;
  readonly #host: string;
  readonly #authorization: string;
  readonly #place: string;

  constructor(at: BusAddress, http: Http) {
    this.#at = at;
    this.#http = http;
    this.#base = at.url.replace(/\/$/, '');
    const { host } = new URL(this.#base);
    this.#host = host;
    this.#authorization = `Basic ${Buffer.from(`${at.user}:${at.password}`).toString('base64')}`;
    this.#place = `RabbitMQ ${this.#host}`;
  }

  async check() {
    const me = await this.#find<{ tags: string | string[] }>('whoami');
    if (!tagsOf(me?.tags ?? []).includes('administrator')) {
      throw rejected('RabbitMQ', this.#host, `user ${this.#at.user} is no administrator`);
    }
  }

  async ensureVhost(name: string, claim: Claim) {
    const have = await this.#find<Vhost>('vhosts', name);
    const found = { what: 'Virtual host', name, where: this.#place, text: have?.description ?? '' };
    if (have && !(await settle(found, claim, () => this.#opens(claim, name)))) return false;
    const tags = have?.tags && have.tags.length > 0 ? { tags: have.tags.join(',') } : {};
    await this.#write('PUT', ['vhosts', name], { description: markOf(claim.owner), ...tags });
    return true;
  }

  async ensureUser(user: string, password: string, vhost: string, claim: Claim) {
    if ((await this.#find('vhosts', vhost)) === undefined)
      throw rejected('RabbitMQ', this.#host, `vhost ${vhost} does not exist`);
    const mark = markOf(claim.owner);
    const have = await this.#find<User>('users', user);
    if (have) {
      const { proof } = claim;
      const proven = () => proof?.user === user && passwordMatches(have, proof.password);
      await settle({ what: 'User', name: user, where: this.#place, text: markIn(have) }, claim, proven);
    }
    const same = have !== undefined && passwordMatches(have, password) && tagsOf(have.tags).join() === mark;
    if (!same) await this.#write('PUT', ['users', user], { password, tags: mark });
    let changed = !same;
    const all = await this.#permissionsOf(user);
    const isFull = (p: Permission) => [p.configure, p.write, p.read].every(pattern => pattern === '.*');
    if (!all.some(p => p.vhost === vhost && isFull(p))) {
      await this.#write('PUT', ['permissions', vhost, user], { configure: '.*', write: '.*', read: '.*' });
      changed = true;
    }
    for (const elsewhere of all.filter(p => p.vhost !== vhost)) {
      await this.#write('DELETE', ['permissions', elsewhere.vhost, user]);
      changed = true;
    }
    return changed;
  }

  async dropUser(user: string, claim: Claim) {
    const have = await this.#find<User>('users', user);
    if (have === undefined || !isUser({ ...have, name: user }, claim)) return false;
    await this.#write('DELETE', ['users', user]);
    return true;
  }

  async dropVhost(name: string, claim: Claim) {
    const have = await this.#find<Vhost>('vhosts', name);
    if (have === undefined || !(await this.#isVhost(have, claim))) return false;
    await this.#write('DELETE', ['vhosts', name]);
    return true;
  }

  async owned(claim: Claim) {
    const vhosts: string[] = [];
    for (const vhost of await this.#everyOne<Vhost>('vhosts'))
      if (await this.#isVhost(vhost, claim)) vhosts.push(vhost.name);
    const users = await this.#everyOne<NamedUser>('users');
    return { vhosts, users: users.filter(user => isUser(user, claim)).map(user => user.name) };
  }

  async #call(method: 'GET' | 'PUT' | 'DELETE', path: string[], body?: unknown): Promise<HttpAnswer> {
    const url = `${this.#base}/api/${path.map(encodeURIComponent).join('/')}`;
    const options = {
      headers: { authorization: this.#authorization },
      body,
      ...(this.#at.ca !== undefined && { ca: this.#at.ca }),
    };
    const answer = await this.#http('RabbitMQ', method, url, options);
    const said = (answer.body as { reason?: unknown } | undefined)?.reason;
    if (answer.status === 401) {
      if (said === 'Not management user')
        throw rejected('RabbitMQ', this.#host, `user ${this.#at.user} may not use the management API`);
      throw refused('RabbitMQ', this.#host, this.#at.user);
    }
    if (answer.status >= 300 && answer.status !== 404) {
      const why = typeof said === 'string' ? ` (${said.slice(0, 200)})` : '';
      throw rejected('RabbitMQ', this.#host, `${method} /api/${path.join('/')}: status ${answer.status}${why}`);
    }
    return answer;
  }

  async #find<T>(...path: string[]): Promise<T | undefined> {
    const answer = await this.#call('GET', path);
    if (answer.status === 404) return undefined;
    if (typeof (answer.body as { name?: unknown } | undefined | null)?.name !== 'string')
      throw stranger('RabbitMQ', this.#host, `GET /api/${path.join('/')}`);
    return answer.body as T;
  }

  /** `key` is what each row has; undefined where there is no such list. */
  async #list<T>(key: keyof T & string, ...path: string[]): Promise<readonly T[] | undefined> {
    const answer = await this.#call('GET', path);
    if (answer.status === 404) return undefined;
    const isRow = (row: unknown): boolean =>
      typeof (row as Readonly<Record<string, unknown>> | null | undefined)?.[key] === 'string';
    if (!Array.isArray(answer.body) || !answer.body.every(isRow))
      throw stranger('RabbitMQ', this.#host, `GET /api/${path.join('/')}`);
    return answer.body as T[];
  }

  /** These lists are always there, empty or not. */
  async #everyOne<T extends { name: string }>(what: 'vhosts' | 'users'): Promise<readonly T[]> {
    const rows = await this.#list<T>('name', what);
    if (rows === undefined) throw stranger('RabbitMQ', this.#host, `GET /api/${what}`, 'status 404');
    return rows;
  }

  async #write(method: 'PUT' | 'DELETE', path: string[], body?: unknown) {
    const answer = await this.#call(method, path, body);
    // Another client was faster: it exists now.
    if (answer.status === 404 && method === 'PUT')
      throw rejected('RabbitMQ', this.#host, `PUT /api/${path.join('/')}: not found`);
  }

  async #permissionsOf(user: string): Promise<readonly Permission[]> {
    return (await this.#list<Permission>('vhost', 'users', user, 'permissions')) ?? [];
  }

  async #opens({ proof }: Claim, vhost: string): Promise<boolean> {
    const user = proof && (await this.#find<User>('users', proof.user));
    if (!proof || !user || !passwordMatches(user, proof.password)) return false;
    return (await this.#permissionsOf(proof.user)).some(permission => permission.vhost === vhost);
  }

  async #isVhost(vhost: Vhost, claim: Claim): Promise<boolean> {
    const mark = readMark(vhost.description);
    return mark ? isWithin(mark, claim.owner) : isHomeOf(vhost.name, claim) && this.#opens(claim, vhost.name);
  }
}

export const realBus = (at: BusAddress, http: Http): Bus => new RealBus(at, http);

const isUser = (user: NamedUser, { owner, proof }: Claim): boolean => {
  const mark = readMark(markIn(user));
  return mark ? isWithin(mark, owner) : proof?.user === user.name && passwordMatches(user, proof.password);
};

/** A tag gives a user no right unless RabbitMQ knows its name. */
const markIn = (user: Pick<User, 'tags'>): string => tagsOf(user.tags).find(tag => readMark(tag)) ?? '';

const tagsOf = (tags: string | readonly string[]): string[] =>
  (typeof tags === 'string' ? tags.split(',') : [...tags]).filter(t => t !== '');
