import { refused, rejected, stranger } from '../cloud/faults.ts';
import { type Claim, isWithin, markOf, type Owner, readMark } from '../cloud/ownership.ts';
import type { CatalogEntry, Changed, Identity, IdentityAddress } from '../cloud/ports.ts';
import { settle } from '../cloud/settle.ts';
import { digestOf } from '../world/digest.ts';
import { Lru } from '../world/lru.ts';
import type { Clock } from '../world/world.ts';
import type { Http, HttpAnswer } from './http.ts';

/**
 * Keystone v3. Finds by natural key (name, type, interface and region) before it makes anything.
 * What it makes carries two extra attributes that Keystone keeps and shows: `managed_by`, and `owner`, the mark of the
 * object it was made for. Only what carries the mark of an object is changed or deleted for it.
 */
export const MARK = { managed_by: 'openstack-operator' };
const marked = (owner: Owner) => ({ ...MARK, openstack_operator_owner: markOf(owner) });
const markIn = (row: Row): string => row.openstack_operator_owner ?? '';
/** Made by this operator before rows carried their owner. */
const isManaged = (row: Row): boolean => row.managed_by === MARK.managed_by;

/** `keystone-manage bootstrap` gives the Default domain this id. */
const DOMAIN = 'default';
const PROJECT = '%(project_id)s';
/** A token is renewed this long before its end, so that none ends under way. */
const MARGIN = 300_000;

interface Row {
  id: string;
  name?: string;
  enabled?: boolean;
  managed_by?: string;
  openstack_operator_owner?: string;
}
interface ServiceRow extends Row {
  type: string;
  description?: string;
}
interface EndpointRow extends Row {
  interface: 'public' | 'internal' | 'admin';
  region_id: string | null;
  url: string;
}

const kindIn = ({ object }: Owner): string | undefined => object.split('/')[0];

interface Token {
  readonly id: string;
  readonly project: string;
  /** On the monotonic clock. */
  readonly until: number;
}

/** Users of one process: each service of each cloud, and its admin. */
const MOST_TOKENS = 1000;

/** By a digest of address, user and password. Shared by every Identity of a process: a token per call would be most of Keystone's work. */
export type Tokens = Lru<string, Token>;
export const createTokens = (): Tokens => new Lru(MOST_TOKENS);

const isRecord = (body: unknown): boolean => typeof body === 'object' && body !== null && !Array.isArray(body);
const isRow = <T extends Row>(row: T | undefined | null): row is T => typeof row?.id === 'string';

interface TokenBody {
  readonly issued_at: string;
  readonly expires_at: string;
  readonly project?: { readonly id: string };
}

const tokenIn = (body: unknown): TokenBody | undefined => {
  const { token } = (body ?? {}) as { token?: TokenBody };
  return typeof token === 'object' && token !== null ? token : undefined;
};

/** What an API says of its refusal: each has its own envelope around `message` or, in a list, `detail`. */
function said(body: unknown): string {
  const [inner] = typeof body === 'object' && body !== null ? Object.values(body).flat() : [];
  const { message, detail } = (inner ?? {}) as { message?: unknown; detail?: unknown };
  const text = message ?? detail;
  return typeof text === 'string' ? ` (${text.trim().slice(0, 200)})` : '';
}

interface Who {
  readonly user: string;
  readonly password: string;
  /** Scope; none where only the password matters. */
  readonly project: string | undefined;
  /** Id of the domain that the user is in. */
  readonly home: string;
}

export function realIdentity(at: IdentityAddress, http: Http, clock: Clock, tokens: Tokens): Identity {
  const base = `${at.url.replace(/\/$/, '').replace(/\/v3$/, '')}/v3`;
  const { host } = new URL(base);
  const ca = at.ca === undefined ? {} : { ca: at.ca };
  const self: Who = { user: at.user, password: at.password, project: at.project, home: DOMAIN };
  const keyOf = ({ user, password, project, home }: Who): string => digestOf(base, user, password, project, home);

  /** undefined when the password is wrong. */
  async function authenticate({ user, password, project, home }: Who): Promise<HttpAnswer | undefined> {
    const domain = { id: home };
    const identity = { methods: ['password'], password: { user: { name: user, domain, password } } };
    const scope = project === undefined ? 'unscoped' : { project: { name: project, domain } };
    const answer = await http('Keystone', 'POST', `${base}/auth/tokens`, {
      body: { auth: { identity, scope } },
      ...ca,
    });
    if (answer.status === 401) return undefined;
    if (answer.status !== 201) throw failure('POST /v3/auth/tokens', answer);
    return answer;
  }

  /** A token by password, kept for the next time; undefined when the password is wrong. */
  async function issue(who: Who): Promise<string | undefined> {
    const answer = await authenticate(who);
    if (answer === undefined) return undefined;
    const id = answer.headers['x-subject-token'];
    const token = tokenIn(answer.body);
    const lifetime = Date.parse(token?.expires_at ?? '') - Date.parse(token?.issued_at ?? '');
    // Taken for a wrong password, it would be set anew.
    if (typeof id !== 'string' || token === undefined || Number.isNaN(lifetime))
      throw stranger('Keystone', host, 'POST /v3/auth/tokens');
    tokens.set(keyOf(who), { id, project: token.project?.id ?? '', until: clock.now() + lifetime - MARGIN });
    return id;
  }

  async function ownToken(): Promise<string> {
    const id = await issue(self);
    if (id === undefined) throw refused('Keystone', host, at.user);
    return id;
  }

  function held(who: Who): string | undefined {
    const token = tokens.get(keyOf(who));
    return token && clock.now() < token.until ? token.id : undefined;
  }

  /**
   * Whether this password opens the door. Keystone hashes slowly on purpose, a third of a second of its processor each
   * time, and every pass asks: so a token that the password once gave is shown instead. Keystone forgets it when the
   * password changes, the user goes, or the keys are lost.
   */
  async function opens(who: Who): Promise<boolean> {
    const id = held(who);
    if (id !== undefined) {
      const headers = { 'x-auth-token': id, 'x-subject-token': id };
      const { status, body } = await http('Keystone', 'GET', `${base}/auth/tokens?nocatalog`, { headers, ...ca });
      if (status === 200 && tokenIn(body) === undefined) throw stranger('Keystone', host, 'GET /v3/auth/tokens');
      if (status === 200) return true;
      tokens.delete(keyOf(who));
    }
    return (await issue(who)) !== undefined;
  }

  /** With our token; a token that was revoked meanwhile is replaced once. */
  async function send(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    url: string,
    body?: unknown,
  ): Promise<HttpAnswer> {
    const what = url.startsWith(base) ? 'Keystone' : 'The service';
    const ask = (id: string) => http(what, method, url, { headers: { 'x-auth-token': id }, body, ...ca });
    const first = await ask(held(self) ?? (await ownToken()));
    if (first.status !== 401) return first;
    return ask(await ownToken());
  }

  function failure(what: string, answer: HttpAnswer): Error {
    if (answer.status >= 500) {
      const cure = 'look at the log of its pods, its database or its fernet keys may be missing';
      return rejected('Keystone', host, `${what}: status ${answer.status}; ${cure}`);
    }
    return rejected('Keystone', host, `${what}: status ${answer.status}${said(answer.body)}`);
  }

  async function keystone<T>(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body?: unknown,
  ): Promise<T | undefined> {
    const answer = await send(method, `${base}${path}`, body);
    if (answer.status === 404 && (method === 'GET' || method === 'DELETE')) return undefined;
    const what = `${method} /v3${path.split('?')[0]}`;
    if (answer.status >= 300) throw failure(what, answer);
    // Only what was deleted, and what is set by its path alone, is answered without a body.
    if (method !== 'DELETE' && method !== 'PUT' && !isRecord(answer.body)) throw stranger('Keystone', host, what);
    return answer.body as T;
  }

  const list = async <T extends Row>(collection: string, filter: Record<string, string>): Promise<T[]> => {
    const found = await keystone<Record<string, T[]>>('GET', `/${collection}?${new URLSearchParams(filter)}`);
    const rows = found?.[collection];
    // A collection is always there, empty or not: a 404, or anything but a list, is somebody else's answer.
    if (!Array.isArray(rows) || !rows.every(isRow)) throw stranger('Keystone', host, `GET /v3/${collection}`);
    return rows;
  };
  /** Projects, roles and regions are shared by all services and never deleted: they carry no owner. */
  const make = async <T extends Row>(collection: string, one: string, row: object): Promise<T> => {
    const made = await keystone<Record<string, T>>('POST', `/${collection}`, { [one]: { ...row, ...MARK } });
    const fresh = made?.[one];
    if (!isRow(fresh)) throw stranger('Keystone', host, `POST /v3/${collection}`);
    return fresh;
  };
  const change = async (collection: string, one: string, id: string, fields: object): Promise<void> => {
    const changed = await keystone<Record<string, Row>>('PATCH', `/${collection}/${id}`, { [one]: fields });
    if (!isRow(changed?.[one])) throw stranger('Keystone', host, `PATCH /v3/${collection}/${id}`);
  };
  const remove = (collection: string, id: string) => keystone('DELETE', `/${collection}/${id}`);
  const byName = async (collection: string, name: string, domain_id = DOMAIN): Promise<Row | undefined> =>
    (await list(collection, { name, domain_id }))[0];

  /** A user of this object with this password in a domain. */
  async function ensureLogin(
    name: string,
    password: string,
    domain_id: string,
    claim: Claim,
  ): Promise<{ id: string; changed: boolean }> {
    const have = await byName('users', name, domain_id);
    if (have === undefined) {
      const row = { name, password, domain_id, enabled: true, ...marked(claim.owner) };
      const { id } = await make('users', 'user', row);
      return { id, changed: true };
    }
    const right = () => opens({ user: name, password, project: undefined, home: domain_id });
    const found = { what: 'User', name, where: `Keystone ${host}`, text: markIn(have) };
    let changed = false;
    if (await settle(found, claim, async () => isManaged(have) && (await right()))) {
      await change('users', 'user', have.id, marked(claim.owner));
      changed = true;
    }
    if (have.enabled === false) {
      await change('users', 'user', have.id, { enabled: true });
      changed = true;
    }
    // Setting a password revokes the user's tokens, so it is tried first and set only when it is wrong.
    if (!(await right())) {
      await change('users', 'user', have.id, { password });
      changed = true;
    }
    return { id: have.id, changed };
  }

  const roleNamed = async (name: string): Promise<Row | undefined> => (await list('roles', { name }))[0];

  /** `on`: `projects/<id>` or `domains/<id>`. */
  async function ensureRoles(userId: string, on: string, roles: readonly string[]): Promise<Changed> {
    const held = await keystone<{ roles: Row[] }>('GET', `/${on}/users/${userId}/roles`);
    if (held !== undefined && !Array.isArray(held?.roles))
      throw stranger('Keystone', host, `GET /v3/${on}/users/${userId}/roles`);
    let changed = false;
    for (const name of roles) {
      if (held?.roles.some(r => r.name === name)) continue;
      const role = (await roleNamed(name)) ?? (await make('roles', 'role', { name }));
      await keystone('PUT', `/${on}/users/${userId}/roles/${role.id}`);
      changed = true;
    }
    return changed;
  }

  async function ensureEndpoints(service: ServiceRow, entry: CatalogEntry, claim: Claim): Promise<Changed> {
    const rows = (await list<EndpointRow>('endpoints', { service_id: service.id })).filter(
      e => e.region_id === at.region,
    );
    let changed = false;
    for (const interface_ of ['public', 'internal', 'admin'] as const) {
      const url = entry.endpoints[interface_];
      const have = rows.filter(e => e.interface === interface_);
      const keep = url === undefined ? undefined : (have.find(e => e.url === url) ?? have[0]);
      if (url !== undefined && keep === undefined) {
        const region = await keystone<{ region: Row }>('GET', `/regions/${at.region}`);
        if (region && !isRow(region.region)) throw stranger('Keystone', host, `GET /v3/regions/${at.region}`);
        if (region === undefined) await make('regions', 'region', { id: at.region });
        const row = { service_id: service.id, region_id: at.region, interface: interface_, url };
        await make('endpoints', 'endpoint', { ...row, ...marked(claim.owner) });
        changed = true;
      }
      const owned = keep !== undefined && markIn(keep) === markOf(claim.owner);
      if (keep !== undefined && (keep.url !== url || keep.enabled === false || !owned)) {
        await change('endpoints', 'endpoint', keep.id, { url, enabled: true, ...marked(claim.owner) });
        changed = true;
      }
      // Two rows for one interface and region make clients pick at random. The entry is ours, and so is its region.
      for (const extra of have.filter(e => e !== keep && (url !== undefined || isManaged(e)))) {
        await remove('endpoints', extra.id);
        changed = true;
      }
    }
    return changed;
  }

  /** The entry of a type as this object's: those of its kind in its namespace stand in it one after the other. */
  async function mayWrite(row: ServiceRow, entry: CatalogEntry, claim: Claim): Promise<boolean> {
    const mark = readMark(markIn(row));
    if (mark && mark.id === claim.owner.id && kindIn(mark) === kindIn(claim.owner)) return false;
    const found = { what: 'Catalog entry', name: entry.type, where: `Keystone ${host}`, text: markIn(row) };
    return settle(found, claim, async () => {
      const rows = await list<EndpointRow>('endpoints', { service_id: row.id });
      const here = rows.filter(e => e.region_id === at.region);
      // It leads to this object's own Service, or was made by this operator and leads nowhere yet.
      return here.some(e => e.url === entry.endpoints.internal) || (isManaged(row) && here.length === 0);
    });
  }

  async function service(method: 'GET' | 'POST', serviceUrl: string, path: string, body?: unknown): Promise<unknown> {
    const plain = `${serviceUrl.replace(/\/$/, '')}${path}`;
    if (plain.includes(PROJECT) && held(self) === undefined) await ownToken();
    const url = plain.replaceAll(PROJECT, tokens.get(keyOf(self))?.project ?? '');
    const answer = await send(method, url, body);
    const { host, pathname } = new URL(url);
    if (answer.status < 300 && (typeof answer.body !== 'object' || answer.body === null))
      throw stranger('The service', host, `${method} ${pathname}`);
    if (answer.status < 300) return answer.body;
    throw rejected('The service', host, `${method} ${pathname}: status ${answer.status}${said(answer.body)}`);
  }

  return {
    async check() {
      if (!(await opens(self))) throw refused('Keystone', host, at.user);
    },

    async ensureProject(name) {
      const have = await byName('projects', name);
      if (have === undefined) await make('projects', 'project', { name, domain_id: DOMAIN });
      else if (have.enabled === false) await change('projects', 'project', have.id, { enabled: true });
      else return false;
      return true;
    },

    async ensureUser(user, password, project, roles, claim) {
      const home = await byName('projects', project);
      if (home === undefined) throw rejected('Keystone', host, `project ${project} does not exist`);
      const { id, changed } = await ensureLogin(user, password, DOMAIN, claim);
      return (await ensureRoles(id, `projects/${home.id}`, roles)) || changed;
    },

    async dropUser(user, owner) {
      const have = await byName('users', user);
      if (have === undefined || !isWithin(readMark(markIn(have)), owner)) return false;
      await remove('users', have.id);
      return true;
    },

    async ensureRole(name) {
      if (await roleNamed(name)) return false;
      await make('roles', 'role', { name });
      return true;
    },

    async ensureDomain(name, user, password, claim) {
      const [have] = await list('domains', { name });
      const found = { what: 'Domain', name, where: `Keystone ${host}`, text: have ? markIn(have) : '' };
      let changed = false;
      if (have && (await settle(found, claim, () => isManaged(have)))) {
        await change('domains', 'domain', have.id, marked(claim.owner));
        changed = true;
      }
      const domain = have ?? (await make('domains', 'domain', { name, enabled: true, ...marked(claim.owner) }));
      const admin = await ensureLogin(user, password, domain.id, claim);
      return (await ensureRoles(admin.id, `domains/${domain.id}`, ['admin'])) || admin.changed || changed;
    },

    async dropDomain(name, owner) {
      const [have] = await list('domains', { name });
      if (have === undefined || !isWithin(readMark(markIn(have)), owner)) return false;
      // Keystone deletes only what is disabled, because everybody in it goes along.
      if (have.enabled !== false) await change('domains', 'domain', have.id, { enabled: false });
      await remove('domains', have.id);
      return true;
    },

    async ensureService(entry, claim) {
      const { name, type, description } = entry;
      const wanted = { name, enabled: true, ...(description !== undefined && { description }) };
      const found = await list<ServiceRow>('services', { type });
      let changed = false;
      let mine = found.find(s => s.name === name) ?? found[0];
      if (mine === undefined) {
        mine = await make<ServiceRow>('services', 'service', { ...wanted, type, ...marked(claim.owner) });
        changed = true;
      } else {
        const adopt = await mayWrite(mine, entry, claim);
        const described = description === undefined || mine.description === description;
        const owned = !adopt && markIn(mine) === markOf(claim.owner);
        if (mine.name !== name || !described || mine.enabled === false || !owned) {
          await change('services', 'service', mine.id, { ...wanted, ...marked(claim.owner) });
          changed = true;
        }
      }
      for (const twin of found.filter(s => s !== mine && readMark(markIn(s))?.id === claim.owner.id)) {
        await remove('services', twin.id);
        changed = true;
      }
      return (await ensureEndpoints(mine, entry, claim)) || changed;
    },

    async dropService(type, owner) {
      let changed = false;
      for (const service of await list<ServiceRow>('services', { type })) {
        if (!isWithin(readMark(markIn(service)), owner)) continue;
        const rows = await list<EndpointRow>('endpoints', { service_id: service.id });
        const ours = rows.filter(e => e.region_id === at.region);
        for (const row of ours) await remove('endpoints', row.id);
        // Another region may still use the entry.
        const last = ours.length === rows.length;
        if (last) await remove('services', service.id);
        changed ||= ours.length > 0 || last;
      }
      return changed;
    },

    get: (serviceUrl, path) => service('GET', serviceUrl, path),
    post: (serviceUrl, path, body) => service('POST', serviceUrl, path, body),
  };
}
