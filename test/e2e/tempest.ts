/** What Tempest must be told of a cloud that it did not make. */
export interface Judged {
  readonly folder: string;
  readonly keystone: string;
  readonly password: string;
  readonly region: string;
  /** File with the authority of the certificates. */
  readonly ca?: string;
  readonly catalog: ReadonlySet<string>;
  readonly images: readonly [string, string];
  readonly flavors: readonly [string, string];
  readonly publicNetwork: string;
  readonly extensions: readonly string[];
  /** cinder-backup runs. */
  readonly backup: boolean;
  /** Its URL, where there is one. */
  readonly dashboard?: string;
}

type Values = Readonly<Record<string, string | number | boolean | undefined>>;

function sections(x: Judged): Readonly<Record<string, Values>> {
  const has = (type: string): boolean => x.catalog.has(type);
  return {
    DEFAULT: { log_file: `${x.folder}/tempest.log` },
    oslo_concurrency: { lock_path: `${x.folder}/lock` },
    auth: {
      use_dynamic_credentials: true,
      admin_username: 'admin',
      admin_password: x.password,
      admin_project_name: 'admin',
      admin_domain_name: 'Default',
    },
    identity: {
      uri_v3: `${x.keystone}/v3`,
      auth_version: 'v3',
      region: x.region,
      v3_endpoint_type: 'public',
      ca_certificates_file: x.ca,
    },
    service_available: {
      glance: has('image'),
      nova: has('compute'),
      neutron: has('network'),
      cinder: has('block-storage'),
      heat: has('orchestration'),
      horizon: x.dashboard !== undefined,
      swift: has('object-store'),
    },
    compute: {
      image_ref: x.images[0],
      image_ref_alt: x.images[1],
      flavor_ref: x.flavors[0],
      flavor_ref_alt: x.flavors[1],
      fixed_network_name: 'private',
      build_timeout: 600,
      min_compute_nodes: 1,
    },
    'compute-feature-enabled': {
      // One host, so nothing moves.
      resize: false,
      cold_migration: false,
      live_migration: false,
      attach_encrypted_volume: false,
      vnc_console: true,
      console_output: true,
      config_drive: true,
      metadata_service: true,
    },
    dashboard: { dashboard_url: x.dashboard },
    network: {
      public_network_id: x.publicNetwork,
      floating_network_name: 'public',
      project_network_cidr: '10.100.0.0/16',
    },
    'network-feature-enabled': { api_extensions: x.extensions.join(','), ipv6: true, ipv6_subnet_attributes: true },
    validation: {
      run_validation: true,
      connect_method: 'floating',
      image_ssh_user: 'root',
      // The lab's guest reads keys that begin with ssh-.
      ssh_key_type: 'rsa',
      ssh_shell_prologue: 'set -eu;',
      ping_timeout: 300,
      ssh_timeout: 300,
      connect_timeout: 60,
    },
    volume: { catalog_type: 'block-storage', volume_size: 1, build_timeout: 600, storage_protocol: 'ceph' },
    'volume-feature-enabled': { backup: x.backup, snapshot: true, multi_backend: false },
  };
}

export const tempestConf = (x: Judged): string =>
  Object.entries(sections(x))
    .map(([name, values]) => {
      const lines = Object.entries(values).filter(([, value]) => value !== undefined);
      return `[${name}]\n${lines.map(([option, value]) => `${option} = ${value}\n`).join('')}`;
    })
    .join('\n');

export interface Verdict {
  readonly passed: number;
  readonly skipped: number;
  readonly failed: number;
}

/** The last lines of a run. */
export function verdictOf(output: string): Verdict {
  const count = (word: string): number => {
    const found = new RegExp(`^ - ${word}: (\\d+)`, 'm').exec(output)?.[1];
    if (found === undefined) throw new Error(`Tempest counted nothing: ${output.slice(-1500)}`);
    return Number(found);
  };
  return { passed: count('Passed'), skipped: count('Skipped'), failed: count('Failed') };
}

/** Lines of tests that were skipped or failed, as stestr prints them. */
export const linesOf = (output: string, word: 'SKIPPED' | 'FAILED'): string[] =>
  output.split('\n').filter(line => new RegExp(`\\.\\.\\. ${word}`).test(line));
