import type { NovaAPI } from '../../../api/nova/api.ts';
import type { NovaCell } from '../../../api/nova/cell.ts';
import type { NovaMetadata } from '../../../api/nova/metadata.ts';
import type { NovaScheduler } from '../../../api/nova/scheduler.ts';
import type { Nova } from '../../../api/openstack/nova.ts';
import type { InputOf, ObjectOf, SpecOf } from '../../../api/schema/kind.ts';
import type { DeepReadonly } from '../../kube/object.ts';
import { stall, type Unmet } from '../../runtime/plan/unmet.ts';
import { START } from '../config/config.ts';
import { hostBeside, prefixOf } from '../exposure/ingress.ts';
import { IMAGES } from '../images.ts';
import { databaseNameOf } from '../names.ts';
import { withoutContainers } from '../pods/override.ts';
import { BLOCK } from '../pods/workload.ts';

/** What a Nova asks for, as pure functions of its spec. */

export type NovaObject = ObjectOf<typeof Nova>;
export type NovaSpec = SpecOf<typeof Nova>;
type Spec = DeepReadonly<NovaSpec>;
type Template = NonNullable<Spec['apiServiceTemplate']>;
export type CellTemplate = NonNullable<Spec['cellTemplates']>[string];

/** The cell of what never reached a host, and of the super conductor. It has no bus of its own. */
export const CELL0 = 'cell0';

/** Absent or empty means what most want first: one cell, on the labelled nodes of this cluster. */
const DEFAULT_CELLS: Readonly<Record<string, CellTemplate>> = {
  [CELL0]: {},
  cell1: { novaComputeTemplates: { libvirt: { computeDriver: 'libvirt' } } },
};

export const notInCell0 = (why: string): Unmet =>
  stall({
    reason: 'CellWithoutHosts',
    field: 'spec.cellName',
    what: `spec.cellName is cell0, and ${why}`,
    who: 'User',
    next: 'name another cell',
  });

export interface Cell {
  readonly name: string;
  readonly template: CellTemplate;
}

/** cell0 is always there, also when the user only wrote the others. */
export function cellsOf(spec: Spec): readonly Cell[] {
  const given = spec.cellTemplates ?? {};
  const cells = Object.keys(given).length > 0 ? { [CELL0]: {}, ...given } : DEFAULT_CELLS;
  return Object.entries(cells).map(([name, template]) => ({ name, template }));
}

const perCell = (spec: Spec): readonly string[] =>
  cellsOf(spec)
    .filter(cell => cell.template.metadataServiceTemplate?.enabled === true)
    .map(cell => cell.name);

/** Whether one metadata service serves all cells. */
export const globalMetadata = (spec: Spec): boolean =>
  spec.metadataServiceTemplate?.enabled ?? perCell(spec).length === 0;

export interface Problem {
  readonly reason: string;
  readonly field: string;
  readonly what: string;
  readonly next: string;
}

/** Names of parts of Nova: a cell of that name would share their Secrets. */
const TAKEN = ['api', 'scheduler', 'metadata', 'spare'];

/** Why a spec can't be carried out, or undefined. */
export function problemOf(spec: Spec): Problem | undefined {
  const cells = cellsOf(spec);
  const taken = cells.find(cell => TAKEN.includes(cell.name));
  if (taken)
    return {
      reason: 'CellNameTaken',
      field: `spec.cellTemplates.${taken.name}`,
      what: `spec.cellTemplates.${taken.name} has the name of a part of Nova`,
      next: 'give the cell another name',
    };
  const [first] = perCell(spec);
  if (spec.metadataServiceTemplate?.enabled === true && first !== undefined)
    return {
      reason: 'MetadataConflict',
      field: 'spec.metadataServiceTemplate',
      what: `spec.metadataServiceTemplate and spec.cellTemplates.${first}.metadataServiceTemplate are both enabled`,
      next: 'disable one: metadata is served for all cells or by each',
    };
  const computes = cells.find(cell => cell.name === CELL0 && cell.template.novaComputeTemplates);
  if (computes)
    return {
      reason: 'CellWithoutHosts',
      field: 'spec.cellTemplates.cell0.novaComputeTemplates',
      what: 'spec.cellTemplates.cell0.novaComputeTemplates is set, and no host can be in cell0',
      next: 'move them to another cell',
    };
  return sharedSecret(cells, 'databaseSecret', spec.databaseSecret) ?? sharedSecret(cells, 'messageBusSecret');
}

/** Nova refuses two cells with one URL, after the second one was half made. */
function sharedSecret(
  cells: readonly Cell[],
  field: 'databaseSecret' | 'messageBusSecret',
  api?: string,
): Problem | undefined {
  const seen = new Map<string, string>(api === undefined ? [] : [[api, `spec.${field}`]]);
  for (const { name, template } of cells) {
    const secret = template[field];
    if (secret === undefined) continue;
    const other = seen.get(secret);
    const here = `spec.cellTemplates.${name}.${field}`;
    if (other)
      return {
        reason: 'CellsShare',
        field: here,
        what: `${here} and ${other} both name Secret ${secret}`,
        next: 'give each cell its own',
      };
    seen.set(secret, here);
  }
  return undefined;
}

export const databaseOf = (nova: string, part: string): string => databaseNameOf(`${nova}_${part}`);

/** Fields of Nova that its parts have too, where the user set them: the rest is each part's own (rule 4). */
const COMMON = ['release', 'podProfile', ...IMAGES, 'region'] as const;

const picked = <T extends object, K extends keyof T>(from: T, fields: readonly K[]): Partial<Pick<T, K>> =>
  Object.fromEntries(fields.filter(field => from[field] !== undefined).map(field => [field, from[field]])) as Partial<
    Pick<T, K>
  >;

/** Describes the layers of what answers HTTP. */
export const PASTE = 'api-paste.ini';

/** The parts that Nova's own settings are about, which of them have a Service, and which are put together by a paste file. */
const PARTS = {
  api: { service: true, paste: true },
  scheduler: { service: false, paste: false },
  conductor: { service: false, paste: false },
  metadata: { service: true, paste: true },
  novncproxy: { service: true, paste: false },
} as const;
type Part = keyof typeof PARTS;

/** What Nova's own override says to a part: nothing about containers of the others, nor about a Service it does not have. */
function overrideFor(part: Part, override: NonNullable<Spec['override']>): Template['override'] {
  // What else there is, each part refuses by name.
  const { podTemplate, service, ...rest } = override;
  const others = Object.keys(PARTS).filter(other => other !== part);
  return {
    ...rest,
    ...(podTemplate !== undefined && { podTemplate: withoutContainers(podTemplate, others.map(containerOf)) }),
    ...(service !== undefined && PARTS[part].service && { service }),
  };
}
const containerOf = (part: string): string => `nova-${part}`;

/** Files that Nova's own settings replace, without the one that a part does not read; any other each part refuses by name. */
function overwriteFor(part: Part, { [PASTE]: paste, [START]: start, ...rest }: Readonly<Record<string, string>>) {
  return {
    ...rest,
    ...(paste !== undefined && PARTS[part].paste && { [PASTE]: paste }),
    // As with the image: the main container of Nova is that of its API.
    ...(start !== undefined && part === 'api' && { [START]: start }),
  };
}

/** A template completed by what Nova says for all of its pods. The texts are not: each part reads its owners' itself. */
function complete(spec: Spec, part: Part, template: Partial<Template> = {}): Partial<Template> {
  const override = { ...overrideFor(part, spec.override ?? {}), ...template.override };
  const secrets = [...(spec.customServiceConfigSecrets ?? []), ...(template.customServiceConfigSecrets ?? [])];
  const overwrite = { ...overwriteFor(part, spec.defaultConfigOverwrite ?? {}), ...template.defaultConfigOverwrite };
  return {
    ...picked(spec, BLOCK),
    replicas: spec.replicas,
    ...template,
    ...(Object.keys(override).length > 0 && { override }),
    ...(secrets.length > 0 && { customServiceConfigSecrets: secrets }),
    ...(Object.keys(overwrite).length > 0 && { defaultConfigOverwrite: overwrite }),
  };
}

const withoutFlag = <T extends { readonly enabled?: boolean }>(template: T | undefined): Omit<T, 'enabled'> => {
  const { enabled: _enabled, ...rest } = template ?? ({} as T);
  return rest;
};

/** Names of the Secrets that hold the links. */
export interface Links {
  readonly api: string;
  readonly cell: string;
  readonly bus: string;
  readonly keystone: string;
  readonly mappings: string;
  readonly metadata: string;
  readonly cache: { readonly memcachedServers: string[]; readonly memcachedSecret?: string };
}

/** A part that serves nobody only has to know whom to trust. */
export const trustOnly = ({ tls }: { readonly tls?: { readonly caBundleSecretName?: string } }): object =>
  tls?.caBundleSecretName === undefined ? {} : { tls: { caBundleSecretName: tls.caBundleSecretName } };

/** A part that nobody calls from outside. */
export function inner({ tls }: { readonly tls?: object }): object {
  const { publicSecretName: _public, ...own } = (tls ?? {}) as { readonly publicSecretName?: string };
  return tls === undefined ? {} : { tls: own };
}

const linkFields = (links: Links) => ({
  apiDatabaseSecret: links.api,
  cellDatabaseSecret: links.cell,
  messageBusSecret: links.bus,
  keystoneSecret: links.keystone,
  ...links.cache,
  cellMappingsSecret: links.mappings,
});

export const apiSpec = (spec: Spec, links: Links) =>
  ({
    ...picked(spec, [...COMMON, 'image', 'publicURL', 'ingress', 'tls']),
    ...complete(spec, 'api', spec.apiServiceTemplate),
    ...linkFields(links),
  }) as Partial<InputOf<typeof NovaAPI>>;

export const schedulerSpec = (spec: Spec, links: Links) =>
  ({
    ...picked(spec, [...COMMON, 'discoverHostsIntervalSeconds']),
    ...trustOnly(spec),
    ...complete(spec, 'scheduler', spec.schedulerServiceTemplate),
    ...linkFields(links),
  }) as Partial<InputOf<typeof NovaScheduler>>;

export const metadataSpec = (spec: Spec, links: Links) =>
  ({
    ...picked(spec, COMMON),
    ...inner(spec),
    ...complete(spec, 'metadata', withoutFlag(spec.metadataServiceTemplate)),
    ...linkFields(links),
    metadataSecret: links.metadata,
  }) as Partial<InputOf<typeof NovaMetadata>>;

/**
 * Where the API is published, consoles are: `nova-cell1-novncproxy.<domain>` beside `nova.<domain>`. Their page opens its
 * stream at the root of its host, so they never share one.
 */
function publishedConsole(spec: Spec, cell: string, own: Console = {}): Console {
  // Who says how else they are reached, says so instead.
  if (spec.ingress?.hostname === undefined || own.publicURL !== undefined || own.expose !== undefined) return {};
  const { path: _path, hostname, ...how } = spec.ingress;
  const name = `${cell}-novncproxy`;
  const host = hostBeside(sharesHost(spec) ? `nova.${hostname}` : hostname, name);
  return { ingress: { ...how, hostname: host, ...own.ingress } };
}
type Console = NonNullable<Cell['template']['noVNCProxyServiceTemplate']>;

/** With other APIs, under a path. */
const sharesHost = (spec: Spec): boolean => prefixOf(spec) !== '';

/** cell0 gets the API's database for its super conductor, and nobody else does. */
export function cellSpec(spec: Spec, cell: Cell, links: Links): Partial<InputOf<typeof NovaCell>> {
  const {
    databaseInstance: _d,
    messageBusInstance: _m,
    databaseSecret: _ds,
    messageBusSecret: _ms,
    ...own
  } = cell.template;
  const { apiDatabaseSecret, cellMappingsSecret, ...fields } = linkFields(links);
  return {
    ...picked(spec, [...COMMON, 'virtType', 'ephemeralStorage', 'cephStorage', 'nodeNamespace']),
    // The certificate of a host that APIs share does not name that of a console.
    ...(sharesHost(spec) ? inner(spec) : picked(spec, ['tls'])),
    ...own,
    cellName: cell.name,
    ...fields,
    ...(cell.name === CELL0 && { apiDatabaseSecret, cellMappingsSecret }),
    metadataSecret: links.metadata,
    conductorServiceTemplate: complete(spec, 'conductor', own.conductorServiceTemplate),
    noVNCProxyServiceTemplate: {
      ...complete(spec, 'novncproxy', own.noVNCProxyServiceTemplate),
      ...publishedConsole(spec, cell.name, own.noVNCProxyServiceTemplate),
    },
    ...(own.metadataServiceTemplate && {
      metadataServiceTemplate: complete(spec, 'metadata', own.metadataServiceTemplate),
    }),
  } as Partial<InputOf<typeof NovaCell>>;
}
