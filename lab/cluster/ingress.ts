import { stringify } from 'yaml';
import { small } from '../images/names.ts';
import { kubectl } from '../kubectl.ts';
import { DNS_HOSTS } from './addons.ts';
import { access, program, serviceAccount, type Thing } from './objects.ts';

export const NAMESPACE = 'ingress';
/** Where every published name leads: a name's address is known before its Ingress is. */
export const INGRESS_IP = '10.96.0.20';
/** The class of config/samples/controlplane_tls.yaml. */
const CLASS = 'traefik';

const WEB = 8000;
const SECURE = 8443;
const PING = 8081;
/** Traefik ends a request whose body takes longer than a minute: an image does. */
const PATIENCE = '600s';

const SETTINGS = 'traefik-settings';
const FOLDER = '/etc/traefik';
const FILE = 'protocols.yaml';
/**
 * By entry point, the protocol that backends are told of. Traefik itself says ws or wss when a stream is asked for, and
 * Nova's console proxy refuses who comes from a page of another protocol.
 */
const PROTOCOLS = { web: 'http', websecure: 'https' } as const;

const read = ['get', 'list', 'watch'];

const flags: Readonly<Record<string, string>> = {
  'providers.kubernetesingress': 'true',
  'entrypoints.web.address': `:${WEB}`,
  'entrypoints.websecure.address': `:${SECURE}`,
  'entrypoints.websecure.http.tls': 'true',
  'entrypoints.traefik.address': `:${PING}`,
  // Backends show certificates of an authority that only the cloud knows; what it checks is the way from the client.
  'serverstransport.insecureskipverify': 'true',
  ...Object.fromEntries(
    Object.keys(PROTOCOLS).flatMap(name => [
      [`entrypoints.${name}.transport.respondingtimeouts.readtimeout`, PATIENCE],
      [`entrypoints.${name}.http.middlewares`, `${name}@file`],
    ]),
  ),
  'providers.file.filename': `${FOLDER}/${FILE}`,
  ping: 'true',
  'global.checknewversion': 'false',
  'global.sendanonymoususage': 'false',
  'log.level': 'INFO',
  // Which backend did not answer.
  accesslog: 'true',
  'accesslog.filters.statuscodes': '500-599',
};

/** An ingress controller of the class that the lab's clouds name. */
export const ingressController: readonly Thing[] = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } },
  serviceAccount(NAMESPACE, CLASS),
  ...access(NAMESPACE, CLASS, [
    { apiGroups: [''], resources: ['services', 'secrets', 'nodes', 'configmaps'], verbs: read },
    { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: read },
    { apiGroups: ['networking.k8s.io'], resources: ['ingresses', 'ingressclasses'], verbs: read },
    { apiGroups: ['networking.k8s.io'], resources: ['ingresses/status'], verbs: ['update'] },
  ]),
  {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'IngressClass',
    metadata: { name: CLASS },
    spec: { controller: 'traefik.io/ingress-controller' },
  },
  {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: SETTINGS, namespace: NAMESPACE },
    data: {
      [FILE]: stringify({
        http: {
          middlewares: Object.fromEntries(
            Object.entries(PROTOCOLS).map(([name, protocol]) => [
              name,
              { headers: { customRequestHeaders: { 'X-Forwarded-Proto': protocol } } },
            ]),
          ),
        },
      }),
    },
  },
  program(
    NAMESPACE,
    CLASS,
    {
      image: small.traefik,
      args: Object.entries(flags).map(([name, value]) => `--${name}=${value}`),
      ports: [
        { name: 'web', containerPort: WEB },
        { name: 'websecure', containerPort: SECURE },
      ],
      readinessProbe: { httpGet: { path: '/ping', port: PING }, periodSeconds: 2, timeoutSeconds: 5 },
      volumeMounts: [{ name: 'settings', mountPath: FOLDER }],
    },
    [{ name: 'settings', configMap: { name: SETTINGS } }],
  ),
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: CLASS, namespace: NAMESPACE },
    spec: {
      clusterIP: INGRESS_IP,
      selector: { app: CLASS },
      ports: [
        { name: 'web', port: 80, targetPort: WEB },
        { name: 'websecure', port: 443, targetPort: SECURE },
      ],
    },
  },
];

interface Ingresses {
  readonly items: readonly { readonly spec?: { readonly rules?: readonly { readonly host?: string }[] } }[];
}

/** The lines of a hosts file with every name that some Ingress has. */
export function hostsOf({ items }: Ingresses): string {
  const names = items
    .flatMap(each => each.spec?.rules?.map(rule => rule.host) ?? [])
    .filter(host => host !== undefined);
  return [...new Set(names)]
    .sort()
    .map(name => `${INGRESS_IP} ${name}\n`)
    .join('');
}

let told: string | undefined;

/** What a DNS of the site would do: names of Ingresses lead to the controller. */
export async function nameIngresses(): Promise<void> {
  const hosts = hostsOf(JSON.parse(await kubectl(['get', 'ingresses', '-A', '-o', 'json'])) as Ingresses);
  if (hosts === told) return;
  const map = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: DNS_HOSTS, namespace: 'kube-system' },
    data: { hosts },
  };
  await kubectl(['apply', '--server-side', '--force-conflicts', '-f', '-'], JSON.stringify(map));
  told = hosts;
}
