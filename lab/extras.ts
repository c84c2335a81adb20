import { cephSecret, startCeph } from './cluster/ceph.ts';
import { authority, NAMESPACE as CERTIFICATES, certManager, ISSUER, kinds } from './cluster/certificates.ts';
import { NAMESPACE as INGRESS, ingressController, nameIngresses } from './cluster/ingress.ts';
import type { LabNode } from './cluster/layout.ts';
import { policyEngine, policyRights, startPolicies } from './cluster/policies.ts';
import { cephRoots } from './images/ceph.ts';
import { importImages } from './images/import.ts';
import { certManagerImage, traefikImage } from './images/small.ts';
import { kubectl } from './kubectl.ts';
import { phase } from './progress.ts';

/** What the lab has only when somebody asks for it: each takes minutes to build and memory to run. */
export const extras = ['ceph', 'ingress', 'certificates', 'policies'] as const;
export type Extra = (typeof extras)[number];

export interface CloudSpec {
  readonly ceph?: { readonly enabled?: boolean; readonly external?: object };
  readonly publicDomain?: string;
  readonly nodeNamespace?: string;
  readonly tls?: { readonly enabled?: boolean; readonly issuerRef?: { readonly name: string } };
  readonly networkPolicy?: { readonly enabled?: boolean };
}

/** What a cloud counts on. */
export function neededBy(spec: CloudSpec): Extra[] {
  const needed: Record<Extra, boolean> = {
    ceph: spec.ceph?.enabled === true && spec.ceph.external !== undefined,
    ingress: spec.publicDomain !== undefined,
    certificates: spec.tls?.enabled === true && spec.tls.issuerRef?.name === ISSUER,
    policies: spec.networkPolicy?.enabled === true,
  };
  return extras.filter(each => needed[each]);
}

const apply = (...items: readonly object[]): Promise<string> =>
  kubectl(
    ['apply', '--server-side', '--force-conflicts', '-f', '-'],
    JSON.stringify({ apiVersion: 'v1', kind: 'List', items }),
  );

const rolledOut = (namespace: string, name: string): Promise<string> =>
  kubectl(['-n', namespace, 'rollout', 'status', `deployment/${name}`, '--timeout=180s']);

const start: Readonly<Record<Extra, (nodes: readonly LabNode[]) => Promise<void>>> = {
  ceph: () => startCeph(),
  async ingress(nodes) {
    await importImages(nodes, [await traefikImage()]);
    await apply(...ingressController);
    await rolledOut(INGRESS, 'traefik');
    await nameIngresses();
  },
  async certificates(nodes) {
    await importImages(nodes, [await certManagerImage()]);
    const files = await kinds();
    await kubectl(['apply', '--server-side', '--force-conflicts', ...files.flatMap(file => ['-f', file])]);
    await kubectl(['wait', '--for=condition=Established', '--timeout=60s', ...files.flatMap(file => ['-f', file])]);
    await apply(...certManager);
    await rolledOut(CERTIFICATES, CERTIFICATES);
    await apply(...authority);
    await kubectl(['wait', '--for=condition=Ready', '--timeout=60s', `clusterissuer/${ISSUER}`]);
  },
  async policies(nodes) {
    await apply(...policyRights);
    await startPolicies(nodes);
  },
};

const build: Readonly<Record<Extra, () => Promise<unknown>>> = {
  ceph: cephRoots,
  ingress: traefikImage,
  certificates: certManagerImage,
  policies: policyEngine,
};

/** Builds their programs, which takes minutes the first time; without a lab. */
export async function buildExtras(wanted: readonly Extra[]): Promise<void> {
  for (const each of wanted) await build[each]();
}

const TITLES: Readonly<Record<Extra, string>> = {
  ceph: 'Ceph on one host',
  ingress: 'ingress controller',
  certificates: 'cert-manager and an issuer',
  policies: 'NetworkPolicies enforced (kube-router)',
};

/** Starts what does not run yet; on a lab that runs. */
export async function startExtras(nodes: readonly LabNode[], wanted: readonly Extra[]): Promise<void> {
  for (const each of wanted) await phase(`extra:${each}`, TITLES[each], () => start[each](nodes));
}

/** What a cloud that keeps its data in Ceph reads. */
export async function giveCeph(namespace: string): Promise<void> {
  await kubectl(
    ['-n', namespace, 'apply', '--server-side', '--force-conflicts', '-f', '-'],
    JSON.stringify(cephSecret()),
  );
}
