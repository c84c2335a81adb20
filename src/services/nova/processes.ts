import { NovaAPI } from '../../../api/nova/api.ts';
import { NovaConductor } from '../../../api/nova/conductor.ts';
import { NovaMetadata } from '../../../api/nova/metadata.ts';
import { NovaNoVNCProxy } from '../../../api/nova/novncproxy.ts';
import { NovaScheduler } from '../../../api/nova/scheduler.ts';
import { Glance } from '../../../api/openstack/glance.ts';
import { Neutron } from '../../../api/openstack/neutron.ts';
import { Placement } from '../../../api/openstack/placement.ts';
import type { SpecOf } from '../../../api/schema/kind.ts';
import { Deployment, Secret, StatefulSet } from '../../kube/resource.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import { fieldMissing, subjectOf, wait } from '../../runtime/plan/unmet.ts';
import type { ConfigFile } from '../config/config.ts';
import { hostsCanReachRow } from '../hosts.ts';
import type { DatabaseLink } from '../links/types.ts';
import { podLabels, workloadName } from '../names.ts';
import { UNTIL_HEARD } from '../pods/pod.ts';
import { daemon, uwsgi, type Workload } from '../pods/workload.ts';
import { linkedService, neighbours } from '../standard/service.ts';
import {
  API_PORT,
  apiConf,
  CONSOLE_PAGE,
  CONSOLE_PORT,
  conductorConf,
  consoleConf,
  METADATA_PORT,
  metadataConf,
  STATE,
  schedulerConf,
} from './config.ts';
import { SCRIPTS, SYNC, syncScript } from './manage.ts';
import { cellsText, MAPPED_CELLS, sharedSecret } from './secrets.ts';
import { CELL0, notInCell0, PASTE } from './spec.ts';

/*
 * Who may see which database and which bus is Nova's trust model, and the table below is where it stands
 * (openstack-facts 10): a cell's processes never see the API's database, a console proxy only its cell's.
 */
/** Whom the first pods of some wait for. */
const NEIGHBOURS = [Placement, Glance, Neutron] as const;
export const NOVA = { name: 'nova', user: 42436, reads: NEIGHBOURS } as const;
const apiDb = { section: 'api_database' } as const;
const cellDb = { section: 'database' } as const;
const both = { api: 'apiDatabaseSecret', cell: 'cellDatabaseSecret' } as const;
export const links = { bus: 'messageBusSecret', identity: 'keystoneSecret' } as const;

/** 2026.1 waits up to 180 s for what is running; then it is killed. */
export const GRACE_SECONDS = 210;

/** Under uwsgi nova.conf is asked for by name and need not exist, unless it is left out; the .d folder is read anyhow. */
const wsgi = {
  as: StatefulSet,
  scratch: [STATE],
  env: () => [{ name: 'OS_NOVA_CONFIG_FILES', value: PASTE }],
};

const OVERWRITES = ['policy.yaml', PASTE];

interface Mapped {
  readonly cellMappingsSecret?: string;
}

/** What the pods know of cells: read at their start and never again, so a change must restart them (lab.md 5, trap 4). */
async function mappings<O extends Managed>(cx: Cx<O>): Promise<Readonly<Record<string, string>> | undefined> {
  const { cellMappingsSecret } = cx.spec as Mapped;
  return cellMappingsSecret === undefined ? undefined : cx.secretIfAny(cellMappingsSecret);
}

/** In the config, so that its hash, and with it the pods, follow the cells. */
const cellsFile = (cells: Readonly<Record<string, string>> | undefined): readonly ConfigFile[] =>
  cells === undefined ? [] : [{ key: MAPPED_CELLS, path: `${SCRIPTS}/${MAPPED_CELLS}`, text: cellsText(cells) }];

/** A conductor whose row went with its database reports to nobody until it is started again. */
const madeFile = (database: DatabaseLink | undefined): readonly ConfigFile[] =>
  database?.incarnation === undefined
    ? []
    : [{ key: 'database-made', path: `${SCRIPTS}/database-made`, text: `${database.incarnation}\n` }];

/**
 * What must be there before the first pod starts. Conductor and scheduler end when Placement does not answer, and a
 * conductor without cells or users hangs without a word (lab.md 5, traps 2 and 3).
 */
async function start<O extends Managed>(cx: Cx<O>): Promise<void> {
  const { cellMappingsSecret } = cx.spec as Mapped;
  if (cellMappingsSecret !== undefined && (await mappings(cx)) === undefined)
    throw wait({
      reason: 'CellsNotMapped',
      about: subjectOf(Secret, cellMappingsSecret),
      what: `Secret ${cellMappingsSecret}, named in spec.cellMappingsSecret, does not exist: no cell is mapped yet`,
      who: 'Operator',
      next: 'map cell0',
    });
  neighbours(...NEIGHBOURS)(cx);
}

export const novaApi = linkedService(
  NovaAPI,
  {
    ...NOVA,
    image: 'nova-api',
    databases: { api: apiDb, cell: cellDb },
    catalog: { type: 'compute', path: '/v2.1', check: '/os-services' },
    pods: {
      api: uwsgi({ service: 'nova', port: API_PORT, module: 'nova.wsgi.osapi_compute:application', health: '/' }, wsgi),
    },
    input: cx => mappings(cx),
    after: start,
    config: apiConf,
    files: x => cellsFile(x.input),
    overwrites: OVERWRITES,
  },
  { databases: both, ...links },
);

export const novaScheduler = linkedService(
  NovaScheduler,
  {
    ...NOVA,
    image: 'nova-scheduler',
    databases: { api: apiDb, cell: cellDb },
    pods: { scheduler: daemon('nova-scheduler', { scratch: [STATE], graceSeconds: GRACE_SECONDS }) },
    input: cx => mappings(cx),
    after: start,
    config: x => schedulerConf(x, x.spec.discoverHostsIntervalSeconds),
    files: x => cellsFile(x.input),
  },
  { databases: both, ...links },
);

/** With the API's database it is the super conductor, which serves all cells; without, it is that of one cell. */
export const novaConductor = linkedService(
  NovaConductor,
  {
    ...NOVA,
    image: 'nova-conductor',
    databases: { cell: { ...cellDb, sync: SYNC }, api: apiDb },
    pods: { conductor: daemon('nova-conductor', { scratch: [STATE], graceSeconds: GRACE_SECONDS }) },
    input: cx => {
      if (cx.spec.cellName === CELL0 && !cx.spec.apiDatabaseSecret)
        throw fieldMissing(
          'spec.apiDatabaseSecret',
          'spec.apiDatabaseSecret is not set, and the conductor of cell0 serves all cells',
          'name a Secret in it',
        );
      return mappings(cx);
    },
    after: start,
    config: conductorConf,
    files: x => [syncScript(x.databases.api !== undefined), ...cellsFile(x.input), ...madeFile(x.databases.cell)],
  },
  { databases: both, optional: ['api'], ...links },
);

const reachedAt = <O extends Managed>(component: string, port: number) =>
  hostsCanReachRow<O>(cx => ({
    service: workloadName(cx.name, component),
    port,
    selector: podLabels(cx.object.kind, cx.name, component),
  }));

export const novaMetadata = linkedService(
  NovaMetadata,
  {
    ...NOVA,
    image: 'nova-api',
    databases: { api: apiDb, cell: cellDb },
    pods: {
      metadata: uwsgi(
        { service: 'nova', port: METADATA_PORT, module: 'nova.wsgi.metadata:application', health: '/' },
        wsgi,
      ),
    },
    input: async cx => ({ secret: await sharedSecret(cx, cx.spec.metadataSecret), cells: await mappings(cx) }),
    after: start,
    overwrites: OVERWRITES,
    config: x => metadataConf(x, x.input.secret, x.spec.cellName !== undefined),
    files: x => cellsFile(x.input.cells),
  },
  // Of one cell, it must not see the API's database.
  { databases: both, optional: ['api'], ...links },
  () => ({ hostsCanReach: reachedAt('metadata', METADATA_PORT) }),
);

const consoleProxy: Workload<SpecOf<typeof NovaNoVNCProxy>> = {
  as: Deployment,
  argv: ['nova-novncproxy', '--web', '/usr/share/novnc'],
  ports: { console: CONSOLE_PORT },
  startup: { tcpSocket: { port: CONSOLE_PORT }, periodSeconds: 2, failureThreshold: 150 },
  readiness: { tcpSocket: { port: CONSOLE_PORT }, periodSeconds: 10 },
  liveness: { tcpSocket: { port: CONSOLE_PORT }, periodSeconds: 30, failureThreshold: 4 },
  scratch: [STATE],
  graceSeconds: 30,
  drain: { seconds: UNTIL_HEARD },
  // The same process: how it listens stands in its config.
  overTls: () => consoleProxy,
};

export const novaNoVNCProxy = linkedService(
  NovaNoVNCProxy,
  {
    ...NOVA,
    image: 'nova-novncproxy',
    databases: { cell: cellDb },
    front: { component: 'novncproxy', page: CONSOLE_PAGE },
    pods: { novncproxy: consoleProxy },
    input: async cx => {
      if (cx.spec.cellName === CELL0) throw notInCell0('nothing in cell0 has a console');
    },
    config: consoleConf,
  },
  { databases: { cell: 'cellDatabaseSecret' }, ...links },
  () => ({ hostsCanReach: reachedAt('novncproxy', CONSOLE_PORT) }),
);
