import { groupId } from './model.ts';
import type { Option, Schema, Shape } from './options.ts';
import { assignments, type Document } from './parse.ts';
import { strip } from './python.ts';

/** What a section of a document may hold: options by name, or anything because nobody can know. */
export type Allowed = { readonly options: ReadonlyMap<string, Option> } | 'anything';

const text: Shape = { t: 'str' };
const hidden: Shape = { t: 'str', secret: true };

/**
 * Options that keystoneauth registers when it loads the plug-in named by auth_type, so no sample file has them all:
 * the union over the plug-ins, session and adapter of keystoneauth1 5.x.
 */
const authOptions: Readonly<Record<string, Shape>> = {
  ...all(
    text,
    'access_token_endpoint access_token_type application_credential_id application_credential_name auth_methods auth_url',
    'client_id code_challenge_method default_domain_id default_domain_name device_authorization_endpoint',
    'discovery_endpoint domain_id domain_name endpoint identity_provider oauth2_client_id oauth2_endpoint',
    'project_domain_id project_domain_name project_id project_name protocol redirect_host redirect_port redirect_uri scope',
    'system_scope trust_id user_domain_id user_domain_name user_id username user_name tenant_id tenant_name',
    'auth_section auth_type cafile certfile keyfile tls_ciphers tls_min_version',
    'endpoint_override interface valid_interfaces max_version min_version region_name service_name service_type version',
    'retriable_status_codes',
  ),
  ...all(
    hidden,
    'access_token application_credential_secret client_secret code idp_otp_key oauth2_client_secret passcode password token',
  ),
  ...all({ t: 'bool' }, 'collect_timing insecure split_loggers'),
  ...all({ t: 'int' }, 'timeout login_timeout connect_retries status_code_retries'),
  ...all({ t: 'float' }, 'connect_retry_delay status_code_retry_delay'),
};

function all(shape: Shape, ...names: string[]): Record<string, Shape> {
  return Object.fromEntries(names.flatMap(line => line.split(' ')).map(name => [name, shape]));
}

/** Sections that load keystoneauth plug-ins without an auth_type in the tables. */
const authSections = new Set([
  'keystone_authtoken',
  'service_user',
  'oslo_limit',
  'trustee',
  'service_auth',
  'keystone',
]);

/** Sections of Neutron plug-ins that are packaged elsewhere: vpnaas, fwaas, dynamic routing, bgpvpn, sfc. */
const pluginSections = new Set([
  'vpnagent',
  'ipsec',
  'strongswan',
  'libreswan',
  'fwaas',
  'bgp',
  'bgpvpn',
  'sfc',
  'taas',
]);

/** Sections of privsep daemons: each has the options of [privsep], and is registered when its code is loaded. */
const privsepSections = new Set([
  'cinder_sys_admin',
  'nova_sys_admin',
  'privsep_conntrack',
  'privsep_dhcp_release',
  'privsep_link',
  'privsep_namespace',
  'privsep_osbrick',
  'privsep_ovs_vsctl',
  'vif_plug_linux_bridge_privileged',
  'vif_plug_ovs_privileged',
]);

export function isAuthSection(schema: Schema, section: string): boolean {
  return authSections.has(groupId(section)) || schema.option(section, 'auth_type') !== undefined;
}

/** What a document says about its own sections, gathered once: a hostile text may have a hundred thousand of them. */
export interface Outline {
  readonly keysOf: ReadonlyMap<string, ReadonlySet<string>>;
  /** Items of list options that name sections: enabled_backends, fc_fabric_names, config_source, auth_section. */
  readonly named: ReadonlyMap<string, ReadonlySet<string>>;
}

const naming = new Set(['enabled_backends', 'fc_fabric_names', 'config_source', 'auth_section']);

export function outline(document: Document): Outline {
  const keysOf = new Map<string, Set<string>>();
  const named = new Map<string, Set<string>>();
  const add = (map: Map<string, Set<string>>, name: string, item: string) => {
    const set = map.get(name) ?? new Set<string>();
    map.set(name, set.add(item));
  };
  for (const { section, key, value } of assignments(document)) {
    add(keysOf, section, key);
    if (naming.has(key)) for (const item of value.split(',')) add(named, key, item.split(':').map(strip).join(':'));
  }
  return { keysOf, named };
}

/** Undefined: no program that reads this text knows such a section. */
export function allowedIn(section: string, { keysOf, named }: Outline, schema: Schema): Allowed | undefined {
  const known = schema.section(section);
  if (known) return { options: isAuthSection(schema, section) ? withAuth(known, section) : known };
  if (named.get('auth_section')?.has(section)) return { options: withAuth(new Map(), section) };
  if (named.get('config_source')?.has(section)) return 'anything';
  if (privsepSections.has(groupId(section))) return { options: union(schema, ['privsep']) };
  const own = keysOf.get(section) ?? new Set<string>();
  if (schema.files.includes('cinder')) {
    const backend = cinderSection(section, own, named, schema);
    if (backend) return { options: backend };
  }
  if (schema.files.includes('glance-api')) {
    const store = glanceSection(section, own, named.get('enabled_backends') ?? new Set(), schema);
    if (store) return { options: store };
  }
  if (schema.files.includes('neutron') && pluginSections.has(groupId(section))) return 'anything';
  return undefined;
}

function withAuth(known: ReadonlyMap<string, Option>, section: string): ReadonlyMap<string, Option> {
  const options = new Map(Object.entries(authOptions).map(([name, shape]) => [name, { ...shape, section, name }]));
  return new Map<string, Option>([...options, ...known]);
}

/** A back end of cinder-volume has the options of [backend_defaults]; a fibre channel fabric those of its example. */
function cinderSection(
  section: string,
  own: ReadonlySet<string>,
  named: Outline['named'],
  schema: Schema,
): ReadonlyMap<string, Option> | undefined {
  const backend = schema.section('backend_defaults');
  // The list may stand in another layer; a section that sets a driver or its name can be nothing else.
  if (named.get('enabled_backends')?.has(section) || own.has('volume_driver') || own.has('volume_backend_name')) {
    return backend;
  }
  if (!named.get('fc_fabric_names')?.has(section)) return undefined;
  return union(schema, ['brcd_fabric_example', 'cisco_fabric_example']);
}

const stores: Readonly<Record<string, string>> = {
  file: 'file',
  filesystem: 'file',
  cinder: 'cinder',
  http: 'glance.store.http.store',
  rbd: 'glance.store.rbd.store',
  s3: 'glance.store.s3.store',
  swift: 'glance.store.swift.store',
  vmware: 'glance.store.vmware_datastore.store',
};

/** A store of Glance is `name:type` in enabled_backends; two reserved ones are files. */
function glanceSection(
  section: string,
  own: ReadonlySet<string>,
  enabled: ReadonlySet<string>,
  schema: Schema,
): ReadonlyMap<string, Option> | undefined {
  const stored = (type: string): ReadonlyMap<string, Option> => union(schema, [stores[type] ?? '', 'glance_store']);
  if (/^os_glance_\w+_store$/.test(section)) return stored('file');
  const type = Object.keys(stores).find(each => enabled.has(`${section}:${each}`));
  if (type !== undefined) return stored(type);
  // The list may stand in another layer: a section of nothing but store options is a store.
  const sections = [...Object.values(stores), 'glance_store'];
  const isStore = [...own].every(key => sections.some(name => schema.option(name, key)));
  return own.size > 0 && isStore ? union(schema, sections) : undefined;
}

function union(schema: Schema, sections: readonly string[]): ReadonlyMap<string, Option> {
  return new Map(sections.flatMap(section => [...(schema.section(section) ?? [])]));
}
