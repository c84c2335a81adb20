import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { small } from '../images/names.ts';
import { tools } from '../tools.ts';
import { access, program, serviceAccount, type Thing } from './objects.ts';

export const NAMESPACE = 'cert-manager';
/** The issuer that a cloud of the lab names; its CA is the lab's own. */
export const ISSUER = 'lab-ca';

const group = { apiVersion: 'cert-manager.io/v1' };
const every = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'];

/** Our main file has its controllers for certificates and for Ingresses, no webhook and no ACME. */
export const certManager: readonly Thing[] = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } },
  serviceAccount(NAMESPACE, NAMESPACE),
  ...access(NAMESPACE, NAMESPACE, [
    { apiGroups: ['cert-manager.io', 'acme.cert-manager.io'], resources: ['*'], verbs: every },
    { apiGroups: [''], resources: ['secrets', 'events'], verbs: every },
    { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: every },
    { apiGroups: [''], resources: ['pods', 'services', 'namespaces'], verbs: ['get', 'list', 'watch'] },
    { apiGroups: ['networking.k8s.io'], resources: ['ingresses', 'ingresses/finalizers'], verbs: every },
    { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: every },
  ]),
  program(NAMESPACE, NAMESPACE, { image: small.certManager, args: [`-cluster-resource-namespace=${NAMESPACE}`] }),
];

/** An authority that signs itself, and the issuer that signs with it. */
export const authority: readonly Thing[] = [
  { ...group, kind: 'ClusterIssuer', metadata: { name: 'lab-self' }, spec: { selfSigned: {} } },
  {
    ...group,
    kind: 'Certificate',
    metadata: { name: ISSUER, namespace: NAMESPACE },
    spec: {
      isCA: true,
      commonName: ISSUER,
      secretName: ISSUER,
      duration: '87600h',
      privateKey: { algorithm: 'ECDSA', size: 256 },
      issuerRef: { name: 'lab-self', kind: 'ClusterIssuer' },
    },
  },
  { ...group, kind: 'ClusterIssuer', metadata: { name: ISSUER }, spec: { ca: { secretName: ISSUER } } },
];

/** The files of the kinds, from the module that the program is built of. */
export async function kinds(): Promise<string[]> {
  const folder = join((await tools(['cert-manager']))['cert-manager'] ?? '', 'crds');
  return readdirSync(folder)
    .filter(file => file.endsWith('.yaml'))
    .sort()
    .map(file => join(folder, file));
}
