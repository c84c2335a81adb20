import * as z from 'zod';
import { domain, host, httpUrl } from '../schema/forms.ts';
import { flag, group, immutableField, int, list, listMap, map, objectName, oneOf, text } from '../schema/helpers.ts';

const RELEASES = ['2025.1', '2025.2', '2026.1'] as const;
export type Release = (typeof RELEASES)[number];

const ACTIONS = ['rotate', 'restart', 'resync', 'discover-hosts', 'backup'] as const;

export const release = () => ({
  release: oneOf(
    RELEASES,
    'OpenStack release to run. It can change until the first part of it answers; a change on what runs is refused.',
  ).default('2025.2'),
});

export const deletionPolicy = () => ({
  deletionPolicy: oneOf(
    ['Retain', 'Delete'],
    'What deleting this object does to its data: Retain keeps volumes, databases, pools and their Secrets for a new object of its name; Delete removes them.',
  ).default('Retain'),
});

export const podProfile = () => ({
  podProfile: oneOf(
    ['kolla', 'restricted'],
    'kolla starts containers through kolla_start (PodSecurity baseline); restricted mounts files where they belong and needs no privileges.',
  ).default('kolla'),
});

/** For kinds with pods of the node, and those above them. */
export const nodeNamespace = () => ({
  nodeNamespace: z
    .string()
    .max(63)
    .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/)
    .describe(
      'Existing namespace for the pods with rights on their node, so that this one can enforce PodSecurity. Fixed after creation; absent means this one.',
    )
    .optional(),
});

export const fixedNodeNamespace = () =>
  immutableField('nodeNamespace', 'pods in both namespaces would fight over the guests and the switch of a node');

export const actions = () => ({
  actions: listMap(
    z.strictObject({
      name: oneOf(ACTIONS, 'What to do.'),
      id: text('Any text; a new id runs the action again, the same id never does.').min(1).max(63),
      target: text('What to act on, e.g. the credential to rotate; empty means all that applies.').max(253).optional(),
    }),
    ['name', 'id'],
    'Things to do once, now. Results appear in status.actions.',
    32,
  ).optional(),
});

/** A host with an optional port, then an optional path: what stands before the name of an image. */
const REGISTRY = /^[a-zA-Z0-9][-.a-zA-Z0-9]*(:[0-9]{1,5})?(\/[a-z0-9]+([._-]+[a-z0-9]+)*)*$/;

export const images = () => ({
  images: map(
    z.string().min(1).max(512).describe('Image reference.'),
    'Images by container name (as in the release table, e.g. keystone, nova-api) instead of the default of the release.',
  ).optional(),
  imageRegistry: z
    .string()
    .min(1)
    .max(253)
    .regex(REGISTRY)
    .describe(
      'Registry, optionally with a path, that replaces quay.io in default image names, e.g. registry.example.com/mirror. Names in image, images and RELATED_IMAGE_<NAME> stay as they are. Absent: IMAGE_REGISTRY of the operator, else quay.io.',
    )
    .optional(),
  imagePullSecrets: list(
    z.strictObject({ name: objectName('Name of a Secret of type kubernetes.io/dockerconfigjson.') }),
    'Secrets in this namespace with which the nodes pull the images of all pods and Jobs.',
    16,
  ).optional(),
});

/** What every kind that deploys something for itself has. */
export const lifecycle = () => ({
  ...release(),
  ...deletionPolicy(),
  ...podProfile(),
  ...images(),
  ...actions(),
  ...credentialRotation(),
  ...networkPolicy(),
});

const credentialRotation = () => ({
  credentialRotation: group(
    {
      schedule: cron(
        'When to replace every password the operator made, e.g. "0 3 1 * *". The old one stays valid until nothing uses it.',
      ),
    },
    'Regular replacement of generated passwords. Absent: only on spec.actions.',
  ).optional(),
});

const networkPolicy = () => ({
  networkPolicy: group(
    { enabled: flag('true admits only the traffic that the services need.').default(false) },
    'NetworkPolicies for the pods of this object.',
  ).optional(),
});

/** Five fields of cron. Only the shape is checked here; the reader says which field is wrong. */
export const cron = (description: string) =>
  z
    .string()
    .max(128)
    .regex(/^(@(hourly|daily|weekly|monthly)|\S+( +\S+){4})$/)
    .describe(description);

const issuerRef = () =>
  group(
    {
      name: objectName('Name of the issuer.'),
      kind: text('Issuer (same namespace) or ClusterIssuer.').max(63).default('Issuer'),
      group: text('API group of the issuer.').max(253).default('cert-manager.io'),
    },
    'The cert-manager issuer that signs certificates.',
  );

/** TLS of a whole cloud. */
export const cloudTls = () => ({
  tls: group(
    {
      enabled: flag('true serves every public and internal endpoint over TLS.').default(false),
      issuerRef: issuerRef().optional(),
      caBundleSecretName: objectName('Secret with extra CAs to trust, key ca.crt.').optional(),
    },
    'TLS for the whole cloud. Needs issuerRef, or secretName on each service.',
  ).prefault({}),
});

const served = () => ({
  enabled: flag('true serves this service over TLS.').default(false),
  issuerRef: issuerRef().optional(),
  secretName: objectName(
    'Secret with tls.crt, tls.key and ca.crt for the internal endpoint, instead of an issuer.',
  ).optional(),
  caBundleSecretName: objectName('Secret with extra CAs to trust, key ca.crt.').optional(),
});

/** TLS of a server that only the cloud itself calls. */
export const innerTls = () => ({ tls: group(served(), 'TLS of this service.').optional() });

/** TLS of one service. */
export const tls = () => ({
  tls: group(
    {
      ...served(),
      publicSecretName: objectName(
        'Secret with tls.crt and tls.key for the public endpoint. Absent: by issuerRef, else that of secretName.',
      ).optional(),
    },
    'TLS of this service.',
  ).optional(),
});

/** TLS of a process that only calls others. */
export const trust = () => ({
  tls: group(
    { caBundleSecretName: objectName('Secret with extra CAs to trust, key ca.crt.').optional() },
    'Whom this process trusts, beyond the CAs of the servers it is linked to.',
  ).optional(),
});

/** How hosts outside the cluster reach a service that has no HTTP ingress, or must be reached without it. */
export const expose = () => ({
  expose: group(
    {
      type: oneOf(
        ['LoadBalancer', 'NodePort', 'External'],
        'How: a Service <name>-hosts of that type, or External when you route it yourself. Absent: External if hostname is set.',
      ).optional(),
      hostname: host(
        'Name or address that hosts use; required for External and NodePort, else taken from the load balancer. A certificate that is made for the service names it.',
      ).optional(),
      port: int(
        1,
        65535,
        'Port that hosts use when it differs from the service port; under NodePort the port of the nodes.',
      ).optional(),
      annotations: map(
        z.string().describe('Value.'),
        'Annotations for the Service, e.g. for the load balancer.',
      ).optional(),
    },
    'The address that hosts outside the cluster use.',
  ).optional(),
});

const ingressShape = () => ({
  className: text('IngressClass to use.').max(253).optional(),
  annotations: map(z.string().describe('Value.'), 'Annotations for the Ingress or HTTPRoute.').optional(),
  gatewayRef: group(
    {
      name: objectName('Name of the Gateway.'),
      sectionName: text('Listener of the Gateway.').max(253).optional(),
    },
    'Gateway API Gateway to attach an HTTPRoute to, instead of an Ingress.',
  ).optional(),
});

/** Public HTTP exposure of a cloud. */
export const cloudIngress = () => ({
  publicDomain: domain(
    'Domain of the public endpoints, e.g. cloud.example.org gives keystone.cloud.example.org. Absent: no public endpoints outside the cluster.',
  ).optional(),
  ingress: group(
    {
      ...ingressShape(),
      className: text('IngressClass to use.').max(253).default('haproxy'),
      routing: oneOf(
        ['host', 'path'],
        'host gives each service a name, e.g. glance.cloud.example.org; path puts all APIs under the domain itself, e.g. cloud.example.org/image. Horizon and consoles keep names of their own.',
      ).default('host'),
    },
    'How public endpoints are published; used when publicDomain is set.',
  ).prefault({}),
});

/** Public HTTP exposure of one service. */
export const publicEndpoint = () => ({
  publicURL: httpUrl(
    'URL that users reach this service at; the catalog has it too, where there is an entry for it. Absent: from ingress, else the internal one.',
  ).optional(),
  ingress: group(
    {
      hostname: domain('Host name of the public endpoint.').optional(),
      path: text(
        'Path under that host when several services share it, e.g. /image. It reaches the API as it is: no ingress need remove it. Horizon and consoles work at the root only.',
      )
        .max(253)
        .regex(/^\/([A-Za-z0-9._~-]+(\/[A-Za-z0-9._~-]+)*\/?)?$/)
        .optional(),
      ...ingressShape(),
    },
    'Publish this service through an Ingress or HTTPRoute.',
  ).optional(),
});

/** Regular removal of rows that the service itself only marks as deleted. */
export const housekeeping = () => ({
  housekeeping: group(
    {
      schedule: cron('When to run.').default('30 1 * * *'),
      retentionDays: int(1, 3650, 'Age in days at which deleted rows are removed.').default(30),
      suspend: flag('true stops the runs.').default(false),
    },
    'Removes old deleted rows from the database.',
  ).optional(),
});

export const storage = (defaultSize: string) => ({
  storageSize: sizeWithDefault(defaultSize),
  storageClass: objectName(
    'StorageClass of the volumes; absent means the default of the cluster. Fixed after creation.',
  ).optional(),
});

const sizeWithDefault = (value: string) =>
  z
    .string()
    .max(32)
    .regex(/^[0-9]+(\.[0-9]+)?([KMGTPE]i?)?$/)
    .describe('Size of each volume. It may grow where the storage class allows it, never shrink.')
    .default(value);

export const networkAttachments = () => ({
  networkAttachments: list(
    objectName('Name of a NetworkAttachmentDefinition.'),
    'Extra networks that the pod which runs Ansible is attached to.',
  ).optional(),
});
