import { refused, rejected, unreachable } from '../../cloud/faults.ts';
import { type Claim, isWithin, markOf, type Owner, readMark } from '../../cloud/ownership.ts';
import type { CatalogEntry, Identity, IdentityAddress } from '../../cloud/ports.ts';
import { settle } from '../../cloud/settle.ts';
import { postVolumeType, volumeTypes } from '../programs/cinder.ts';
import { novaServices } from '../programs/nova.ts';
import { misfit, openingOf } from '../servers/handshake.ts';
import { open } from '../servers/sql.ts';
import type { KeystoneRows, KeystoneService, Net } from '../servers/state.ts';

type Interface = keyof CatalogEntry['endpoints'];

/** Most APIs ignore a query they do not know; those refuse it. What they take, by path. */
const STRICT: Readonly<Record<string, readonly string[]>> = {
  '/resource_providers': ['name', 'uuid', 'member_of', 'resources', 'in_tree', 'required'],
};

class FakeIdentity implements Identity {
  readonly #net: Net;
  readonly #at: IdentityAddress;
  readonly #host: string;
  readonly #where: string;

  constructor(net: Net, at: IdentityAddress) {
    this.#net = net;
    this.#at = at;
    const { host } = new URL(at.url);
    this.#host = host;
    this.#where = `Keystone ${this.#host}`;
  }

  async check() {
    this.#login();
  }

  async ensureProject(name: string) {
    const { projects } = this.#admin();
    return this.#change(!projects.includes(name), () => projects.push(name));
  }

  async ensureUser(user: string, password: string, project: string, roles: readonly string[], claim: Claim) {
    const all = this.#admin();
    if (!all.projects.includes(project)) throw rejected('Keystone', this.#host, `project ${project} does not exist`);
    const have = all.users[user];
    const found = { what: 'User', name: user, where: this.#where, text: have?.owner ?? '' };
    if (have) await settle(found, claim, () => have.ours && have.password === password);
    const owner = markOf(claim.owner);
    const held = have?.roles[project] ?? [];
    const right = have?.enabled && have.password === password && have.owner === owner;
    const same = right && roles.every(r => held.includes(r));
    return this.#change(!same, () => {
      const merged = { ...have?.roles, [project]: [...new Set([...held, ...roles])] };
      all.users[user] = { password, enabled: true, roles: merged, ours: true, owner };
      for (const role of roles) if (!all.roles.includes(role)) all.roles.push(role);
    });
  }

  async dropUser(user: string, owner: Owner) {
    const { users } = this.#admin();
    return this.#change(isWithin(readMark(users[user]?.owner), owner), () => delete users[user]);
  }

  async ensureRole(name: string) {
    const { roles } = this.#admin();
    return this.#change(!roles.includes(name), () => roles.push(name));
  }

  async ensureDomain(domain: string, user: string, password: string, claim: Claim) {
    const all = this.#admin();
    const have = all.domains?.[domain];
    const owner = markOf(claim.owner);
    const found = { what: 'Domain', name: domain, where: this.#where, text: have?.owner ?? '' };
    if (have) await settle(found, claim, () => have.ours);
    return this.#change(have?.users[user] !== password || have?.owner !== owner, () => {
      const users = { ...have?.users, [user]: password };
      all.domains = { ...all.domains, [domain]: { users, ours: true, owner } };
    });
  }

  async dropDomain(domain: string, owner: Owner) {
    const { domains = {} } = this.#admin();
    return this.#change(isWithin(readMark(domains[domain]?.owner), owner), () => delete domains[domain]);
  }

  async ensureService(entry: CatalogEntry, claim: Claim) {
    const all = this.#admin();
    const owner = markOf(claim.owner);
    const found = all.services.filter(s => s.type === entry.type);
    let service = found.find(s => s.name === entry.name) ?? found[0];
    if (service) await this.#mayWrite(service, entry, claim);
    let changed = this.#change(service === undefined, () => {
      const { name, type, description = '' } = entry;
      service = { name, type, description, ours: true, owner, endpoints: [] };
      all.services.push(service);
    });
    const mine = service!;
    const twins = found.filter(s => s !== mine && readMark(s.owner)?.id === claim.owner.id);
    const drifted =
      mine.name !== entry.name ||
      mine.owner !== owner ||
      (entry.description !== undefined && mine.description !== entry.description);
    changed =
      this.#change(drifted, () =>
        Object.assign(mine, { name: entry.name, owner, description: entry.description ?? mine.description }),
      ) || changed;
    changed =
      this.#change(twins.length > 0, () => {
        all.services = all.services.filter(s => !twins.includes(s));
      }) || changed;
    return this.#ensureEndpoints(mine, entry, owner) || changed;
  }

  async dropService(type: string, owner: Owner) {
    const all = this.#admin();
    const mine = all.services.filter(s => s.type === type && isWithin(readMark(s.owner), owner));
    const here = (e: KeystoneService['endpoints'][number]) => e.region === this.#at.region;
    return this.#change(mine.length > 0, () => {
      for (const s of mine) s.endpoints = s.endpoints.filter(e => !here(e));
      all.services = all.services.filter(s => !(mine.includes(s) && s.endpoints.length === 0));
    });
  }

  async get(serviceUrl: string, path: string) {
    const { database, used } = this.#service('GET', serviceUrl, path);
    if (path === '/os-services' && database?.schemas.includes('cinder'))
      return { services: Object.values(database.services ?? {}) };
    if (path === '/os-services') return { services: novaServices(this.#net, used) };
    if (path.startsWith('/types') && database) return { volume_types: volumeTypes(database) };
    return { path };
  }

  async post(serviceUrl: string, path: string, body: unknown) {
    const { database } = this.#service('POST', serviceUrl, path);
    if (database) this.#change(true, () => postVolumeType(database, path, body));
    return {};
  }

  /** What stands in Keystone's database, once it has proved that it can read it. */
  #rows(): KeystoneRows {
    const opening = openingOf(this.#at.url, this.#at.ca);
    const process = this.#net.find('identity', opening.host, opening.port);
    if (!opening.tls) this.#net.plainTo(process, `identity ${opening.host}`);
    if (process === undefined) throw unreachable('Keystone', this.#host, 'connection refused');
    const why = misfit(process, opening);
    if (why) throw unreachable('Keystone', this.#host, why);
    const database = process.database && open(this.#net, process.database);
    if (database === undefined || typeof database === 'string' || database.keystone === undefined) {
      throw rejected('Keystone', this.#host, 'status 500; look at the log of its pods, its database may be down');
    }
    if (process.keys() === 0) {
      throw rejected('Keystone', this.#host, 'status 500; look at the log of its pods, its fernet keys may be missing');
    }
    return database.keystone;
  }

  #login(): KeystoneRows {
    const all = this.#rows();
    const me = all.users[this.#at.user];
    const ok = me?.enabled && me.password === this.#at.password && (me.roles[this.#at.project] ?? []).length > 0;
    if (!ok) throw refused('Keystone', this.#host, this.#at.user);
    return all;
  }

  #admin(): KeystoneRows {
    const all = this.#login();
    if (!all.users[this.#at.user]?.roles[this.#at.project]?.includes('admin')) {
      throw rejected('Keystone', this.#host, 'status 403; the user needs role admin on its project');
    }
    return all;
  }

  #change(differs: boolean, apply: () => void): boolean {
    if (!differs) return false;
    this.#net.mutated();
    apply();
    return true;
  }

  #ensureEndpoints(service: KeystoneService, entry: CatalogEntry, owner: string): boolean {
    const here = (e: KeystoneService['endpoints'][number], interface_: string) =>
      e.region === this.#at.region && e.interface === interface_;
    let changed = false;
    for (const interface_ of ['public', 'internal', 'admin'] as const satisfies Interface[]) {
      const url = entry.endpoints[interface_];
      const have = service.endpoints.filter(e => here(e, interface_));
      const keep = have.find(e => e.url === url) ?? have[0];
      if (url === undefined) {
        changed =
          this.#change(
            have.some(e => e.ours),
            () => {
              service.endpoints = service.endpoints.filter(e => !(here(e, interface_) && e.ours));
            },
          ) || changed;
        continue;
      }
      const wrong = keep === undefined || keep.url !== url || have.length > 1 || keep.owner !== owner;
      changed =
        this.#change(wrong, () => {
          const others = service.endpoints.filter(e => !here(e, interface_));
          service.endpoints = [...others, { interface: interface_, region: this.#at.region, url, ours: true, owner }];
        }) || changed;
    }
    return changed;
  }

  /** The entry of a type as this object's: those of its kind in its namespace stand in it one after the other. */
  async #mayWrite(row: KeystoneService, entry: CatalogEntry, claim: Claim): Promise<void> {
    const mark = readMark(row.owner);
    const kindIn = ({ object }: Owner) => object.split('/')[0];
    if (mark && mark.id === claim.owner.id && kindIn(mark) === kindIn(claim.owner)) return;
    const here = row.endpoints.filter(e => e.region === this.#at.region);
    const leads = here.some(e => e.url === entry.endpoints.internal) || (row.ours && here.length === 0);
    await settle(
      { what: 'Catalog entry', name: entry.type, where: this.#where, text: row.owner ?? '' },
      claim,
      () => leads,
    );
  }

  /** The database of a service that answers there. */
  #service(method: string, serviceUrl: string, path: string) {
    this.#login();
    const url = new URL(serviceUrl);
    const opening = openingOf(serviceUrl, this.#at.ca);
    if (!this.#net.answers(opening.host, opening.port))
      throw unreachable('The service', url.host, 'connection refused');
    const process = this.#net.find('other', opening.host, opening.port);
    if (!opening.tls) this.#net.plainTo(process, `identity ${opening.host}`);
    const why = process && misfit(process, opening);
    if (why) throw unreachable('The service', url.host, why);
    const { database: used, keystone } = process ?? {};
    // It shows our token to its Keystone: one that it can't reach leaves it unable to say who we are.
    if (keystone) {
      const ask = openingOf(keystone.url, keystone.trust?.());
      const asked = this.#net.find('identity', ask.host, ask.port);
      if (asked === undefined || misfit(asked, ask))
        throw rejected('The service', url.host, `${method} ${url.pathname}: status 503`);
    }
    const database = used && open(this.#net, used);
    // The check is chosen to read a table: without the database or its schema there is none.
    if (typeof database === 'string' || database?.schemas.length === 0) {
      const where = `${url.pathname.replace(/\/$/, '')}${path.split('?')[0]}`;
      throw rejected('The service', url.host, `${method} ${where}: status 500`);
    }
    const [plain = '', query] = path.split('?');
    const unknown = [...new URLSearchParams(query).keys()].find(key => !(STRICT[plain]?.includes(key) ?? true));
    if (unknown) throw rejected('The service', url.host, `${method} ${plain}: status 400 (${unknown} is not known)`);
    return { database, used };
  }
}

export const fakeIdentity = (net: Net, at: IdentityAddress): Identity => new FakeIdentity(net, at);
