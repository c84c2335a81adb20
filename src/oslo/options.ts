import { groupId } from './model.ts';
import epoxy from './options/2025.1.json' with { type: 'json' };
import flamingo from './options/2025.2.json' with { type: 'json' };
import gazpacho from './options/2026.1.json' with { type: 'json' };

/** One option in a table file; lab/oslo/tables.ts describes the fields. */
export interface Shape {
  readonly t: string;
  readonly d?: unknown;
  readonly choices?: readonly (string | number | null)[];
  readonly min?: number;
  readonly max?: number;
  readonly secret?: boolean;
  readonly mutable?: boolean;
  readonly required?: boolean;
  readonly multi?: boolean;
  readonly dep?: boolean | string;
}

/** The files in src/oslo/options: `name=shape name=shape` per group, `old=group/name` per group. */
export interface PackedTable {
  readonly schema: number;
  readonly release: string;
  readonly shapes: Readonly<Record<string, Shape>>;
  readonly files: Readonly<
    Record<
      string,
      { readonly groups: Readonly<Record<string, string>>; readonly renamed: Readonly<Record<string, string>> }
    >
  >;
}

export interface Option extends Shape {
  readonly section: string;
  readonly name: string;
}

export interface Name {
  readonly section: string;
  readonly key: string;
}

/** Everything one program may find in its files: several tables laid over each other. */
export interface Schema {
  readonly release: string;
  readonly files: readonly string[];
  /** As the tables spell them. */
  readonly sections: readonly string[];
  /** Options of a section by name; undefined if the section is in no table. */
  section(name: string): ReadonlyMap<string, Option> | undefined;
  option(section: string, key: string): Option | undefined;
  /** The current name of a deprecated one. A name that is still an option of its own was not renamed. */
  renamed(section: string, key: string): Name | undefined;
  /** What took the place of an option, also if it still exists. */
  successor(section: string, key: string): Name | undefined;
  multi(section: string, key: string): boolean;
}

const packed = new Map<string, PackedTable>([
  ['2025.1', epoxy],
  ['2025.2', flamingo],
  ['2026.1', gazpacho],
]);

export const releases: readonly string[] = [...packed.keys()];

/** Which generator files describe the text of a service. A service's own name works for the files as well. */
const filesOfService: Readonly<Record<string, readonly string[]>> = {
  glance: ['glance-api'],
  // neutron-server reads ml2_conf.ini beside neutron.conf, and both come from one customServiceConfig.
  neutron: ['neutron', 'ml2_conf'],
  'ovn-metadata-agent': ['neutron_ovn_metadata_agent'],
  'ovn-agent': ['ovn_agent'],
  // Agents read neutron.conf too: its bus, locks and logs.
  'neutron-l2': ['openvswitch_agent', 'neutron'],
  'neutron-l3': ['l3_agent', 'neutron'],
  'neutron-dhcp': ['dhcp_agent', 'neutron'],
  'neutron-metadata-agent': ['metadata_agent', 'neutron'],
};

/** The services that OpenStackControlPlane's own customServiceConfig reaches. */
const controlPlane = ['cinder', 'glance', 'heat', 'keystone', 'neutron', 'nova', 'placement'];

/**
 * Groups that a program registers without its sample file saying so, as [file, group] of the same release
 * (openstack-facts.md 16: known gaps of the generator's data).
 */
const borrowed: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  neutron_ovn_metadata_agent: [
    ['ml2_conf', 'ovn'],
    ['ovn_agent', 'ovn'],
    ['ovn_agent', 'agent'],
    ['neutron', 'agent'],
    ['neutron', 'oslo_concurrency'],
  ],
  ovn_agent: [
    ['openvswitch_agent', 'agent'],
    ['neutron', 'oslo_concurrency'],
  ],
};

interface Unlisted extends Option {
  readonly releases?: readonly string[];
}

/** On stable branches, of which images are built, and in no package of these series yet. */
const unreleased = {
  cinder: ['hitachi_manage_drs_volumes', 'hpexp_manage_drs_volumes', 'nec_v_manage_drs_volumes'],
  nova: ['images_address_space_limit', 'images_cpu_time_limit'],
};

/** Options that no package lists, by file. One that a table has as well fails the test. */
export const missing: Readonly<Record<string, readonly Unlisted[]>> = {
  cinder: [
    // cinder-volume registers it for each back end as it starts.
    { section: 'backend_defaults', name: 'backend_host', t: 'str' },
    ...unreleased.cinder.map(name => ({ section: 'backend_defaults', name, t: 'bool', releases: ['2025.2'] })),
  ],
  nova: unreleased.nova.map(name => ({ section: 'libvirt', name, t: 'int' })),
  placement: [{ section: 'workarounds', name: 'optimize_for_wide_provider_trees', t: 'bool', releases: ['2025.2'] }],
};

const cache = new Map<string, Schema>();

/**
 * The schema of a service ('nova'), of a file ('ml2_conf'), or of all that a control plane's text reaches
 * ('controlplane'). Undefined if the release or the service has no table. Tables are unpacked on first use.
 */
export function schemaOf(service: string, release: string): Schema | undefined {
  const id = `${release}/${service}`;
  const known = cache.get(id);
  if (known) return known;
  const table = packed.get(release);
  const wanted = service === 'controlplane' ? controlPlane : [service];
  const files = wanted.flatMap(name => filesOfService[name] ?? [name]).filter(file => table?.files[file]);
  if (!table || files.length === 0) return undefined;
  const schema = unpack(table, files);
  cache.set(id, schema);
  return schema;
}

export function unpack(table: PackedTable, files: readonly string[]): Schema {
  const groups = new Map<string, Map<string, Option>>();
  const names: string[] = [];
  const renames = new Map<string, Name>();
  const add = (section: string, name: string, shape: Shape | undefined) => {
    const group = groups.get(groupId(section)) ?? new Map<string, Option>();
    if (!groups.has(groupId(section))) names.push(section);
    groups.set(groupId(section), group);
    if (shape && !group.has(name)) group.set(name, { ...shape, section, name });
  };
  const addGroup = (file: string, section: string) => {
    for (const [name, id] of pairs(table.files[file]?.groups[section] ?? '')) add(section, name, table.shapes[id]);
  };
  for (const file of files) {
    for (const section of Object.keys(table.files[file]?.groups ?? {})) addGroup(file, section);
    for (const [from, section] of borrowed[file] ?? []) addGroup(from, section);
    for (const { releases: only, section, name, ...shape } of missing[file] ?? []) {
      if (only === undefined || only.includes(table.release)) add(section, name, shape);
    }
    for (const [section, text] of Object.entries(table.files[file]?.renamed ?? {})) {
      for (const [old, target] of pairs(text)) {
        const slash = target.lastIndexOf('/');
        renames.set(`${groupId(section)}/${old}`, { section: target.slice(0, slash), key: target.slice(slash + 1) });
      }
    }
  }
  const option = (section: string, key: string) => groups.get(groupId(section))?.get(key);
  const repeatable = (option: Option | undefined) => option?.t === 'multi' || option?.multi === true;
  // In a section of any name, a back end of Cinder or a store of Glance, an option is what it is where it is described.
  const anywhere = new Set(
    [...groups.values()].flatMap(group => [...group.values()].filter(repeatable)).map(o => o.name),
  );
  const successor = (section: string, key: string) => renames.get(`${groupId(section)}/${key}`);
  return {
    release: table.release,
    files,
    sections: names,
    section: name => groups.get(groupId(name)),
    option,
    renamed: (section, key) => (option(section, key) ? undefined : successor(section, key)),
    successor,
    multi: (section, key) => (groups.has(groupId(section)) ? repeatable(option(section, key)) : anywhere.has(key)),
  };
}

function pairs(text: string): [string, string][] {
  return text
    .split(' ')
    .filter(pair => pair !== '')
    .map(pair => {
      const equal = pair.indexOf('=');
      return [pair.slice(0, equal), pair.slice(equal + 1)];
    });
}
