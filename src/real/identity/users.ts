import { rejected, stranger } from '../../cloud/faults.ts';
import { type Claim, isWithin, type Owner, readMark } from '../../cloud/ownership.ts';
import type { Changed } from '../../cloud/ports.ts';
import { settle } from '../../cloud/settle.ts';
import { isManaged, marked, markIn, type Row, type Rows } from './rows.ts';
import { DOMAIN, type Session } from './tokens.ts';

/** Projects, users, roles and domains. */
export class Users {
  readonly #session: Session;
  readonly #rows: Rows;

  constructor(session: Session, rows: Rows) {
    this.#session = session;
    this.#rows = rows;
  }

  /** A user of this object with this password in a domain. */
  async #ensureLogin(
    name: string,
    password: string,
    domain_id: string,
    claim: Claim,
  ): Promise<{ id: string; changed: boolean }> {
    const have = await this.#rows.byName('users', name, domain_id);
    if (have === undefined) {
      const row = { name, password, domain_id, enabled: true, ...marked(claim.owner) };
      const { id } = await this.#rows.make('users', 'user', row);
      return { id, changed: true };
    }
    const right = () => this.#session.opens({ user: name, password, project: undefined, home: domain_id });
    const found = { what: 'User', name, where: `Keystone ${this.#rows.host}`, text: markIn(have) };
    let changed = false;
    if (await settle(found, claim, async () => isManaged(have) && (await right()))) {
      await this.#rows.change('users', 'user', have.id, marked(claim.owner));
      changed = true;
    }
    if (have.enabled === false) {
      await this.#rows.change('users', 'user', have.id, { enabled: true });
      changed = true;
    }
    // Setting a password revokes the user's tokens, so it is tried first and set only when it is wrong.
    if (!(await right())) {
      await this.#rows.change('users', 'user', have.id, { password });
      changed = true;
    }
    return { id: have.id, changed };
  }

  async #roleNamed(name: string): Promise<Row | undefined> {
    return (await this.#rows.list('roles', { name }))[0];
  }

  /** `on`: `projects/<id>` or `domains/<id>`. */
  async #ensureRoles(userId: string, on: string, roles: readonly string[]): Promise<Changed> {
    const held = await this.#rows.keystone<{ roles: Row[] }>('GET', `/${on}/users/${userId}/roles`);
    if (held !== undefined && !Array.isArray(held?.roles))
      throw stranger('Keystone', this.#rows.host, `GET /v3/${on}/users/${userId}/roles`);
    let changed = false;
    for (const name of roles) {
      if (held?.roles.some(r => r.name === name)) continue;
      const role = (await this.#roleNamed(name)) ?? (await this.#rows.make('roles', 'role', { name }));
      await this.#rows.keystone('PUT', `/${on}/users/${userId}/roles/${role.id}`);
      changed = true;
    }
    return changed;
  }

  async ensureProject(name: string): Promise<Changed> {
    const have = await this.#rows.byName('projects', name);
    if (have === undefined) await this.#rows.make('projects', 'project', { name, domain_id: DOMAIN });
    else if (have.enabled === false) await this.#rows.change('projects', 'project', have.id, { enabled: true });
    else return false;
    return true;
  }

  async ensureUser(
    user: string,
    password: string,
    project: string,
    roles: readonly string[],
    claim: Claim,
  ): Promise<Changed> {
    const home = await this.#rows.byName('projects', project);
    if (home === undefined) throw rejected('Keystone', this.#rows.host, `project ${project} does not exist`);
    const { id, changed } = await this.#ensureLogin(user, password, DOMAIN, claim);
    return (await this.#ensureRoles(id, `projects/${home.id}`, roles)) || changed;
  }

  async dropUser(user: string, owner: Owner): Promise<Changed> {
    const have = await this.#rows.byName('users', user);
    if (have === undefined || !isWithin(readMark(markIn(have)), owner)) return false;
    await this.#rows.remove('users', have.id);
    return true;
  }

  async ensureRole(name: string): Promise<Changed> {
    if (await this.#roleNamed(name)) return false;
    await this.#rows.make('roles', 'role', { name });
    return true;
  }

  async ensureDomain(name: string, user: string, password: string, claim: Claim): Promise<Changed> {
    const [have] = await this.#rows.list('domains', { name });
    const found = { what: 'Domain', name, where: `Keystone ${this.#rows.host}`, text: have ? markIn(have) : '' };
    let changed = false;
    if (have && (await settle(found, claim, () => isManaged(have)))) {
      await this.#rows.change('domains', 'domain', have.id, marked(claim.owner));
      changed = true;
    }
    const domain =
      have ?? (await this.#rows.make('domains', 'domain', { name, enabled: true, ...marked(claim.owner) }));
    const admin = await this.#ensureLogin(user, password, domain.id, claim);
    return (await this.#ensureRoles(admin.id, `domains/${domain.id}`, ['admin'])) || admin.changed || changed;
  }

  async dropDomain(name: string, owner: Owner): Promise<Changed> {
    const [have] = await this.#rows.list('domains', { name });
    if (have === undefined || !isWithin(readMark(markIn(have)), owner)) return false;
    // Keystone deletes only what is disabled, because everybody in it goes along.
    if (have.enabled !== false) await this.#rows.change('domains', 'domain', have.id, { enabled: false });
    await this.#rows.remove('domains', have.id);
    return true;
  }
}
