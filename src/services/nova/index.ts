import { NovaCell } from '../../../api/nova/cell.ts';
import { NovaConductor } from '../../../api/nova/conductor.ts';
import { Nova } from '../../../api/openstack/nova.ts';
import { CronJob, Job, Pod, Secret } from '../../kube/resource.ts';
import { keyedType } from '../../runtime/plan/causes.ts';
import type { Cx, EachCx } from '../../runtime/plan/cx.ts';
import { assertReady, statusCause } from '../../runtime/plan/ready.ts';
import { plan, rowsOf } from '../../runtime/plan/row.ts';
import { stall, wait } from '../../runtime/plan/unmet.ts';
import { encoded } from '../encoded.ts';
import { rotationRow } from '../links/credentials.ts';
import { accountsOf } from '../links/spec.ts';
import {
  cellAccounts,
  cellBus,
  cellDatabase,
  cellObject,
  cleanCell,
  isMapped,
  leaveCell,
  mapCell,
  registerCellBus,
  spareCleaner,
} from './cells.ts';
import { leaving, names, outdated } from './mapped.ts';
import { metadataAccount } from './metadata.ts';
import { networkPolicy } from './network.ts';
import type { Packed } from './pack.ts';
import { apiRow, metadataConfig, metadataRow, schedulerRow } from './parts.ts';
import { answeringRow, endpoints } from './proof.ts';
import { credentials, database, identity, input, messageBus, trust } from './registration.ts';
import { CELL0, cellSpec, cellsOf, globalMetadata, type Links, type NovaObject } from './spec.ts';

/*
 * The top of Nova has no pods: it registers, packs what it got into Secrets, makes the parts and maps the cells
 * (seed 000). Each part works from its Secrets alone and does not know of this object.
 *
 * How a cell comes up, in the order of the row `cells` below:
 *   1. its database and its bus get users, packed into Secrets    cellDatabase, cellBus (cells.ts, pack.ts)
 *   2. a NovaCell is made, which works from these Secrets alone   cellSpec (spec.ts), cell.ts
 *   3. RabbitMQ learns of its vhost and user                      registerCellBus
 *   4. its conductor makes the schema, and then it is mapped      mapCell waits for the one and runs the Job of the other
 *   5. the API may know it                                        cx.usable
 *   6. logins that were replaced in the mapping go                letCellGo
 *   7. its own processes are Ready                                assertReady
 * Then the parts at the top start with it, or start again: `cellMappings`, and after it parts.ts.
 */
type NovaCx = Cx<NovaObject>;
const row = rowsOf<NovaObject>();

interface Mapped {
  readonly hash: string;
  readonly links: Links;
}

/** All at once, and none waits for another, save that cell0's conductor makes the tables that mappings are written to. */
const cells = row.each('CellsReady', {
  needs: { input, database, credentials, trust },
  manages: [NovaCell, Secret, Job],
  reads: [NovaConductor, Pod],
  over: object => cellsOf(object.spec),
  first: CELL0,
  status: 'cells',
  run: async (cx: EachCx<NovaObject, Mapped>, cell, d) => {
    const [database, bus] = await cx.all([cellDatabase(cx, cell), cellBus(cx, cell, d.credentials.bus)]);
    const links: Links = {
      api: d.database.secret,
      cell: database.secret,
      bus: bus.secret,
      keystone: d.credentials.keystone,
      mappings: names(cx).mappings,
      metadata: d.input.metadata,
      cache: d.input.cache,
    };
    const child = await cx.child(NovaCell, cellObject(cx.name, cell.name), cellSpec(cx.spec, cell, links));
    await registerCellBus(cx, cell, bus.link);
    const ways = { api: d.database.link, cell: database.link, bus: bus.link };
    const hash = await mapCell(cx, cell.name, ways, d.trust);
    // For people: by the key, because the URLs hold passwords.
    cx.line({ hash: (await cx.hash(hash)).slice(0, 8) });
    // Mapped is enough for the API to know it, though its own processes may not run yet.
    cx.usable({ hash, links });
    await letCellGo(cx, cell.name, hash, [database, ...(cell.name === CELL0 ? [] : [bus])]);
    assertReady(child);
    return { hash, links };
  },
  undo: (cx, name) => leaveCell(cx, name),
});

/** Replaced logins of a cell stand in its mapping too, and pods remember mappings. */
async function letCellGo(
  cx: NovaCx,
  cell: string,
  hash: string,
  packed: readonly Pick<Packed<unknown>, 'letGo'>[],
): Promise<void> {
  const known = (await cx.secretIfAny(names(cx).mappings)) ?? {};
  if (known[cell] !== hash) return;
  for (const { letGo } of packed) await letGo(outdated(known));
}

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

/**
 * What the parts start with and restart for. A cell that is being mapped again keeps its line, because it is still mapped;
 * so does one that is taken out, because who starts before it is unmapped remembers it.
 */
const cellMappings = row('CellMappingsReady', {
  needs: { cells, messageBus, identity },
  manages: [Secret],
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
const cellsKnown = row('CellsKnown', {
  needs: { database, cellMappings },
  run: async (cx, { database: { link } }) => {
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

const housekeeping = row('HousekeepingReady', {
  needs: { cells, trust },
  aside: true,
  manages: [CronJob],
  reads: [Job, Pod],
  run: async (cx, { cells, trust }) => {
    for (const { name } of cellsOf(cx.spec)) if (!cells.has(name)) spareCleaner(cx, name);
    await cx.all([...cells.keys()].map(cell => cleanCell(cx, cell, trust)));
  },
});

const api = apiRow({ cellMappings });
const scheduler = schedulerRow({ cellMappings });
const metadata = metadataRow({ cellMappings, input });
const answering = answeringRow({ api, scheduler, cells });

const rotation = rotationRow<NovaObject>(
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
  { input, database, credentials, cells },
);

export const nova = plan(
  Nova,
  {
    input,
    database,
    credentials,
    messageBus,
    identity,
    trust,
    cells,
    housekeeping,
    cellMappings,
    cellsKnown,
    api,
    scheduler,
    metadata,
    metadataConfig,
    endpoints,
    answering,
    networkPolicy,
    rotation,
  },
  { external: true },
);
