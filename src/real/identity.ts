import { refused, rejected } from '../cloud/faults.ts';
import type { CatalogEntry, Changed, Identity, IdentityAddress } from '../cloud/ports.ts';
import type { Clock } from '../world/world.ts';
import type { Http, HttpAnswer } from './http.ts';

/**
 * Keystone v3. Finds by natural key (name, type, interface and region) before it makes anything.
 * What it makes carries `managed_by`, an extra attribute that Keystone keeps and shows; only that is ever deleted.
 * A user or service that was there before is repaired (password, enabled, URL) but outlives us.
 */
export const MARK = { managed_by: 'openstack-operator' };
const isOurs = (row: object): boolean => (row as { managed_by?: string }).managed_by === MARK.managed_by;

/** `keystone-manage bootstrap` gives the Default domain this id. */
const DOMAIN = 'default';
const PROJECT = '%(project_id)s';
/** A token is renewed this long before its end, so that none ends under way. */
const MARGIN = 300_000;

interface Row {
  id: string;
  name?: string;
  enabled?: boolean;
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

interface Token {
  readonly id: string;
  readonly project: string;
  /** On the monotonic clock. */
  readonly until: number;
}

/** By address and user. Shared by every Identity of a process: a token per call would be most of Keystone's work. */
export type Tokens = Map<string, Token>;

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
  const keyOf = ({ user, password, project, home }: Who): string =>
    JSON.stringify([base, user, password, project, home]);

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
    const id = answer?.headers['x-subject-token'];
    if (answer === undefined || typeof id !== 'string') return undefined;
    const { token } = answer.body as {
      token: { issued_at: string; expires_at: string; project?: { id: string } };
    };
    const lifetime = Date.parse(token.expires_at) - Date.parse(token.issued_at);
    // Keys hold passwords, and each new one is a new key: old ones must go.
    for (const [key, { until }] of tokens) if (until <= clock.now()) tokens.delete(key);
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
      const { status } = await http('Keystone', 'GET', `${base}/auth/tokens?nocatalog`, { headers, ...ca });
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
    if (answer.status === 404 && method !== 'POST' && method !== 'PATCH') return undefined;
    if (answer.status >= 300) throw failure(`${method} /v3${path.split('?')[0]}`, answer);
    return answer.body as T;
  }

  const list = async <T extends Row>(collection: string, filter: Record<string, string>): Promise<T[]> => {
    const found = await keystone<Record<string, T[]>>('GET', `/${collection}?${new URLSearchParams(filter)}`);
    return found?.[collection] ?? [];
  };
  const make = async <T extends Row>(collection: string, one: string, row: object): Promise<T> => {
    const made = await keystone<Record<string, T>>('POST', `/${collection}`, { [one]: { ...row, ...MARK } });
    return made![one]!;
  };
  const change = (collection: string, one: string, id: string, fields: object) =>
    keystone('PATCH', `/${collection}/${id}`, { [one]: fields });
  const remove = (collection: string, id: string) => keystone('DELETE', `/${collection}/${id}`);
  const byName = async (collection: string, name: string, domain_id = DOMAIN): Promise<Row | undefined> =>
    (await list(collection, { name, domain_id }))[0];

  /** A user with this password in a domain, whoever made it. */
  async function ensureLogin(
    name: string,
    password: string,
    domain_id: string,
  ): Promise<{ id: string; changed: boolean }> {
    const have = await byName('users', name, domain_id);
    if (have === undefined) {
      const { id } = await make('users', 'user', { name, password, domain_id, enabled: true });
      return { id, changed: true };
    }
    let changed = false;
    if (have.enabled === false) {
      await change('users', 'user', have.id, { enabled: true });
      changed = true;
    }
    // Setting a password revokes the user's tokens, so it is tried first and set only when it is wrong.
    if (!(await opens({ user: name, password, project: undefined, home: domain_id }))) {
      await change('users', 'user', have.id, { password });
      changed = true;
    }
    return { id: have.id, changed };
  }

  const roleNamed = async (name: string): Promise<Row | undefined> => (await list('roles', { name }))[0];

  /** `on`: `projects/<id>` or `domains/<id>`. */
  async function ensureRoles(userId: string, on: string, roles: readonly string[]): Promise<Changed> {
    const held = await keystone<{ roles: Row[] }>('GET', `/${on}/users/${userId}/roles`);
    let changed = false;
    for (const name of roles) {
      if (held?.roles.some(r => r.name === name)) continue;
      const role = (await roleNamed(name)) ?? (await make('roles', 'role', { name }));
      await keystone('PUT', `/${on}/users/${userId}/roles/${role.id}`);
      changed = true;
    }
    return changed;
  }

  async function ensureEndpoints(service: ServiceRow, entry: CatalogEntry): Promise<Changed> {
    const rows = (await list<EndpointRow>('endpoints', { service_id: service.id })).filter(
      e => e.region_id === at.region,
    );
    let changed = false;
    for (const interface_ of ['public', 'internal', 'admin'] as const) {
      const url = entry.endpoints[interface_];
      const have = rows.filter(e => e.interface === interface_);
      const keep = url === undefined ? undefined : (have.find(e => e.url === url) ?? have[0]);
      if (url !== undefined && keep === undefined) {
        if ((await keystone('GET', `/regions/${at.region}`)) === undefined)
          await make('regions', 'region', { id: at.region });
        const row = { service_id: service.id, region_id: at.region, interface: interface_, url };
        await make('endpoints', 'endpoint', row);
        changed = true;
      }
      if (keep !== undefined && (keep.url !== url || keep.enabled === false)) {
        await change('endpoints', 'endpoint', keep.id, { url, enabled: true });
        changed = true;
      }
      // Two rows for one interface and region make clients pick at random: only one may be there, whoever made it.
      for (const extra of have.filter(e => e !== keep && (url !== undefined || isOurs(e)))) {
        await remove('endpoints', extra.id);
        changed = true;
      }
    }
    return changed;
  }

  async function service(method: 'GET' | 'POST', serviceUrl: string, path: string, body?: unknown): Promise<unknown> {
    const plain = `${serviceUrl.replace(/\/$/, '')}${path}`;
    if (plain.includes(PROJECT) && held(self) === undefined) await ownToken();
    const url = plain.replaceAll(PROJECT, tokens.get(keyOf(self))?.project ?? '');
    const answer = await send(method, url, body);
    if (answer.status < 300) return answer.body;
    const { host, pathname } = new URL(url);
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

    async ensureUser(user, password, project, roles) {
      const home = await byName('projects', project);
      if (home === undefined) throw rejected('Keystone', host, `project ${project} does not exist`);
      const { id, changed } = await ensureLogin(user, password, DOMAIN);
      return (await ensureRoles(id, `projects/${home.id}`, roles)) || changed;
    },

    async dropUser(user) {
      const have = await byName('users', user);
      if (have === undefined || !isOurs(have)) return false;
      await remove('users', have.id);
      return true;
    },

    async ensureRole(name) {
      if (await roleNamed(name)) return false;
      await make('roles', 'role', { name });
      return true;
    },

    async ensureDomain(name, user, password) {
      const [have] = await list('domains', { name });
      const domain = have ?? (await make('domains', 'domain', { name, enabled: true }));
      const { id, changed } = await ensureLogin(user, password, domain.id);
      return (await ensureRoles(id, `domains/${domain.id}`, ['admin'])) || changed;
    },

    async dropDomain(name) {
      const [have] = await list('domains', { name });
      if (have === undefined || !isOurs(have)) return false;
      // Keystone deletes only what is disabled, because everybody in it goes along.
      if (have.enabled !== false) await change('domains', 'domain', have.id, { enabled: false });
      await remove('domains', have.id);
      return true;
    },

    async ensureService(entry) {
      const { name, type, description } = entry;
      const found = await list<ServiceRow>('services', { type });
      let changed = false;
      let mine = found.find(s => s.name === name) ?? found[0];
      if (mine === undefined) {
        mine = await make<ServiceRow>('services', 'service', {
          name,
          type,
          ...(description !== undefined && { description }),
        });
        changed = true;
      } else {
        const told = description === undefined || mine.description === description;
        if (mine.name !== name || !told || mine.enabled === false) {
          await change('services', 'service', mine.id, {
            name,
            enabled: true,
            ...(description !== undefined && { description }),
          });
          changed = true;
        }
      }
      for (const twin of found.filter(s => s !== mine && isOurs(s))) {
        await remove('services', twin.id);
        changed = true;
      }
      return (await ensureEndpoints(mine, entry)) || changed;
    },

    async dropService(type) {
      let changed = false;
      for (const service of await list<ServiceRow>('services', { type })) {
        const rows = await list<EndpointRow>('endpoints', { service_id: service.id });
        const ours = rows.filter(e => e.region_id === at.region && isOurs(e));
        for (const row of ours) await remove('endpoints', row.id);
        // Another region may still use the entry.
        const last = isOurs(service) && ours.length === rows.length;
        if (last) await remove('services', service.id);
        changed ||= ours.length > 0 || last;
      }
      return changed;
    },

    get: (serviceUrl, path) => service('GET', serviceUrl, path),
    post: (serviceUrl, path, body) => service('POST', serviceUrl, path, body),
  };
}
