import { beforeAll, describe, expect, it } from 'vitest';
import type { Claim } from '../../src/cloud/ownership.ts';
import {
  type Bus,
  type BusAddress,
  type Cloud,
  CloudError,
  type Identity,
  type IdentityAddress,
  type Sql,
  type SqlAddress,
} from '../../src/cloud/ports.ts';

/** What every implementation of the cloud ports must do: told once, held by the fakes and by real daemons. */

interface Ground<A> {
  readonly cloud: Cloud;
  /** An administrator's. */
  readonly at: A;
  /** Where nobody listens. */
  readonly nowhere: A;
  /** Changes that reached the backend so far: statements other than SELECT and SHOW, requests other than GET and token issue. */
  mutations(): Promise<number>;
}

export interface SqlGround extends Ground<SqlAddress> {
  /** Behind our back. */
  readonly drift: {
    password(user: string): Promise<void>;
    grant(user: string, database: string): Promise<void>;
    revoke(user: string, database: string): Promise<void>;
    /** By hand: without our mark. */
    makeDatabase(name: string): Promise<void>;
  };
}

export interface BusGround extends Ground<BusAddress> {
  readonly drift: {
    password(user: string): Promise<void>;
    makeAdministrator(user: string): Promise<void>;
    allow(user: string, vhost: string): Promise<void>;
    forbid(user: string, vhost: string): Promise<void>;
    /** By hand: without our mark. */
    makeVhost(vhost: string, user: string, password: string): Promise<void>;
  };
  /** Vhosts in which the user may do everything, provided that the password is right. */
  vhostsOf(user: string, password: string): Promise<string[] | 'wrong password'>;
}

export interface IdentityGround extends Ground<IdentityAddress> {
  readonly drift: {
    password(user: string): Promise<void>;
    disable(user: string): Promise<void>;
    takeRole(user: string, project: string, role: string): Promise<void>;
    setUrl(type: string, interface_: string, url: string): Promise<void>;
    addEndpoint(type: string, interface_: string, url: string): Promise<void>;
    /** By hand: without our mark. */
    makeUser(user: string): Promise<void>;
    makeService(type: string, url: string): Promise<void>;
  };
  /** `interface url` of the service's endpoints in the region, sorted; undefined when there is no such service. */
  endpoints(type: string): Promise<string[] | undefined>;
  userExists(user: string): Promise<boolean>;
}

const PASSWORD = 'Right0Password';

const OURS: Claim = { owner: { id: '00112233aabbccdd', object: 'Nova/nova' } };
const OTHER: Claim = { owner: { id: 'ffeeddcc99887766', object: 'Nova/nova' } };
const SIBLING: Claim = { owner: { id: OURS.owner.id, object: 'Glance/nova' } };
const SQL_USERS = ['openstack-nova', 'openstack-nova_b'];

async function faultOf(work: Promise<unknown>): Promise<CloudError> {
  const error = await work.then(
    () => undefined,
    e => e,
  );
  expect(error).toBeInstanceOf(CloudError);
  return error as CloudError;
}

async function expectRefused(work: Promise<unknown>, user: string, secret: string): Promise<void> {
  const error = await faultOf(work);
  expect(error.fault).toBe('refused');
  expect(error.message).toContain(user);
  expect(error.message).not.toContain(secret);
}

const expectFault = async (work: Promise<unknown>, fault: CloudError['fault']) =>
  expect((await faultOf(work)).fault).toBe(fault);

export function sqlContract(name: string, make: () => Promise<SqlGround>): void {
  describe(`Sql on ${name}`, () => {
    let ground: SqlGround;
    let sql: Sql;
    const as = (user: string, password: string) => ground.cloud.sql({ ...ground.at, user, password });
    const namesFor = async (user: string, password: string) => Object.keys(await as(user, password).databases()).sort();
    beforeAll(async () => {
      ground = await make();
      sql = ground.cloud.sql(ground.at);
    });

    it('check logs in', () => sql.check());

    it('a wrong password is refused, and the message names the user but not the password', () =>
      expectRefused(as(ground.at.user, 'Wrong0Password').check(), ground.at.user, 'Wrong0Password'));

    it('a server that is not there is unreachable, and the message names it', async () => {
      const error = await faultOf(ground.cloud.sql(ground.nowhere).check());
      expect(error.fault).toBe('unreachable');
      expect(error.message).toContain(`${ground.nowhere.host}:${ground.nowhere.port}`);
    });

    it('makes a database once', async () => {
      expect(await sql.ensureDatabase('nova_api', OURS, SQL_USERS)).toBe(true);
      expect(await sql.ensureDatabase('nova_api', OURS, SQL_USERS)).toBe(false);
      expect(Object.keys(await sql.databases())).toContain('nova_api');
    });

    it('makes a user once, who sees his databases and no others', async () => {
      await sql.ensureDatabase('novaXapi', OURS, SQL_USERS);
      expect(await sql.ensureUser('openstack-nova', PASSWORD, ['nova_api'], OURS)).toBe(true);
      expect(await sql.ensureUser('openstack-nova', PASSWORD, ['nova_api'], OURS)).toBe(false);
      expect(await namesFor('openstack-nova', PASSWORD)).toEqual(['nova_api']);
    });

    it('such a user can make nothing', async () => {
      await expectFault(as('openstack-nova', PASSWORD).ensureDatabase('mine', OURS, SQL_USERS), 'rejected');
      await expectFault(as('openstack-nova', PASSWORD).ensureUser('mine', PASSWORD, [], OURS), 'rejected');
    });

    it('14: at rest nothing is written', async () => {
      const before = await ground.mutations();
      await sql.check();
      await sql.ensureDatabase('nova_api', OURS, SQL_USERS);
      await sql.ensureUser('openstack-nova', PASSWORD, ['nova_api'], OURS);
      await sql.databases();
      await sql.dropUser('nobody-of-that-name', OURS.owner);
      await sql.dropDatabase('no_such_database', OURS.owner);
      expect(await ground.mutations()).toBe(before);
    });

    it('repairs a password that was changed', async () => {
      await ground.drift.password('openstack-nova');
      await expectFault(as('openstack-nova', PASSWORD).check(), 'refused');
      expect(await sql.ensureUser('openstack-nova', PASSWORD, ['nova_api'], OURS)).toBe(true);
      await as('openstack-nova', PASSWORD).check();
    });

    it('takes back what was granted elsewhere, and gives back what was taken', async () => {
      await ground.drift.grant('openstack-nova', 'novaXapi');
      expect(await sql.ensureUser('openstack-nova', PASSWORD, ['nova_api'], OURS)).toBe(true);
      expect(await namesFor('openstack-nova', PASSWORD)).toEqual(['nova_api']);
      await ground.drift.revoke('openstack-nova', 'nova_api');
      expect(await sql.ensureUser('openstack-nova', PASSWORD, ['nova_api'], OURS)).toBe(true);
      expect(await namesFor('openstack-nova', PASSWORD)).toEqual(['nova_api']);
      expect(await sql.ensureUser('openstack-nova', PASSWORD, ['nova_api'], OURS)).toBe(false);
    });

    it('follows another list of databases', async () => {
      expect(await sql.ensureUser('openstack-nova', PASSWORD, ['novaXapi', 'nova_api'], OURS)).toBe(true);
      expect(await namesFor('openstack-nova', PASSWORD)).toEqual(['novaXapi', 'nova_api']);
      expect(await sql.ensureUser('openstack-nova', PASSWORD, ['nova_api'], OURS)).toBe(true);
      expect(await namesFor('openstack-nova', PASSWORD)).toEqual(['nova_api']);
    });

    it('makes an administrator once, who can take the place of the first', async () => {
      expect(await sql.ensureAdmin('second_b', PASSWORD)).toBe(true);
      expect(await sql.ensureAdmin('second_b', PASSWORD)).toBe(false);
      const second = as('second_b', PASSWORD);
      expect(await second.ensureUser('openstack-nova', PASSWORD, ['nova_api'], OURS)).toBe(false);
      expect(await second.ensureAdmin('third', PASSWORD)).toBe(true);
      expect(await second.dropUser('third', undefined)).toBe(true);
      await ground.drift.password('second_b');
      expect(await sql.ensureAdmin('second_b', PASSWORD)).toBe(true);
      await second.check();
      expect(await sql.dropUser('second_b', undefined)).toBe(true);
    });

    it('tells when there is no such table', () =>
      expectFault(sql.column('nova_api', 'cell_mappings', 'name'), 'rejected'));

    it('what it makes carries its owner, and a database without tables is empty', async () => {
      const { nova_api } = await sql.databases();
      expect(nova_api).toEqual({
        mark: 'openstack-operator:00112233aabbccdd:Nova/nova:openstack-nova,openstack-nova_b',
        empty: true,
      });
      const owned = await sql.owned(OURS.owner);
      expect({ databases: [...owned.databases].sort(), users: owned.users }).toEqual({
        databases: ['novaXapi', 'nova_api'],
        users: ['openstack-nova'],
      });
      expect(await sql.owned(OTHER.owner)).toEqual({ databases: [], users: [] });
    });

    it.each([
      ['another owner', OTHER],
      ['another object of this owner', SIBLING],
    ])('%s is told who has the name, and changes and drops nothing', async (_, claim) => {
      const before = await ground.mutations();
      const taken = await faultOf(sql.ensureDatabase('nova_api', claim, ['other']));
      expect(taken.fault).toBe('taken');
      expect(taken.message).toContain('Database nova_api');
      expect(taken.message).toContain('Nova nova');
      await expectFault(sql.ensureUser('openstack-nova', 'Other0Password', ['nova_api'], claim), 'taken');
      // A new database of theirs does not make our user theirs.
      await expectFault(sql.ensureDatabase('theirs', claim, ['openstack-nova']), 'taken');
      expect(await sql.dropDatabase('nova_api', claim.owner)).toBe(false);
      expect(await sql.dropUser('openstack-nova', claim.owner)).toBe(false);
      expect(await ground.mutations()).toBe(before);
      await as('openstack-nova', PASSWORD).check();
    });

    it('databases of the server itself are nobody’s', async () => {
      await expectFault(sql.ensureDatabase('mysql', OURS, []), 'rejected');
      await expectFault(sql.ensureDatabase('mysql', { ...OURS, adopt: 'mysql' }, []), 'rejected');
    });

    it.each(['mysql', 'MySQL', 'sys', 'performance_schema'])('%s belongs to the server itself', async name => {
      const taken = { ...OURS, adopt: name };
      await expect(sql.ensureDatabase(name, taken, ['openstack-nova'])).rejects.toThrow('belongs to the server itself');
    });

    it('an unmarked database is ours when our credentials open it, or when the user says so', async () => {
      await ground.drift.makeDatabase('older');
      await expectFault(sql.ensureDatabase('older', OURS, SQL_USERS), 'taken');
      await ground.drift.grant('openstack-nova', 'older');
      const wrong = { user: 'openstack-nova', password: 'Wrong0Password' };
      await expectFault(sql.ensureDatabase('older', { ...OURS, proof: wrong }, SQL_USERS), 'taken');
      const proof = { user: 'openstack-nova', password: PASSWORD };
      expect(await sql.ensureDatabase('older', { ...OURS, proof }, SQL_USERS)).toBe(true);
      expect(await sql.ensureDatabase('older', OURS, SQL_USERS)).toBe(false);
      expect(await sql.dropDatabase('older', OURS.owner)).toBe(true);
      await ground.drift.makeDatabase('handed');
      const told: string[] = [];
      const adopting: Claim = { ...OURS, adopt: 'else, handed', adopted: (what, from) => told.push(`${what} ${from}`) };
      expect(await sql.ensureDatabase('handed', adopting, [])).toBe(true);
      expect(told).toEqual(['Database handed no owner']);
      const byId: Claim = { ...OTHER, adopt: OURS.owner.id };
      expect(await sql.ensureDatabase('handed', byId, [])).toBe(true);
      expect(await sql.dropDatabase('handed', OURS.owner)).toBe(false);
      expect(await sql.dropDatabase('handed', OTHER.owner)).toBe(true);
    });

    it('drops once, and dropping nothing is no error', async () => {
      expect(await sql.dropUser('openstack-nova', OURS.owner)).toBe(true);
      expect(await sql.dropUser('openstack-nova', OURS.owner)).toBe(false);
      await expectFault(as('openstack-nova', PASSWORD).check(), 'refused');
      expect(await sql.dropDatabase('nova_api', OURS.owner)).toBe(true);
      expect(await sql.dropDatabase('nova_api', OURS.owner)).toBe(false);
      expect(await sql.dropDatabase('novaXapi', OURS.owner)).toBe(true);
      expect(Object.keys(await sql.databases())).not.toContain('nova_api');
    });
  });
}

export function busContract(name: string, make: () => Promise<BusGround>): void {
  describe(`Bus on ${name}`, () => {
    let ground: BusGround;
    let bus: Bus;
    const as = (user: string, password: string) => ground.cloud.bus({ ...ground.at, user, password });
    beforeAll(async () => {
      ground = await make();
      bus = ground.cloud.bus(ground.at);
    });

    it('check logs in', () => bus.check());

    it('a wrong password is refused', () =>
      expectRefused(as(ground.at.user, 'Wrong0Password').check(), ground.at.user, 'Wrong0Password'));

    it('a server that is not there is unreachable', () =>
      expectFault(ground.cloud.bus(ground.nowhere).check(), 'unreachable'));

    it('a user needs his vhost', () => expectFault(bus.ensureUser('nova', PASSWORD, 'nowhere', OURS), 'rejected'));

    it('makes vhost and user once; he may do everything there and nothing elsewhere', async () => {
      expect(await bus.ensureVhost('openstack-nova', OURS)).toBe(true);
      expect(await bus.ensureVhost('openstack-nova', OURS)).toBe(false);
      expect(await bus.ensureUser('openstack-nova', PASSWORD, 'openstack-nova', OURS)).toBe(true);
      expect(await bus.ensureUser('openstack-nova', PASSWORD, 'openstack-nova', OURS)).toBe(false);
      expect(await ground.vhostsOf('openstack-nova', PASSWORD)).toEqual(['openstack-nova']);
    });

    it('such a user can make nothing', () =>
      expectFault(as('openstack-nova', PASSWORD).ensureVhost('mine', OURS), 'rejected'));

    it('a vhost may be named like a path', async () => {
      expect(await bus.ensureVhost('a/b', OURS)).toBe(true);
      expect(await bus.ensureVhost('a/b', OURS)).toBe(false);
      expect(await bus.dropVhost('a/b', OURS)).toBe(true);
    });

    it('14: at rest nothing is written', async () => {
      const before = await ground.mutations();
      await bus.check();
      await bus.ensureVhost('openstack-nova', OURS);
      await bus.ensureUser('openstack-nova', PASSWORD, 'openstack-nova', OURS);
      await bus.dropUser('nobody', OURS);
      await bus.dropVhost('nowhere', OURS);
      expect(await ground.mutations()).toBe(before);
    });

    it('repairs password, tags and permissions', async () => {
      await bus.ensureVhost('other', OURS);
      const breaks = [
        () => ground.drift.password('openstack-nova'),
        () => ground.drift.makeAdministrator('openstack-nova'),
        () => ground.drift.allow('openstack-nova', 'other'),
        () => ground.drift.forbid('openstack-nova', 'openstack-nova'),
      ];
      // Other tags take the mark along: the password of our Secret proves whose user it is.
      const claim: Claim = { ...OURS, proof: { user: 'openstack-nova', password: PASSWORD } };
      for (const breakIt of breaks) {
        await breakIt();
        expect(await bus.ensureUser('openstack-nova', PASSWORD, 'openstack-nova', claim)).toBe(true);
        expect(await bus.ensureUser('openstack-nova', PASSWORD, 'openstack-nova', OURS)).toBe(false);
      }
      expect(await ground.vhostsOf('openstack-nova', PASSWORD)).toEqual(['openstack-nova']);
      await expectFault(as('openstack-nova', PASSWORD).check(), 'rejected');
    });

    it.each([
      ['another owner', OTHER],
      ['another object of this owner', SIBLING],
    ])('%s is told who has the name, and changes and drops nothing', async (_, claim) => {
      const before = await ground.mutations();
      const taken = await faultOf(bus.ensureVhost('openstack-nova', claim));
      expect(taken.fault).toBe('taken');
      expect(taken.message).toContain('Virtual host openstack-nova');
      await expectFault(bus.ensureUser('openstack-nova', 'Other0Password', 'openstack-nova', claim), 'taken');
      expect(await bus.dropUser('openstack-nova', claim)).toBe(false);
      expect(await bus.dropVhost('openstack-nova', claim)).toBe(false);
      expect(await bus.owned(claim)).toEqual({ vhosts: [], users: [] });
      expect(await ground.mutations()).toBe(before);
      expect(await ground.vhostsOf('openstack-nova', PASSWORD)).toEqual(['openstack-nova']);
    });

    it('what it makes carries its owner', async () => {
      const { vhosts, users } = await bus.owned(OURS);
      expect({ vhosts: [...vhosts].sort(), users }).toEqual({
        vhosts: ['openstack-nova', 'other'],
        users: ['openstack-nova'],
      });
    });

    it('an unmarked virtual host is ours when our credentials open it', async () => {
      await ground.drift.makeVhost('older', 'older', PASSWORD);
      await expectFault(bus.ensureVhost('older', OURS), 'taken');
      await expectFault(bus.ensureUser('older', PASSWORD, 'older', OURS), 'taken');
      const claim: Claim = { ...OURS, proof: { user: 'older', password: PASSWORD } };
      expect(await bus.ensureVhost('older', claim)).toBe(true);
      expect(await bus.ensureUser('older', PASSWORD, 'older', claim)).toBe(true);
      expect(await bus.ensureVhost('older', OURS)).toBe(false);
      expect(await bus.ensureUser('older', PASSWORD, 'older', OURS)).toBe(false);
      expect(await bus.dropUser('older', OURS)).toBe(true);
      expect(await bus.dropVhost('older', OURS)).toBe(true);
    });

    it('takes back what was made before there were marks, by its credentials', async () => {
      await ground.drift.makeVhost('ancient', 'ancient', PASSWORD);
      const claim: Claim = { ...OURS, proof: { user: 'ancient', password: PASSWORD } };
      const { vhosts, users } = await bus.owned(claim);
      expect([vhosts.includes('ancient'), users.includes('ancient')]).toEqual([true, true]);
      expect(await bus.dropVhost('ancient', OURS)).toBe(false);
      expect(await bus.dropVhost('ancient', claim)).toBe(true);
      expect(await bus.dropUser('ancient', claim)).toBe(true);
    });

    it('drops once, and dropping nothing is no error', async () => {
      expect(await bus.dropUser('openstack-nova', OURS)).toBe(true);
      expect(await bus.dropUser('openstack-nova', OURS)).toBe(false);
      expect(await ground.vhostsOf('openstack-nova', PASSWORD)).toBe('wrong password');
      for (const vhost of ['openstack-nova', 'other']) {
        expect(await bus.dropVhost(vhost, OURS)).toBe(true);
        expect(await bus.dropVhost(vhost, OURS)).toBe(false);
      }
    });
  });
}

export function identityContract(name: string, make: () => Promise<IdentityGround>): void {
  describe(`Identity on ${name}`, () => {
    let ground: IdentityGround;
    let identity: Identity;
    const as = (user: string, password: string, project = 'service') =>
      ground.cloud.identity({ ...ground.at, user, password, project });
    const nova = (password = PASSWORD) => identity.ensureUser('nova', password, 'service', ['admin', 'service'], OURS);
    const entry = {
      name: 'nova',
      type: 'compute',
      description: 'Compute',
      endpoints: { public: 'http://public.example/v2.1', internal: 'http://internal.example/v2.1' },
    };
    const right = ['internal http://internal.example/v2.1', 'public http://public.example/v2.1'];
    beforeAll(async () => {
      ground = await make();
      identity = ground.cloud.identity(ground.at);
    });

    it('check issues a token', () => identity.check());

    it('a wrong password is refused', () =>
      expectRefused(as(ground.at.user, 'Wrong0Password', ground.at.project).check(), ground.at.user, 'Wrong0Password'));

    it('a server that is not there is unreachable', () =>
      expectFault(ground.cloud.identity(ground.nowhere).check(), 'unreachable'));

    it('makes a project once; a user needs his', async () => {
      await expectFault(identity.ensureUser('nova', PASSWORD, 'nowhere', ['admin'], OURS), 'rejected');
      expect(await identity.ensureProject('service')).toBe(true);
      expect(await identity.ensureProject('service')).toBe(false);
    });

    it('makes a user once, who can log in to his project', async () => {
      expect(await nova()).toBe(true);
      expect(await nova()).toBe(false);
      await as('nova', PASSWORD).check();
    });

    it('makes a service with its endpoints once', async () => {
      expect(await identity.ensureService(entry, OURS)).toBe(true);
      expect(await identity.ensureService(entry, OURS)).toBe(false);
      expect(await ground.endpoints('compute')).toEqual(right);
    });

    it('14: at rest nothing is written but tokens', async () => {
      const before = await ground.mutations();
      await identity.check();
      await identity.ensureProject('service');
      await nova();
      await identity.ensureService(entry, OURS);
      await identity.dropUser('nobody', OURS.owner);
      await identity.dropService('no-such-type', OURS.owner);
      expect(await ground.mutations()).toBe(before);
    });

    it('repairs password, lock and role of a user', async () => {
      const breaks = [
        () => ground.drift.password('nova'),
        () => ground.drift.disable('nova'),
        () => ground.drift.takeRole('nova', 'service', 'service'),
      ];
      for (const breakIt of breaks) {
        await breakIt();
        expect(await nova()).toBe(true);
        expect(await nova()).toBe(false);
        await as('nova', PASSWORD).check();
      }
    });

    it('follows a new password; the old one is refused', async () => {
      expect(await nova('Second0Password')).toBe(true);
      await expectFault(as('nova', PASSWORD).check(), 'refused');
      await as('nova', 'Second0Password').check();
    });

    it('repairs URLs, removes a second row for one interface, adds and takes away an interface', async () => {
      await ground.drift.setUrl('compute', 'internal', 'http://elsewhere.example');
      expect(await identity.ensureService(entry, OURS)).toBe(true);
      expect(await ground.endpoints('compute')).toEqual(right);
      await ground.drift.addEndpoint('compute', 'public', 'http://twin.example');
      expect(await identity.ensureService(entry, OURS)).toBe(true);
      expect(await ground.endpoints('compute')).toEqual(right);
      const more = { ...entry, endpoints: { ...entry.endpoints, admin: 'http://admin.example' } };
      expect(await identity.ensureService(more, OURS)).toBe(true);
      expect(await ground.endpoints('compute')).toEqual(['admin http://admin.example', ...right]);
      expect(await identity.ensureService(entry, OURS)).toBe(true);
      expect(await ground.endpoints('compute')).toEqual(right);
      expect(await identity.ensureService(entry, OURS)).toBe(false);
    });

    it('a service that was there is somebody else’s until the user hands it over', async () => {
      await ground.drift.makeService('image', 'http://old.example');
      const image = { name: 'glance', type: 'image', endpoints: { public: 'http://new.example' } };
      // Keystone's log may be a request behind.
      await ground.endpoints('image');
      const before = await ground.mutations();
      const taken = await faultOf(identity.ensureService(image, OURS));
      expect(taken.fault).toBe('taken');
      expect(taken.message).toContain('Catalog entry image');
      expect(await identity.dropService('image', OURS.owner)).toBe(false);
      expect(await ground.mutations()).toBe(before);
      expect(await ground.endpoints('image')).toEqual(['public http://old.example']);
      expect(await identity.ensureService(image, { ...OURS, adopt: 'image' })).toBe(true);
      expect(await identity.ensureService(image, OURS)).toBe(false);
      expect(await ground.endpoints('image')).toEqual(['public http://new.example']);
      expect(await identity.dropService('image', OURS.owner)).toBe(true);
    });

    it('one that leads to our own Service already is ours', async () => {
      await ground.drift.makeService('volumev3', 'http://internal.example/v3');
      const volume = { name: 'cinder', type: 'volumev3', endpoints: { internal: 'http://internal.example/v3' } };
      const found = await ground.endpoints('volumev3');
      // Made with a public endpoint; what counts is where the internal one leads.
      expect(found).toEqual(['public http://internal.example/v3']);
      expect(await identity.ensureService(volume, OURS)).toBe(true);
      expect(await identity.dropService('volumev3', OURS.owner)).toBe(true);
    });

    it.each([
      ['another owner', OTHER],
      ['another object of this owner', SIBLING],
    ])('%s is told who has the name, and changes and drops nothing', async (_, claim) => {
      const before = await ground.mutations();
      await expectFault(identity.ensureService(entry, claim), 'taken');
      await expectFault(identity.ensureUser('nova', 'Other0Password', 'service', ['admin'], claim), 'taken');
      expect(await identity.dropService('compute', claim.owner)).toBe(false);
      expect(await identity.dropUser('nova', claim.owner)).toBe(false);
      expect(await ground.mutations()).toBe(before);
      expect(await ground.endpoints('compute')).toEqual(right);
    });

    it('objects of one kind follow each other in the catalog; the former one takes nothing along', async () => {
      const second: Claim = { owner: { ...OURS.owner, object: 'Nova/second' } };
      expect(await identity.ensureService(entry, second)).toBe(true);
      expect(await identity.dropService('compute', OURS.owner)).toBe(false);
      expect(await ground.endpoints('compute')).toEqual(right);
      expect(await identity.ensureService(entry, OURS)).toBe(true);
    });

    it('a user that was there is somebody else’s until the user hands it over', async () => {
      await ground.drift.makeUser('glance');
      await expectFault(identity.ensureUser('glance', PASSWORD, 'service', ['service'], OURS), 'taken');
      expect(await identity.dropUser('glance', OURS.owner)).toBe(false);
      const adopting = { ...OURS, adopt: 'glance' };
      expect(await identity.ensureUser('glance', PASSWORD, 'service', ['service'], adopting)).toBe(true);
      await as('glance', PASSWORD).check();
      expect(await identity.dropUser('glance', OURS.owner)).toBe(true);
      expect(await ground.userExists('glance')).toBe(false);
    });

    it('makes a role once, and a domain with its administrator once; follows his password', async () => {
      expect(await identity.ensureRole('stack_user')).toBe(true);
      expect(await identity.ensureRole('stack_user')).toBe(false);
      expect(await identity.ensureDomain('stacks', 'keeper', PASSWORD, OURS)).toBe(true);
      const before = await ground.mutations();
      expect(await identity.ensureDomain('stacks', 'keeper', PASSWORD, OURS)).toBe(false);
      expect(await ground.mutations()).toBe(before);
      expect(await identity.ensureDomain('stacks', 'keeper', 'Second0Password', OURS)).toBe(true);
      expect(await identity.ensureDomain('stacks', 'keeper', 'Second0Password', OURS)).toBe(false);
      // A user of another domain is none of Default.
      await expectFault(as('keeper', 'Second0Password').check(), 'refused');
      expect(await identity.dropDomain('stacks', OURS.owner)).toBe(true);
      expect(await identity.dropDomain('stacks', OURS.owner)).toBe(false);
    });

    it('puts the project of the login where the catalog leaves a place for it', async () => {
      // Keystone knows no project by the name of the place.
      await expect(identity.get(`${ground.at.url}/v3/projects/%(project_id)s`, '')).resolves.toBeDefined();
    });

    it('asks a service with its token; one that is not there is unreachable', async () => {
      await expect(identity.get(ground.at.url, '/v3/auth/projects')).resolves.toBeDefined();
      await expectFault(identity.get(ground.nowhere.url, '/'), 'unreachable');
    });

    it('a user without rights is told so', async () => {
      await identity.ensureUser('reader', PASSWORD, 'service', ['reader'], OURS);
      await expectFault(as('reader', PASSWORD).ensureProject('mine'), 'rejected');
      expect(await identity.dropUser('reader', OURS.owner)).toBe(true);
    });

    it('drops once, and dropping nothing is no error', async () => {
      expect(await identity.dropService('compute', OURS.owner)).toBe(true);
      expect(await identity.dropService('compute', OURS.owner)).toBe(false);
      expect(await ground.endpoints('compute')).toBeUndefined();
      expect(await identity.dropUser('nova', OURS.owner)).toBe(true);
      expect(await identity.dropUser('nova', OURS.owner)).toBe(false);
      expect(await ground.userExists('nova')).toBe(false);
    });
  });
}
