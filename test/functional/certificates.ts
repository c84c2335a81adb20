import { takingAnything } from '../../src/embedded/foreign.ts';
import type { Store } from '../../src/embedded/store/store.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import {
  BackendTLSPolicy,
  Certificate,
  ClusterIssuer,
  Gateway,
  HTTPRoute,
  Issuer,
  pathOf,
  type Resource,
  Secret,
} from '../../src/kube/resource.ts';
import { type Authority, makeAuthority, type Order } from '../../src/real/certificate.ts';
import { type Cloud, NS } from './cloud.ts';
import { secret } from './services.ts';

/** Certificates for stories. The clock of a simulation begins here. */
export const BEGIN = Date.parse('2026-01-01T00:00:00Z');

export const authority = (name: string): Authority => makeAuthority(name, BEGIN);

/** Every name that the services of the namespace have. */
export const EVERY_NAME = [
  '*.openstack.svc.cluster.local',
  '*.glance-api-members.openstack.svc.cluster.local',
  '*.memcached.openstack.svc.cluster.local',
  '*.g-api-members.openstack.svc.cluster.local',
  '*.cloud.example.org',
];

/** A Secret as a user or cert-manager would make it. */
export function certificateSecret(name: string, from: Authority, order: Partial<Order> = {}): AnyObject {
  const { ca, cert, key } = from.issue({ names: EVERY_NAME, ...order });
  return secret(name, { 'tls.crt': cert, 'tls.key': key, 'ca.crt': ca }) as object as AnyObject;
}

export const installForeign = (cloud: Cloud, ...resources: readonly Resource[]): void => {
  for (const resource of resources) cloud.hands.apply(takingAnything(resource));
};

export const GATEWAY = [Gateway, HTTPRoute, BackendTLSPolicy] as const;

export const gateway = (name: string): AnyObject => ({
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'Gateway',
  metadata: { name },
  spec: {},
});

export const CERT_MANAGER = [Certificate, Issuer, ClusterIssuer] as const;

export const issuer = (kind: 'Issuer' | 'ClusterIssuer', name: string): AnyObject => ({
  apiVersion: 'cert-manager.io/v1',
  kind,
  metadata: { name, ...(kind === 'Issuer' && { namespace: NS }) },
  spec: { ca: { secretName: 'root' } },
});

/** cert-manager, as far as we look: each Certificate, and each Ingress that asks for one, has a Secret at once. */
export const certManager = (from: Authority) => ({
  wrap: (store: Store): Store => ({
    ...store,
    handle: (request, user) => {
      const answer = store.handle(request, user);
      const made = answer.body as AnyObject | undefined;
      if (request.method !== 'PATCH' || answer.status >= 300) return answer;
      for (const { name, names } of wishes(made)) {
        const at = pathOf(Secret, made?.metadata.namespace ?? '', name);
        if (store.handle({ method: 'GET', path: at }, 'cert-manager').status === 200) continue;
        const body = { ...certificateSecret(name, from, { names }), metadata: { name, namespace: NS } };
        const query = { fieldManager: 'cert-manager' };
        store.handle(
          { method: 'PATCH', path: at, query, contentType: 'application/apply-patch+yaml', body },
          'cert-manager',
        );
      }
      return answer;
    },
  }),
});

function wishes(object: AnyObject | undefined): readonly { name: string; names: readonly string[] }[] {
  const spec = object?.spec as
    | { secretName?: string; dnsNames?: string[]; tls?: { hosts: string[]; secretName: string }[] }
    | undefined;
  if (object?.kind === 'Certificate') return [{ name: spec?.secretName ?? '', names: spec?.dnsNames ?? [] }];
  const asks = Object.keys(object?.metadata.annotations ?? {}).some(key => key.startsWith('cert-manager.io/'));
  if (object?.kind !== 'Ingress' || !asks) return [];
  return (spec?.tls ?? []).map(({ hosts, secretName }) => ({ name: secretName, names: hosts }));
}
