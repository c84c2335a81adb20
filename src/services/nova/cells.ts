import { NovaCell } from '../../../api/nova/cell.ts';
import { NovaCompute } from '../../../api/nova/compute.ts';
import { NovaConductor } from '../../../api/nova/conductor.ts';
import { computeHost } from '../../../api/nova/host.ts';
import { MariaDB } from '../../../api/openstack/mariadb.ts';
import type { AnyObject, DeepReadonly } from '../../kube/object.ts';
import { CronJob, Pod, Secret } from '../../kube/resource.ts';
import { shortHash } from '../../runtime/plan/canonical.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import { conditionOf, isReady, notReady } from '../../runtime/plan/ready.ts';
import { subjectOf, wait } from '../../runtime/plan/unmet.ts';
import { adminAddress } from '../backends/mariadb.ts';
import { cleaningArgv, keepClean } from '../chores/housekeeping.ts';
import { type Config, type ConfigFile, generatedFile } from '../config/config.ts';
import { encoded } from '../encoded.ts';
import { imageOf } from '../images.ts';
import { busUrl } from '../links/bus.ts';
import type { Account } from '../links/credentials.ts';
import { databaseUrl } from '../links/database.ts';
import type { BusLink, DatabaseLink } from '../links/types.ts';
import { podLabels } from '../names.ts';
import { AWAITED, kollaStart, type PodBlock, type Process, podSpec } from '../pods/pod.ts';
import type { Expected } from '../pods/reported.ts';
import { tlsVolumes } from '../pods/tls-volumes.ts';
import { runJob } from '../standard/run-job.ts';
import { bundleSecret, type Trust } from '../tls/trust.ts';
import { checkCell, cleaningCell, deleteCell, ensureCell, manageConf, manageScripts, SCRIPTS } from './manage.ts';
import {
  dropBus,
  dropDatabase,
  givenBus,
  givenDatabase,
  type Order,
  type Packed,
  packBus,
  packDatabase,
  registerBus,
  userOf,
} from './pack.ts';
import { NOVA } from './processes.ts';
import { CELL0, type Cell, cellsOf, databaseOf, type NovaObject } from './spec.ts';

/** A cell's way from the spec to the API's database. */

type NovaCx = Cx<NovaObject>;

export const cellObject = (nova: string, cell: string): string => `${nova}-${cell}`;
const databaseSecret = (nova: string, cell: string): string => `${nova}-${cell}-database`;
const busSecret = (nova: string, cell: string): string => `${nova}-${cell}-message-bus`;

export function cellDatabase(cx: NovaCx, { name, template }: Cell): Promise<Packed<DatabaseLink>> {
  const field = `spec.cellTemplates.${name}`;
  const database = databaseOf(cx.name, name);
  if (template.databaseSecret) return givenDatabase(cx, template.databaseSecret, `${field}.databaseSecret`, database);
  const instance = template.databaseInstance ?? cx.spec.databaseInstance;
  const from = template.databaseInstance ? `${field}.databaseInstance` : 'spec.databaseInstance';
  const order = { secret: databaseSecret(cx.name, name), instance, field: from, user: userOf(cx, name), part: name };
  return packDatabase(cx, order, database, hasSchema(cx, name));
}

/** The logins that are made for a cell. */
export const cellAccounts = (nova: string, { name, template }: Cell): readonly Account[] => [
  ...(template.databaseSecret ? [] : [{ target: 'database', secret: databaseSecret(nova, name) } as const]),
  ...(template.messageBusSecret || name === CELL0
    ? []
    : [{ target: 'message-bus', secret: busSecret(nova, name) } as const]),
];

/** Of servers that only some cell uses. */
export async function cellCas(cx: NovaCx): Promise<readonly (string | undefined)[]> {
  const cas = cellsOf(cx.spec).map(async ({ template: { databaseSecret, databaseInstance } }) => {
    if (databaseSecret) return (await cx.secretIfAny(databaseSecret))?.['ca.crt'];
    const server = databaseInstance === undefined ? undefined : cx.get(MariaDB, databaseInstance);
    return server && isReady(server) ? (await adminAddress(cx, server)).ca : undefined;
  });
  return cx.all(cas);
}

/** undefined where the spec names a Secret instead. */
function busOrder(cx: NovaCx, { name, template }: Cell): Order | undefined {
  if (template.messageBusSecret) return undefined;
  const instance = template.messageBusInstance ?? cx.spec.messageBusInstance;
  const field = template.messageBusInstance
    ? `spec.cellTemplates.${name}.messageBusInstance`
    : 'spec.messageBusInstance';
  return { secret: busSecret(cx.name, name), instance, field, user: userOf(cx, name), part: name };
}

/** cell0 shares the bus of the API: nothing listens in it but the super conductor. */
export async function cellBus(cx: NovaCx, cell: Cell, top: Packed<BusLink>): Promise<Packed<BusLink>> {
  if (cell.name === CELL0) return top;
  const order = busOrder(cx, cell);
  const field = `spec.cellTemplates.${cell.name}.messageBusSecret`;
  return order ? packBus(cx, order) : givenBus(cx, cell.template.messageBusSecret ?? '', field);
}

export async function registerCellBus(cx: NovaCx, cell: Cell, link: BusLink): Promise<void> {
  const order = busOrder(cx, cell);
  if (cell.name !== CELL0 && order) await registerBus(cx, order, link);
}

const conductorOf = (cx: NovaCx, cell: string): string => `${cellObject(cx.name, cell)}-conductor`;

function syncOf(cx: NovaCx, cell: string) {
  const conductor = cx.get(NovaConductor, conductorOf(cx, cell)) as DeepReadonly<AnyObject> | undefined;
  return conductor && conditionOf(conductor, 'DatabaseSyncReady');
}

/** Whether the conductor has made the schema of the database that it was last given; that of cell0 makes the API's too. */
export const hasSchema = (cx: NovaCx, cell: string): boolean => syncOf(cx, cell)?.status === 'True';

/** The conductor makes the schema; nothing can be mapped before. */
function afterSchema(cx: NovaCx, cell: string): void {
  const name = conductorOf(cx, cell);
  if (hasSchema(cx, cell)) return;
  const conductor = cx.get(NovaConductor, name) as DeepReadonly<AnyObject> | undefined;
  // Its reason stays one by which the cell is on its way, or is not, until the conductor itself is asked.
  if (conductor) throw wait({ ...notReady(conductor, 'DatabaseSyncReady').unmet, reason: 'NotReady' });
  const about = subjectOf(NovaConductor, name);
  throw wait({
    reason: 'NotReady',
    about,
    waitsFor: about,
    what: `Waiting for NovaConductor ${name}`,
    who: 'Operator',
  });
}

/** Names a mapping by what is in it, so that a new password is a new mapping. */
export const mappingHash = (api: DatabaseLink, cell: DatabaseLink, bus: BusLink): string =>
  shortHash(databaseUrl(cell), busUrl(bus), cell.incarnation, api.host, api.port, api.database, api.incarnation);

interface Manage {
  readonly process: Process;
  readonly config: Config;
}

const configName = (nova: string, cell: string): string => `${nova}-${cell}-manage-config-data`;
const scriptsName = (nova: string, cell: string): string => `${nova}-${cell}-manage-scripts`;

const processOf = (
  cx: NovaCx,
  cell: string,
  step: string,
  argv: readonly string[],
  trusted: Trust | undefined,
): Process => {
  const { release, images, imageRegistry } = cx.spec;
  return {
    name: step,
    image: imageOf('nova-conductor', { release, images, imageRegistry }, cx.env),
    user: NOVA.user,
    userName: NOVA.name,
    argv,
    volumes: [
      {
        name: 'scripts',
        mountPath: SCRIPTS,
        readOnly: true,
        secret: { secretName: scriptsName(cx.name, cell), defaultMode: 0o440 },
      },
      ...tlsVolumes(trusted),
    ],
    scratch: ['/var/lib/nova'],
  };
};

/** Config and scripts of the Jobs that map and unmap the cell. Not copies: a new content comes with a new Job. */
async function manageSecrets(cx: NovaCx, cell: string, files: readonly ConfigFile[]): Promise<void> {
  const text = (list: readonly ConfigFile[]) => encoded(Object.fromEntries(list.map(f => [f.key, f.text])));
  await cx.all([
    cx.apply(Secret, { metadata: { name: configName(cx.name, cell) }, type: 'Opaque', data: text(files) }),
    cx.apply(Secret, { metadata: { name: scriptsName(cx.name, cell) }, type: 'Opaque', data: text(manageScripts) }),
  ]);
}

const configOf = (cx: NovaCx, cell: string, hash: string, starts: readonly ConfigFile[]): Config => ({
  secret: configName(cx.name, cell),
  hash,
  files: [
    { key: '01-nova.conf', path: '/etc/nova/nova.conf.d/01-nova.conf' },
    ...starts.map(({ key, path }) => ({ key, path })),
  ],
});

/** Nova itself has no pods, so what else it says of pods is not about its Jobs. */
const jobBlock = ({ spec: { podProfile, imagePullSecrets } }: NovaCx): PodBlock => ({
  podProfile,
  ...(imagePullSecrets && { imagePullSecrets }),
});

const runManage = (
  cx: NovaCx,
  { process, config }: Manage,
  inputs: readonly unknown[],
  secret: boolean,
): Promise<void> =>
  runJob(cx, { process: { ...process, requests: AWAITED }, config, block: jobBlock(cx), inputs, secret });

/** Maps the cell, or corrects its mapping. Gives the hash of what was mapped. */
export async function mapCell(
  cx: NovaCx,
  cell: string,
  links: { readonly api: DatabaseLink; readonly cell: DatabaseLink; readonly bus: BusLink },
  trusted: Trust | undefined,
): Promise<string> {
  const ensure = processOf(cx, cell, `${cell}-map`, ensureCell(cell), trusted);
  const unmap = processOf(cx, cell, `${cell}-unmap`, deleteCell(cell), trusted);
  const conf = generatedFile(manageConf(links));
  const check = processOf(cx, cell, `${cell}-check`, checkCell(cell), trusted);
  const cleaning = processOf(cx, cell, `${cell}-housekeeping`, cleaningArgv(cleaningCell, cx.spec), trusted);
  const starts = [ensure, unmap, check, cleaning].map(process => kollaStart(process, [conf]));
  await manageSecrets(cx, cell, [conf, ...starts]);
  // That of cell0 comes with the API's, which the mapping is written to.
  for (const made of new Set([CELL0, cell])) afterSchema(cx, made);
  const hash = mappingHash(links.api, links.cell, links.bus);
  await runManage(cx, { process: ensure, config: configOf(cx, cell, hash, starts) }, [hash], true);
  return hash;
}

/** Archives and purges what was deleted in the cell's database, and the cell's mappings of it. */
export async function cleanCell(cx: NovaCx, cell: string, trusted: Trust | undefined): Promise<void> {
  const process = processOf(cx, cell, `${cell}-housekeeping`, cleaningArgv(cleaningCell, cx.spec), trusted);
  const selector = podLabels('Nova', cx.name, process.name);
  const config = configOf(cx, cell, '', [kollaStart(process, [])]);
  const pod = podSpec(jobBlock(cx), process, config, selector);
  await keepClean(cx, cleanerOf(cx, cell), selector, pod);
}

const cleanerOf = (cx: NovaCx, cell: string): string => `${cellObject(cx.name, cell)}-housekeeping`;

/**
 * A cell that cannot be used just now, because its bus or database restarts, keeps its CronJob: pruned with it would go
 * a run that is under way, and what is known of the last one.
 */
export function spareCleaner(cx: NovaCx, cell: string): void {
  const found = cx.get(CronJob, cleanerOf(cx, cell));
  if (found) cx.keep(found);
}

/** Whether it may still be mapped: its way into the API's database is there until it is not. */
export const isMapped = (cx: NovaCx, cell: string): boolean => cx.get(Secret, configName(cx.name, cell)) !== undefined;

/** The cell's computes that run in pods. */
const computePods = (cx: NovaCx, cell: string) =>
  cx.places
    .flatMap(place => place.list(Pod, { 'app.kubernetes.io/name': NovaCompute.kind.toLowerCase() }))
    .filter(pod => pod.metadata.labels?.['app.kubernetes.io/instance']?.startsWith(`${cellObject(cx.name, cell)}-`));

/** The processes that must report from there, once their pods are ready. */
export const computesOf = (cx: NovaCx, cell: string): readonly Expected[] =>
  computePods(cx, cell).flatMap(pod => {
    const host = computeHost(pod);
    const ready = conditionOf(pod, 'Ready')?.status === 'True' && !pod.metadata.deletionTimestamp;
    return host !== undefined && ready ? [{ binary: 'nova-compute', host, pod: pod.metadata.name }] : [];
  });

/** Names under which the cell's computes in pods may be known as hosts. */
function ownHosts(cx: NovaCx, cell: string): string {
  const names = computePods(cx, cell).flatMap(({ metadata, spec }) => [
    metadata.name,
    metadata.labels?.['app.kubernetes.io/instance'] ?? '',
    (spec as { nodeName?: string }).nodeName ?? '',
  ]);
  return [...new Set(names)]
    .filter(name => name !== '')
    .sort()
    .join(' ');
}

/**
 * Takes a cell out. A first Job refuses while servers or foreign hosts are in it; then its processes go, and only then
 * its mapping, without which Nova would not find what they still do. Its database stays: an edit deletes no data. When Nova
 * itself goes, the mappings go or stay with the API's database.
 */
export async function leaveCell(cx: NovaCx, cell: string): Promise<void> {
  const going = cx.object.metadata.deletionTimestamp !== undefined;
  if (!going && isMapped(cx, cell)) {
    const bundle = await cx.secretIfAny(bundleSecret(cx.name));
    const trusted = bundle && { secret: bundleSecret(cx.name), text: '' };
    const { incarnation } = (await cx.secretIfAny(databaseSecret(cx.name, cell))) ?? {};
    const run = (process: Process): Promise<void> =>
      runManage(
        cx,
        { process, config: configOf(cx, cell, process.name, [kollaStart(process, [])]) },
        [incarnation],
        false,
      );
    const object = cx.get(NovaCell, cellObject(cx.name, cell));
    const env = [{ name: 'OWN_HOSTS', value: ownHosts(cx, cell) }];
    // Once the processes go it has passed, and their hosts would look like those of others.
    if (object && !object.metadata.deletionTimestamp)
      await run({ ...processOf(cx, cell, `${cell}-check`, checkCell(cell), trusted), env });
    await cx.remove(NovaCell, cellObject(cx.name, cell));
    await run(processOf(cx, cell, `${cell}-unmap`, deleteCell(cell), trusted));
  }
  await cx.remove(NovaCell, cellObject(cx.name, cell));
  await cx.all([
    dropDatabase(cx, databaseSecret(cx.name, cell), cell, databaseOf(cx.name, cell)),
    dropBus(cx, busSecret(cx.name, cell), cell),
  ]);
}
