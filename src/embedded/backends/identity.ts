import { refused, rejected, unreachable } from '../../cloud/faults.ts';
import { type Claim, isWithin, markOf, type Owner, readMark } from '../../cloud/ownership.ts';
import type { CatalogEntry, Identity, IdentityAddress } from '../../cloud/ports.ts';
import { settle } from '../../cloud/settle.ts';
import { postVolumeType, volumeTypes } from '../cinder.ts';
import { novaServices } from '../nova.ts';
import { misfit, openingOf } from './handshake.ts';
import { open } from './sql.ts';
import type { KeystoneRows, KeystoneService, Net } from './state.ts';

type Interface = keyof CatalogEntry['endpoints'];

/** Most APIs ignore a query they do not know; those refuse it. What they take, by path. */
const STRICT: Readonly<Record<string, readonly string[]>> = {
  '/resource_providers': ['name', 'uuid', 'member_of', 'resources', 'in_tree', 'required'],
};

export function fakeIdentity(net: Net, at: IdentityAddress): Identity {
  const { host } = new URL(at.url);
  /** What stands in Keystone's database, once it has proved that it can read it. */
  const rows = (): KeystoneRows => {
    const opening = openingOf(at.url, at.ca);
    const process = net.find('identity', opening.host, opening.port);
    if (!opening.tls) net.plainTo(process, `identity ${opening.host}`);
    if (process === undefined) throw unreachable('Keystone', host, 'connection refused');
    const why = misfit(process, opening);
    if (why) throw unreachable('Keystone', host, why);
    const database = process.database && open(net, process.database);
    if (database === undefined || typeof database === 'string' || database.keystone === undefined) {
      throw rejected('Keystone', host, 'status 500; look at the log of its pods, its database may be down');
    }
    if (process.keys() === 0) {
      throw rejected('Keystone', host, 'status 500; look at the log of its pods, its fernet keys may be missing');
    }
    return database.keystone;
  };
  const login = (): KeystoneRows => {
    const all = rows();
    const me = all.users[at.user];
    const ok = me?.enabled && me.password === at.password && (me.roles[at.project] ?? []).length > 0;
    if (!ok) throw refused('Keystone', host, at.user);
    return all;
  };
  const admin = (): KeystoneRows => {
    const all = login();
    if (!all.users[at.user]?.roles[at.project]?.includes('admin')) {
      throw rejected('Keystone', host, 'status 403; the user needs role admin on its project');
    }
    return all;
  };
  const where = `Keystone ${host}`;
  const change = (differs: boolean, apply: () => void): boolean => {
    if (!differs) return false;
    net.mutated();
    apply();
    return true;
  };

  function ensureEndpoints(service: KeystoneService, entry: CatalogEntry, owner: string): boolean {
    const here = (e: KeystoneService['endpoints'][number], interface_: string) =>
      e.region === at.region && e.interface === interface_;
    let changed = false;
    for (const interface_ of ['public', 'internal', 'admin'] as const satisfies Interface[]) {
      const url = entry.endpoints[interface_];
      const have = service.endpoints.filter(e => here(e, interface_));
      const keep = have.find(e => e.url === url) ?? have[0];
      if (url === undefined) {
        changed =
          change(
            have.some(e => e.ours),
            () => {
              service.endpoints = service.endpoints.filter(e => !(here(e, interface_) && e.ours));
            },
          ) || changed;
        continue;
      }
      const wrong = keep === undefined || keep.url !== url || have.length > 1 || keep.owner !== owner;
      changed =
        change(wrong, () => {
          const others = service.endpoints.filter(e => !here(e, interface_));
          service.endpoints = [...others, { interface: interface_, region: at.region, url, ours: true, owner }];
        }) || changed;
    }
    return changed;
  }

  /** The entry of a type as this object's: those of its kind in its namespace stand in it one after the other. */
  async function mayWrite(row: KeystoneService, entry: CatalogEntry, claim: Claim): Promise<void> {
    const mark = readMark(row.owner);
    const kindIn = ({ object }: Owner) => object.split('/')[0];
    if (mark && mark.id === claim.owner.id && kindIn(mark) === kindIn(claim.owner)) return;
    const here = row.endpoints.filter(e => e.region === at.region);
    const leads = here.some(e => e.url === entry.endpoints.internal) || (row.ours && here.length === 0);
    await settle({ what: 'Catalog entry', name: entry.type, where, text: row.owner ?? '' }, claim, () => leads);
  }

  /** The database of a service that answers there. */
  function service(method: string, serviceUrl: string, path: string) {
    login();
    const url = new URL(serviceUrl);
    const opening = openingOf(serviceUrl, at.ca);
    if (!net.answers(opening.host, opening.port)) throw unreachable('The service', url.host, 'connection refused');
    const process = net.find('other', opening.host, opening.port);
    if (!opening.tls) net.plainTo(process, `identity ${opening.host}`);
    const why = process && misfit(process, opening);
    if (why) throw unreachable('The service', url.host, why);
    const { database: used, keystone } = process ?? {};
    // It shows our token to its Keystone: one that it can't reach leaves it unable to say who we are.
    if (keystone) {
      const ask = openingOf(keystone.url, keystone.trust?.());
      const asked = net.find('identity', ask.host, ask.port);
      if (asked === undefined || misfit(asked, ask))
        throw rejected('The service', url.host, `${method} ${url.pathname}: status 503`);
    }
    const database = used && open(net, used);
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

  return {
    async check() {
      login();
    },
    async ensureProject(name) {
      const { projects } = admin();
      return change(!projects.includes(name), () => projects.push(name));
    },
    async ensureUser(user, password, project, roles, claim) {
      const all = admin();
      if (!all.projects.includes(project)) throw rejected('Keystone', host, `project ${project} does not exist`);
      const have = all.users[user];
      const found = { what: 'User', name: user, where, text: have?.owner ?? '' };
      if (have) await settle(found, claim, () => have.ours && have.password === password);
      const owner = markOf(claim.owner);
      const held = have?.roles[project] ?? [];
      const right = have?.enabled && have.password === password && have.owner === owner;
      const same = right && roles.every(r => held.includes(r));
      return change(!same, () => {
        const merged = { ...have?.roles, [project]: [...new Set([...held, ...roles])] };
        all.users[user] = { password, enabled: true, roles: merged, ours: true, owner };
        for (const role of roles) if (!all.roles.includes(role)) all.roles.push(role);
      });
    },
    async dropUser(user, owner) {
      const { users } = admin();
      return change(isWithin(readMark(users[user]?.owner), owner), () => delete users[user]);
    },
    async ensureRole(name) {
      const { roles } = admin();
      return change(!roles.includes(name), () => roles.push(name));
    },
    async ensureDomain(domain, user, password, claim) {
      const all = admin();
      const have = all.domains?.[domain];
      const owner = markOf(claim.owner);
      const found = { what: 'Domain', name: domain, where, text: have?.owner ?? '' };
      if (have) await settle(found, claim, () => have.ours);
      return change(have?.users[user] !== password || have?.owner !== owner, () => {
        const users = { ...have?.users, [user]: password };
        all.domains = { ...all.domains, [domain]: { users, ours: true, owner } };
      });
    },
    async dropDomain(domain, owner) {
      const { domains = {} } = admin();
      return change(isWithin(readMark(domains[domain]?.owner), owner), () => delete domains[domain]);
    },
    async ensureService(entry, claim) {
      const all = admin();
      const owner = markOf(claim.owner);
      const found = all.services.filter(s => s.type === entry.type);
      let service = found.find(s => s.name === entry.name) ?? found[0];
      if (service) await mayWrite(service, entry, claim);
      let changed = change(service === undefined, () => {
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
        change(drifted, () =>
          Object.assign(mine, { name: entry.name, owner, description: entry.description ?? mine.description }),
        ) || changed;
      changed =
        change(twins.length > 0, () => {
          all.services = all.services.filter(s => !twins.includes(s));
        }) || changed;
      return ensureEndpoints(mine, entry, owner) || changed;
    },
    async dropService(type, owner) {
      const all = admin();
      const mine = all.services.filter(s => s.type === type && isWithin(readMark(s.owner), owner));
      const here = (e: KeystoneService['endpoints'][number]) => e.region === at.region;
      return change(mine.length > 0, () => {
        for (const s of mine) s.endpoints = s.endpoints.filter(e => !here(e));
        all.services = all.services.filter(s => !(mine.includes(s) && s.endpoints.length === 0));
      });
    },
    async get(serviceUrl, path) {
      const { database, used } = service('GET', serviceUrl, path);
      if (path === '/os-services' && database?.schemas.includes('cinder'))
        return { services: Object.values(database.services ?? {}) };
      if (path === '/os-services') return { services: novaServices(net, used) };
      if (path.startsWith('/types') && database) return { volume_types: volumeTypes(database) };
      return { path };
    },
    async post(serviceUrl, path, body) {
      const { database } = service('POST', serviceUrl, path);
      if (database) change(true, () => postVolumeType(database, path, body));
      return {};
    },
  };
}
