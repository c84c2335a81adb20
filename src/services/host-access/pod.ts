/** What a pod template, a volume or a Service that a user wrote may not ask for, because it reaches out of the pod. */

export interface Asked {
  /** Below the field that the user wrote, e.g. `.spec.containers[0].securityContext.privileged`; empty: the field itself. */
  readonly field: string;
  readonly what: string;
}

type Fields = Readonly<Record<string, unknown>>;
export const isMap = (value: unknown): value is Fields =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

/** Why a value is refused, wherever in a pod template the field stands; undefined: it may be. */
type Rule = (value: unknown) => string | undefined;

const asked =
  (what: string): Rule =>
  value =>
    value === false || value === null ? undefined : what;
/** null in an override takes our value away, and what Kubernetes then puts there is the opposite. */
const only =
  (wanted: unknown, what: string): Rule =>
  value =>
    value === wanted ? undefined : what;
const present =
  (what: string): Rule =>
  value =>
    value === null ? undefined : what;

/** Kubernetes, Pod Security Standards: what baseline lets a pod set. */
const SAFE_SYSCTLS = [
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.ip_local_reserved_ports',
  'net.ipv4.ip_unprivileged_port_start',
  'net.ipv4.ping_group_range',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_rmem',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.tcp_wmem',
];
const SAFE_SELINUX = [undefined, null, '', 'container_t', 'container_init_t', 'container_kvm_t', 'container_engine_t'];
const PROFILES = ['RuntimeDefault', 'Localhost'];

const capabilities: Rule = value => {
  if (!isMap(value)) return 'takes away that capabilities are dropped';
  const { add, drop } = value;
  if (add !== undefined && add !== null && !(Array.isArray(add) && add.length === 0)) return 'adds capabilities';
  // A list replaces ours: a shorter list gives the rest back.
  const keeps = drop !== undefined && !(Array.isArray(drop) && drop.includes('ALL'));
  return keeps ? 'drops fewer capabilities than ALL' : undefined;
};

const profile =
  (what: string): Rule =>
  value =>
    isMap(value) && (value.type === undefined || PROFILES.includes(value.type as string)) ? undefined : what;

const seLinux: Rule = value =>
  isMap(value) && SAFE_SELINUX.includes(value.type as string) && !value.user && !value.role
    ? undefined
    : 'changes the SELinux domain of the container';

const sysctls: Rule = value => {
  const names = Array.isArray(value) ? value.map(entry => (isMap(entry) ? String(entry.name) : '')) : [];
  const unsafe = names.find(name => !SAFE_SYSCTLS.includes(name));
  return unsafe === undefined ? undefined : `sets ${unsafe || 'a sysctl'} of the node`;
};

/** A kubelet calls it from the network of its node. */
const fromNode: Rule = value =>
  isMap(value) && value.host !== undefined && value.host !== null
    ? 'makes the kubelet call another host than the pod'
    : undefined;

/** By name, wherever they stand: init containers, sidecars and ephemeral containers have the same fields. */
const RULES: Readonly<Record<string, Rule>> = {
  hostNetwork: asked('is the network of the node'),
  hostPID: asked('shows the processes of the node'),
  hostIPC: asked('shares memory with processes of the node'),
  hostProcess: asked('runs on the node itself'),
  hostPort: value => (value === 0 || value === null ? undefined : 'takes a port of the node'),
  privileged: asked('is root on the node'),
  allowPrivilegeEscalation: only(false, 'lets a process become root'),
  securityContext: value => (isMap(value) ? undefined : 'takes away what the container must not do'),
  capabilities,
  procMount: value => (value === 'Default' || value === null ? undefined : 'uncovers /proc of the node'),
  seccompProfile: profile('takes the seccomp filter away'),
  appArmorProfile: profile('takes the AppArmor profile away'),
  seLinuxOptions: seLinux,
  runAsUser: value => (value === 0 || value === null ? 'runs as root, or as the user of the image' : undefined),
  runAsNonRoot: only(true, 'lets the container run as root'),
  sysctls,
  automountServiceAccountToken: only(false, 'mounts a token of the API server'),
  serviceAccountName: present('is another account of the API server'),
  serviceAccount: present('is another account of the API server'),
  mountPropagation: value => (value === 'Bidirectional' ? 'makes mounts on the node' : undefined),
  httpGet: fromNode,
  tcpSocket: fromNode,
  hostPath: present('is a path of the node'),
};

/** Free text by any key: names in them mean nothing to Kubernetes. */
const FREE = ['labels', 'matchLabels', 'nodeSelector', 'requests', 'limits', 'data'];

/** What every volume may be made of. Others are storage that only the cluster's administrator should attach. */
const SOURCES = [
  'configMap',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'image',
  'persistentVolumeClaim',
  'projected',
  'secret',
];
/** Of the fields of an extraMount, those that are about its mount. */
const MOUNT = ['name', 'mountPath', 'subPath', 'readOnly', 'mountPropagation', 'device'];
/** Drivers whose volumes hold files for the pod and nothing of the node. */
const CSI_DRIVERS = ['secrets-store.csi.k8s.io', 'csi.cert-manager.io'];

/** A volume, or an extraMount, which is a volume and its mount. */
export function volumeAsks(volume: unknown): readonly Asked[] {
  if (!isMap(volume)) return [];
  return Object.entries(volume).flatMap(([source, value]): readonly Asked[] => {
    if (MOUNT.includes(source)) return podAsks({ [source]: value });
    if (value === null) return [];
    if (source === 'csi') {
      const driver = isMap(value) ? value.driver : undefined;
      return CSI_DRIVERS.includes(driver as string)
        ? []
        : [{ field: '.csi', what: `is a volume of driver ${driver}, which may be any part of the node` }];
    }
    if (!SOURCES.includes(source))
      return [
        {
          field: `.${source}`,
          what: source === 'hostPath' ? 'is a path of the node' : 'is storage that a pod may not attach by itself',
        },
      ];
    if (source === 'projected') return tokens(value);
    return source === 'ephemeral' ? chosenVolume(value) : [];
  });
}

function tokens(projected: unknown): readonly Asked[] {
  const sources = isMap(projected) && Array.isArray(projected.sources) ? projected.sources : [];
  const at = sources.findIndex(source => isMap(source) && source.serviceAccountToken);
  return at < 0
    ? []
    : [{ field: `.projected.sources[${at}].serviceAccountToken`, what: 'mounts a token of the API server' }];
}

/** A claim that says which volume it wants may get one that is a folder of a node. */
function chosenVolume(ephemeral: unknown): readonly Asked[] {
  const template = isMap(ephemeral) && isMap(ephemeral.volumeClaimTemplate) ? ephemeral.volumeClaimTemplate : {};
  const spec = isMap(template.spec) ? template.spec : {};
  return ['volumeName', 'selector', 'dataSource', 'dataSourceRef']
    .filter(name => spec[name] !== undefined && spec[name] !== null)
    .map(name => ({
      field: `.ephemeral.volumeClaimTemplate.spec.${name}`,
      what: 'chooses a volume that others made',
    }));
}

/** AppArmor and seccomp had annotations before they had fields, and the kubelet still reads the first. */
const PROFILE_ANNOTATION = /^(container\.apparmor|(container\.)?seccomp)\.security\.(alpha|beta)\.kubernetes\.io/;

const annotationAsks = (annotations: unknown): readonly Asked[] =>
  Object.entries(isMap(annotations) ? annotations : {})
    .filter(([name, value]) => PROFILE_ANNOTATION.test(name) && !/^(runtime\/default|localhost\/)/.test(String(value)))
    .map(([name]) => ({ field: `[${name}]`, what: 'takes a security profile away' }));

/** What a pod template of a user's asks for, however deep. */
export function podAsks(template: unknown, at = ''): readonly Asked[] {
  const below = (asks: readonly Asked[], field: string): readonly Asked[] =>
    asks.map(ask => ({ ...ask, field: `${field}${ask.field}` }));
  if (Array.isArray(template)) return template.flatMap((entry, index) => podAsks(entry, `${at}[${index}]`));
  if (!isMap(template)) return [];
  return Object.entries(template).flatMap(([name, value]): readonly Asked[] => {
    const field = `${at}.${name}`;
    if (value === undefined || FREE.includes(name)) return [];
    if (name === 'annotations') return below(annotationAsks(value), field);
    if (name === 'volumes')
      return Array.isArray(value)
        ? value.flatMap((volume, index) => below(volumeAsks(volume), `${field}[${index}]`))
        : [];
    const what = Object.hasOwn(RULES, name) ? RULES[name]?.(value) : undefined;
    return what === undefined ? podAsks(value, field) : [{ field, what }];
  });
}

/** What a Service of a user's asks for: an address of others' would draw their traffic. */
export const serviceAsks = (service: unknown): readonly Asked[] =>
  isMap(service) && isMap(service.spec) && (service.spec.externalIPs ?? null) !== null
    ? [{ field: '.spec.externalIPs', what: 'takes over addresses of the cluster' }]
    : [];

const NODE_POD = [
  'affinity',
  'dnsConfig',
  'imagePullSecrets',
  'nodeSelector',
  'priorityClassName',
  'terminationGracePeriodSeconds',
  'tolerations',
  'topologySpreadConstraints',
];
const NODE_CONTAINER = ['name', 'resources', 'imagePullPolicy', 'terminationMessagePolicy'];

/**
 * The same for pods that have rights on the node: a program, a file or a variable of theirs is as good as root there, so
 * only what can be none of these is left. `ordinary`: containers of other pods that the same template is about.
 */
export function nodePodAsks(template: unknown, ordinary: readonly string[]): readonly Asked[] {
  const plain = podAsks(template);
  const spec = isMap(template) && isMap(template.spec) ? template.spec : {};
  const more = Object.entries(spec).flatMap(([name, value]): readonly Asked[] => {
    if (NODE_POD.includes(name)) return [];
    if (name !== 'containers' || !Array.isArray(value)) return [{ field: `.spec.${name}`, what: CHANGES }];
    return value.flatMap((container, index) =>
      !isMap(container) || ordinary.includes(container.name as string)
        ? []
        : Object.keys(container)
            .filter(field => !NODE_CONTAINER.includes(field))
            .map(field => ({ field: `.spec.containers[${index}].${field}`, what: CHANGES })),
    );
  });
  const told = new Set(plain.map(({ field }) => field));
  const covers = (field: string): boolean => [...told].some(other => other === field || other.startsWith(`${field}.`));
  return [...plain, ...more.filter(({ field }) => !covers(field))];
}

/** Said of whatever can become a program in such a pod. */
export const CHANGES = 'changes what runs in pods with rights on the node';
