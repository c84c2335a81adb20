import type { AnyKind } from '../../../api/kind.ts';
import { NovaAPI } from '../../../api/nova/api.ts';
import { NovaCell } from '../../../api/nova/cell.ts';
import { NovaConductor } from '../../../api/nova/conductor.ts';
import { NovaMetadata } from '../../../api/nova/metadata.ts';
import { NovaNoVNCProxy } from '../../../api/nova/novncproxy.ts';
import { NovaScheduler } from '../../../api/nova/scheduler.ts';
import { Keystone } from '../../../api/openstack/keystone.ts';
import { Nova } from '../../../api/openstack/nova.ts';
import type { AnyObject, DeepReadonly } from '../../kube/object.ts';
import { CronJob, Job, NetworkPolicy, Secret, Service } from '../../kube/resource.ts';
import { keyedType } from '../../runtime/plan/causes.ts';
import type { Cx, EachCx } from '../../runtime/plan/cx.ts';
import { assertReady, isReady, statusCause } from '../../runtime/plan/ready.ts';
import { plan, rowsOf } from '../../runtime/plan/row.ts';
import { stall, wait } from '../../runtime/plan/unmet.ts';
import { standsInCatalog } from '../catalog.ts';
import { mountedBy, type Outdated, rotation, USERS } from '../credentials.ts';
import { encoded } from '../encoded.ts';
import { hostAddress } from '../hosts.ts';
import { type Exposed, ingressUrl } from '../ingress.ts';
import { hostsUrl } from '../keystone/address.ts';
import { accountsOf, cache, cacheFields, dropIdentity, ensureIdentity, identityAdmin, identityLink } from '../links.ts';
import { type Place, serviceHost } from '../names.ts';
import { admit, isolated, open } from '../network.ts';
import { expectedOf, silent } from '../reported.ts';
import { overTls, schemeOf } from '../tls/certificate.ts';
import { trust, trusting } from '../tls/trust.ts';
import { applyAgentSecrets } from './agents.ts';
import {
  cellAccounts,
  cellBus,
  cellCas,
  cellDatabase,
  cellObject,
  cleanCell,
  computesOf,
  hasSchema,
  isMapped,
  leaveCell,
  mapCell,
  registerCellBus,
  spareCleaner,
} from './cells.ts';
import { API_PORT, CONSOLE_PORT, METADATA_PORT } from './config.ts';
import { metadataAccount, type Shared, sharedBetween, spareMetadata } from './metadata.ts';
import * as pack from './pack.ts';
import { cellsText, MAPPED_CELLS, METADATA_KEY, packed, sharedSecret } from './secrets.ts';
import {
  apiSpec,
  CELL0,
  cellSpec,
  cellsOf,
  databaseOf,
  globalMetadata,
  type Links,
  metadataSpec,
  type NovaObject,
  problemOf,
  schedulerSpec,
} from './spec.ts';

/*
 * The top of Nova has no pods: it registers, packs what it got into Secrets, makes the parts and maps the cells
 * (seed 000). Each part works from its Secrets alone and does not know of this object.
 */
type NovaCx = Cx<NovaObject>;
const row = rowsOf<NovaObject>();

const names = (cx: { readonly name: string }) => ({
  apiDatabase: `${cx.name}-api-database`,
  bus: `${cx.name}-message-bus`,
  keystone: `${cx.name}-keystone`,
  mappings: `${cx.name}-cell-mappings`,
  metadata: `${cx.name}-metadata-secret`,
});

async function givenSecret(cx: NovaCx, name: string): Promise<Shared> {
  const secret = await sharedSecret(cx, name);
  return { name, secret, forAgents: { spare: false, secret }, spare: undefined };
}

const input = row('InputReady', {
  run: async cx => {
    const problem = problemOf(cx.spec);
    if (problem) throw stall({ ...problem, who: 'User' });
    const { metadataSecret: given } = cx.spec;
    const shared: Shared = given ? await givenSecret(cx, given) : await sharedBetween(cx, names(cx).metadata);
    return { metadata: shared.name, shared, cache: cacheFields(cx, await cache(cx)) };
  },
});

const apiDatabase = row('DatabaseReady', {
  needs: { input },
  run: async cx => {
    const database = databaseOf(cx.name, 'api');
    const { databaseSecret, databaseInstance: instance } = cx.spec;
    if (databaseSecret) return pack.givenDatabase(cx, databaseSecret, 'spec.databaseSecret', database);
    const order = {
      secret: names(cx).apiDatabase,
      instance,
      field: 'spec.databaseInstance',
      user: pack.userOf(cx, 'api'),
      part: 'api',
      row: 'DatabaseReady',
    };
    const packed = await pack.packDatabase(cx, order, database, hasSchema(cx, CELL0));
    await packed.letGo();
    return packed;
  },
  undo: cx => pack.dropDatabase(cx, names(cx).apiDatabase, 'api', databaseOf(cx.name, 'api')),
});

const busOrder = (cx: NovaCx): pack.Order => ({
  secret: names(cx).bus,
  instance: cx.spec.messageBusInstance,
  field: 'spec.messageBusInstance',
  user: pack.userOf(cx, 'top'),
  part: 'top',
  row: 'MessageBusReady',
});

/** The ways to bus and Keystone, packed for the parts before bus and Keystone run: schemas need not wait for them. */
const logins = row('CredentialsReady', {
  needs: { input },
  run: async cx => {
    const { messageBusSecret, keystoneSecret } = cx.spec;
    const [bus, identity] = await cx.all([
      messageBusSecret ? pack.givenBus(cx, messageBusSecret, 'spec.messageBusSecret') : pack.packBus(cx, busOrder(cx)),
      identityLink(cx),
    ]);
    await bus.letGo();
    if (keystoneSecret) return { bus, identity: { secret: keystoneSecret, link: identity } };
    const { url, user, password, project, region, ca } = identity;
    const server = cx.get(Keystone, cx.spec.keystoneInstance);
    const outside = server && hostsUrl(cx, server);
    const data = encoded({
      url,
      user,
      password,
      project,
      region,
      ...packed(ca),
      ...(outside && { 'hosts-url': outside }),
    });
    await cx.apply(Secret, { metadata: { name: names(cx).keystone }, type: 'Opaque', data });
    return { bus, identity: { secret: names(cx).keystone, link: identity } };
  },
});

const bus = row('MessageBusReady', {
  needs: { logins },
  run: async (cx, { logins }) => {
    if (!cx.spec.messageBusSecret) await pack.registerBus(cx, busOrder(cx), logins.bus.link);
  },
  undo: cx => pack.dropBus(cx, names(cx).bus, 'top'),
});

const user = row('IdentityReady', {
  needs: { logins },
  run: (cx, { logins }) => ensureIdentity(cx, logins.identity.link),
  undo: cx => dropIdentity(cx),
});

/** For its own Jobs and for the operator's requests; parts make theirs from their Secrets. */
const trusted = row('TrustReady', {
  needs: { apiDatabase, logins },
  run: async (cx, { apiDatabase, logins: { bus, identity } }) =>
    trust(cx, apiDatabase.link.ca, bus.link.ca, identity.link.ca, ...(await cellCas(cx))),
});

interface Mapped {
  readonly hash: string;
  readonly links: Links;
}

/** All at once, and none waits for another, save that cell0's conductor makes the tables that mappings are written to. */
const cells = row.each('CellsReady', {
  needs: { input, apiDatabase, logins, trusted },
  over: object => cellsOf(object.spec),
  first: CELL0,
  status: 'cells',
  run: async (cx: EachCx<NovaObject, Mapped>, cell, d) => {
    const [database, cellBusLink] = await cx.all([cellDatabase(cx, cell), cellBus(cx, cell, d.logins.bus)]);
    const links: Links = {
      api: d.apiDatabase.secret,
      cell: database.secret,
      bus: cellBusLink.secret,
      keystone: d.logins.identity.secret,
      mappings: names(cx).mappings,
      metadata: d.input.metadata,
      cache: d.input.cache,
    };
    const child = await cx.child(NovaCell, cellObject(cx.name, cell.name), cellSpec(cx.spec, cell, links));
    await registerCellBus(cx, cell, cellBusLink.link);
    const ways = { api: d.apiDatabase.link, cell: database.link, bus: cellBusLink.link };
    const hash = await mapCell(cx, cell.name, ways, d.trusted);
    // For people: by the key, because the URLs hold passwords.
    cx.line({ hash: (await cx.hash(hash)).slice(0, 8) });
    // Mapped is enough for the API to know it, though its own processes may not run yet.
    cx.usable({ hash, links });
    await letCellGo(cx, cell.name, hash, [database, ...(cell.name === CELL0 ? [] : [cellBusLink])]);
    assertReady(child as DeepReadonly<AnyObject>);
    return { hash, links };
  },
  undo: (cx, name) => leaveCell(cx, name),
});

/** Replaced logins of a cell stand in its mapping too, and pods remember mappings. */
async function letCellGo(
  cx: NovaCx,
  cell: string,
  hash: string,
  packed: readonly Pick<pack.Packed<unknown>, 'letGo'>[],
): Promise<void> {
  const known = (await cx.secretIfAny(names(cx).mappings)) ?? {};
  if (known[cell] !== hash) return;
  for (const { letGo } of packed) await letGo(outdated(known));
}

/** Config with other cells than those. */
function outdated(known: Readonly<Record<string, string>>): Outdated {
  const text = cellsText(known);
  return data => data[MAPPED_CELLS] !== undefined && data[MAPPED_CELLS] !== text;
}

/** The parts that read the list of cells at their start; those of another Nova have another list. */
const remembers = (cx: NovaCx, { metadata: { labels } }: DeepReadonly<AnyObject>): boolean =>
  ['api', 'scheduler', 'metadata', `${CELL0}-conductor`].some(
    part => labels?.['app.kubernetes.io/instance'] === `${cx.name}-${part}`,
  );

const cleaning = row('HousekeepingReady', {
  needs: { cells, trusted },
  aside: true,
  run: async (cx, { cells, trusted }) => {
    for (const { name } of cellsOf(cx.spec)) if (!cells.has(name)) spareCleaner(cx, name);
    await cx.all([...cells.keys()].map(cell => cleanCell(cx, cell, trusted)));
  },
});

/** Reasons of a cell with which nothing is wrong: it takes its time. */
const ON_ITS_WAY: ReadonlySet<string | undefined> = new Set([undefined, 'NotReady', 'JobRunning']);

/** Whether a person must act before the cell goes on. */
const waitsForUser = (cx: NovaCx, cell: string): boolean =>
  statusCause(cx.object, keyedType('CellsReady', cell))?.actor === 'User';

/**
 * Who remembers cells stops slowly, up to three minutes for what it has begun: started before the last cell is mapped,
 * it would be restarted at once. So the first start waits for cells that are on their way, and for no other.
 */
function coming(cx: NovaCx, mapped: ReadonlyMap<string, unknown>): readonly string[] {
  const told = new Map(cx.status.cells?.map(line => [line.name, line]));
  return cellsOf(cx.spec)
    .map(cell => cell.name)
    .filter(name => !mapped.has(name) && ON_ITS_WAY.has(told.get(name)?.reason))
    .filter(name => !waitsForUser(cx, name));
}

/** Cells that are being taken out, of those that pods know. */
const leaving = (cx: NovaCx, known: Readonly<Record<string, string>>): readonly string[] => {
  const asked = cellsOf(cx.spec).map(cell => cell.name);
  return Object.keys(known).filter(name => !asked.includes(name));
};

/**
 * What the parts start with and restart for. A cell that is being mapped again keeps its line, because it is still mapped;
 * so does one that is taken out, because who starts before it is unmapped remembers it.
 */
const mappings = row('CellMappingsReady', {
  needs: { cells, bus, user },
  run: async (cx, { cells }) => {
    const name = names(cx).mappings;
    const known = await cx.secretIfAny(name);
    const late = known === undefined ? coming(cx, cells) : [];
    if (late.length > 0)
      throw wait({
        reason: 'CellsNotMapped',
        what: `${late.join(', ')} will be mapped in a moment; who is started now would be restarted then`,
        who: 'Operator',
        next: 'map the cells',
        // What went wrong with a cell stands in the status of this object, which it does not watch.
        after: 2_000,
      });
    const before = known ?? {};
    const lines: Record<string, string> = {};
    for (const cell of cellsOf(cx.spec)) {
      const hash = cells.get(cell.name)?.hash ?? before[cell.name];
      if (hash !== undefined) lines[cell.name] = hash;
    }
    for (const name of leaving(cx, before)) if (isMapped(cx, name)) lines[name] = before[name]!;
    await cx.apply(Secret, { metadata: { name }, type: 'Opaque', data: encoded(lines) });
    // Those of cell0, which all parts at the top share.
    return cells.get(CELL0)!.links;
  },
});

/** Left in a database that was kept: Nova asks every mapped cell for its servers, and fails where it can't get in. */
const strays = row('CellsKnown', {
  needs: { apiDatabase, mappings },
  run: async (cx, { apiDatabase: { link } }) => {
    const mapped = await cx.cloud.sql(link).column(link.database, 'cell_mappings', 'name');
    const asked = cellsOf(cx.spec).map(cell => cell.name);
    const leaving = cx.status.cells?.map(line => line.name) ?? [];
    const stray = mapped.find(name => ![...asked, ...leaving].includes(name));
    if (stray !== undefined)
      throw stall({
        reason: 'CellUnknown',
        field: 'spec.cellTemplates',
        what: `The API's database maps cell ${stray}, which spec.cellTemplates does not name, and Nova can't list servers`,
        who: 'User',
        next: `name ${stray} in spec.cellTemplates; taken out of there again, it is emptied and unmapped`,
        // No watch shows what somebody does in the database.
        after: 60_000,
      });
  },
});

const api = row('APIReady', {
  needs: { mappings },
  run: async (cx, { mappings }) => {
    const child = await cx.child(NovaAPI, `${cx.name}-api`, apiSpec(cx.spec, mappings));
    const { replicas, readyReplicas } = child.status ?? {};
    cx.report({ ...(replicas !== undefined && { replicas }), ...(readyReplicas !== undefined && { readyReplicas }) });
    assertReady(child as DeepReadonly<AnyObject>);
  },
  undo: cx => cx.remove(NovaAPI, `${cx.name}-api`),
});

const scheduler = row('SchedulerReady', {
  needs: { mappings },
  run: async (cx, { mappings }) => {
    const child = await cx.child(NovaScheduler, `${cx.name}-scheduler`, schedulerSpec(cx.spec, mappings));
    assertReady(child as DeepReadonly<AnyObject>);
  },
  undo: cx => cx.remove(NovaScheduler, `${cx.name}-scheduler`),
});

const metadata = row('MetadataReady', {
  needs: { mappings, input },
  when: object => globalMetadata(object.spec),
  run: async (cx, { mappings, input: { shared } }) => {
    const wanted = metadataSpec(cx.spec, mappings);
    if (shared.spare !== undefined) {
      const metadataSecret = `${names(cx).metadata}-spare`;
      const data = encoded({ [METADATA_KEY]: shared.spare });
      await cx.apply(Secret, { metadata: { name: metadataSecret }, type: 'Opaque', data });
      const { expose: _hosts, ...inside } = wanted;
      await cx.child(NovaMetadata, spareMetadata(cx.name), { ...inside, metadataSecret });
    }
    const child = await cx.child(NovaMetadata, `${cx.name}-metadata`, wanted);
    assertReady(child as DeepReadonly<AnyObject>);
  },
  off: removeMetadata,
  undo: removeMetadata,
});

async function removeMetadata(cx: NovaCx): Promise<void> {
  await cx.all([`${cx.name}-metadata`, spareMetadata(cx.name)].map(name => cx.remove(NovaMetadata, name)));
}

/** For the agents on all hosts, when one metadata service serves all cells. */
const agents = row('MetadataConfigReady', {
  needs: { input },
  when: object => globalMetadata(object.spec),
  run: async (cx, { input }) => {
    const { forAgents, secret } = input.shared;
    const service = `${cx.name}-metadata`;
    const address = hostAddress(cx, cx.spec.metadataServiceTemplate ?? {}, { service, port: METADATA_PORT });
    await applyAgentSecrets(cx, cx.name, {
      pods: { service: forAgents.spare ? spareMetadata(cx.name) : service, secret: forAgents.secret },
      // The second service has no address outside, and hosts do not restart for it.
      hosts: { service, secret, address },
      tls: overTls(cx.spec),
    });
  },
});

const apiUrl = (cx: Place & { readonly spec: unknown }): string =>
  `${schemeOf(cx.spec)}://${serviceHost(cx, `${cx.name}-api`)}:${API_PORT}/v2.1`;

const entry = row('EndpointsReady', {
  needs: { user },
  run: async cx => {
    const internal = apiUrl(cx);
    const open = ingressUrl(cx.spec as Exposed);
    const endpoints = { internal, public: cx.spec.publicURL ?? (open ? `${open}/v2.1` : internal) };
    cx.report({ endpoints });
    const admin = await identityAdmin(cx);
    if (admin && (await standsInCatalog(cx, Nova)))
      await admin.ensureService({ name: cx.name, type: 'compute', endpoints }, await cx.claim());
  },
  undo: async cx => {
    if (cx.acted()) await (await identityAdmin(cx, true))?.dropService('compute', await cx.owner());
  },
});

/** Conductors and computes can run and hear nothing, and their pods know no better (lab.md 5, trap 2): the database does. */
const answering = row('Answering', {
  needs: { api, scheduler, cells, logins, trusted },
  run: async (cx, { cells, logins, trusted }) => {
    const known = (await cx.secretIfAny(names(cx).mappings)) ?? {};
    if (leaving(cx, known).length > 0 || mountedBy(cx, outdated(known), object => !remembers(cx, object)))
      throw wait({
        reason: 'CellsNotMapped',
        what: 'Pods remember other cells than spec.cellTemplates names',
        who: 'Operator',
        next: 'start them again when these are mapped, and others are not',
      });
    const { replicas = 0 } = cx.get(NovaScheduler, `${cx.name}-scheduler`)?.spec ?? {};
    const conductors = [...cells.keys()].flatMap(cell => {
      const name = `${cellObject(cx.name, cell)}-conductor`;
      const found = cx.get(NovaConductor, name);
      // One that is not Ready is told of by its cell.
      const settled = found && isReady(found as DeepReadonly<AnyObject>);
      return settled ? expectedOf('nova-conductor', name, found.spec.replicas) : [];
    });
    const computes = [...cells.keys()].flatMap(cell => computesOf(cx, cell));
    const expected = [...expectedOf('nova-scheduler', `${cx.name}-scheduler`, replicas), ...conductors, ...computes];
    const answer = await cx.cloud.identity(trusting(logins.identity.link, trusted)).get(apiUrl(cx), '/os-services');
    const [first] = silent(expected, answer);
    if (first)
      throw wait({
        reason: 'ServiceSilent',
        pod: first.pod ?? first.host,
        what: `${first.binary} in pod ${first.pod ?? first.host} does not report as ${first.host}`,
        who: 'Operator',
        next: 'look again',
        // No watch shows it. The first report comes seconds after the start, so a new host is not waited for long.
        after: 5_000,
      });
  },
});

const rotating = rotation<NovaObject>(
  cx => {
    const { databaseSecret, messageBusSecret } = cx.spec;
    const ofCells = cellsOf(cx.spec).flatMap(cell => cellAccounts(cx.name, cell));
    return [
      ...accountsOf(cx, { database: false, bus: false, identity: true }),
      ...(databaseSecret ? [] : [{ target: 'database', secret: names(cx).apiDatabase } as const]),
      ...(messageBusSecret ? [] : [{ target: 'message-bus', secret: names(cx).bus } as const]),
      ...(cx.spec.metadataSecret || !globalMetadata(cx.spec) ? [] : [metadataAccount(names(cx).metadata)]),
      ...ofCells,
    ];
  },
  { input, apiDatabase, logins, cells },
);

/** For the pods of its parts, which do not know of each other. Names of parts tell whose they are, and other kinds may have them too. */
const network = row('NetworkPolicyReady', {
  when: isolated,
  run: async cx => {
    const all = [cx.name, ...cellsOf(cx.spec).map(cell => cellObject(cx.name, cell.name))];
    const policy = ({ kind }: AnyKind, part: string, owners: readonly string[], ports: readonly number[]) =>
      admit(
        cx,
        `nova-${cx.name}-${part}`,
        owners.map(owner => `${owner}-${part}`),
        [open(ports)],
        kind,
      );
    await cx.all([
      policy(NovaAPI, 'api', [cx.name], [API_PORT]),
      policy(NovaMetadata, 'metadata', [...all, `${cx.name}-spare`], [METADATA_PORT]),
      policy(NovaNoVNCProxy, 'novncproxy', all.slice(1), [CONSOLE_PORT]),
      policy(NovaScheduler, 'scheduler', [cx.name], []),
      policy(NovaConductor, 'conductor', all.slice(1), []),
    ]);
  },
});

export const nova = plan(
  Nova,
  {
    input,
    apiDatabase,
    logins,
    bus,
    user,
    trusted,
    cells,
    cleaning,
    mappings,
    strays,
    api,
    scheduler,
    metadata,
    agents,
    entry,
    answering,
    network,
    rotating,
  },
  {
    manages: [NetworkPolicy, Secret, Job, CronJob, NovaAPI, NovaScheduler, NovaMetadata, NovaCell],
    reads: [...USERS, NovaConductor, Nova, Service],
    external: true,
  },
);
