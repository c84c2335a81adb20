import { isMap } from './pod.ts';

/** Which pods of an object have rights on the node, by its spec. */
export interface NodePods {
  /** Templates that are about them, as paths below spec; their own settings are, where there are none. */
  readonly templates: readonly string[];
  /** Containers of the object's other pods, of which its own settings may say anything. */
  readonly ordinary: readonly string[];
  /** The object has no other pods: its own image is theirs. */
  readonly alone: boolean;
}

type Fields = Readonly<Record<string, unknown>>;
const listOf = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.filter(isMap) : []);

/** By kind. A test holds it against the pods of every sample. */
const NODE_PODS: Readonly<Record<string, (spec: Fields) => NodePods | undefined>> = {
  NovaCompute: ({ computeDriver = 'libvirt' }) =>
    computeDriver === 'libvirt' ? { templates: [], ordinary: [], alone: true } : undefined,
  OVNNetwork: () => ({
    templates: ['controller', 'metadataAgent'],
    ordinary: ['ovn-nb', 'ovn-sb', 'ovn-northd'],
    alone: false,
  }),
  Neutron: ({ mechanism }) =>
    mechanism === 'ovs'
      ? {
          templates: ['l2', 'l3', 'dhcp', 'metadata'].map(name => `agentTemplates.${name}`),
          ordinary: ['neutron-api', 'neutron-periodic', 'neutron-rpc'],
          alone: false,
        }
      : undefined,
  Cinder: ({ backends, backup }) => {
    const all = listOf(backends);
    const { enabled, driver = 'ceph' } = isMap(backup) ? backup : {};
    const onNode = all.filter(({ type }) => type !== 'ceph');
    const copies = enabled === true && (onNode.length > 0 || driver === 'nfs');
    if (onNode.length === 0 && !copies) return undefined;
    const others = all.filter(({ type }) => type === 'ceph').map(({ name }) => `cinder-volume-${name}`);
    return {
      templates: [...onNode.map(({ name }) => `backends[name=${name}]`), ...(copies ? ['backup'] : [])],
      ordinary: ['cinder-api', 'cinder-scheduler', ...(copies ? [] : ['cinder-backup']), ...others],
      alone: false,
    };
  },
};

export const nodePodsOf = (kind: string, spec: Fields): NodePods | undefined =>
  Object.hasOwn(NODE_PODS, kind) ? NODE_PODS[kind]?.(spec) : undefined;

/** Kolla's names of the images that run with rights on the node; `images` may be written anywhere above. */
export const NODE_IMAGES: readonly string[] = [
  'cinder-backup',
  'cinder-volume',
  'neutron-dhcp-agent',
  'neutron-l3-agent',
  'neutron-metadata-agent',
  'neutron-openvswitch-agent',
  'neutron-ovn-agent',
  'nova-compute',
  'nova-libvirt',
  'openvswitch-db-server',
  'openvswitch-vswitchd',
  'ovn-controller',
];
