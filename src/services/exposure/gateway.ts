import {
  BackendTLSPolicy,
  ConfigMap,
  CustomResourceDefinition,
  Gateway,
  HTTPRoute,
  type Resource,
  resourceName,
  Service,
} from '../../kube/resource.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import { subjectOf, wait } from '../../runtime/plan/unmet.ts';

/** Publishing through the Gateway API. TLS to the outside is the Gateway's own matter: its listener has the certificate. */

export interface GatewayRef {
  readonly name: string;
  readonly sectionName?: string;
}

export interface Routed {
  readonly service: string;
  readonly host: string;
  readonly path: string;
  readonly annotations: Readonly<Record<string, string>>;
  /** The Service speaks TLS: under which name, and whom to trust for it. */
  readonly tls?: { readonly hostname: string; readonly ca: string } | undefined;
}

const GROUP = HTTPRoute.group;

function installed<O extends Managed>(cx: Cx<O>, resource: Resource): void {
  const crd = resourceName(resource);
  if (cx.get(CustomResourceDefinition, crd) === undefined)
    throw wait({
      reason: 'GatewayAPINotFound',
      about: subjectOf(CustomResourceDefinition, crd),
      what: `CustomResourceDefinition ${crd} does not exist, and spec.ingress.gatewayRef asks for it`,
      who: 'User',
      next: 'install the Gateway API, or leave gatewayRef out and use an IngressClass',
    });
}

/** Lists are atomic here: what the server would add to an entry must be in it, or it never matches the live object. */
export async function route<O extends Managed>(cx: Cx<O>, gateway: GatewayRef, to: Routed): Promise<void> {
  installed(cx, HTTPRoute);
  if (cx.get(Gateway, gateway.name) === undefined)
    throw wait({
      reason: 'GatewayNotFound',
      about: subjectOf(Gateway, gateway.name),
      what: `Gateway ${gateway.name}, named in spec.ingress.gatewayRef, does not exist`,
      who: 'User',
      next: 'create it, or name another one',
    });
  const { ports = [] } = (cx.get(Service, to.service)?.spec ?? {}) as { readonly ports?: readonly { port: number }[] };
  const made = await cx.apply(HTTPRoute, {
    metadata: { name: to.service, annotations: to.annotations },
    spec: {
      parentRefs: [{ group: GROUP, kind: 'Gateway', ...gateway }],
      hostnames: [to.host],
      rules: [
        {
          matches: [{ path: { type: 'PathPrefix', value: to.path } }],
          backendRefs: [{ group: '', kind: 'Service', name: to.service, port: ports[0]?.port, weight: 1 }],
        },
      ],
    },
  });
  if (to.tls) await verified(cx, to.service, to.tls);
  const { parents = [] } = (made.status ?? {}) as {
    readonly parents?: readonly { conditions?: readonly { type: string; status: string; message?: string }[] }[];
  };
  const refused = parents
    .flatMap(parent => parent.conditions ?? [])
    .find(c => c.type === 'Accepted' && c.status === 'False');
  if (refused)
    throw wait({
      reason: 'RouteRefused',
      about: subjectOf(HTTPRoute, to.service),
      said: refused.message,
      what: `Gateway ${gateway.name} does not accept HTTPRoute ${to.service}: ${refused.message ?? 'no reason given'}`,
      who: 'User',
      next: 'look at its listeners, which routes they admit and from where',
    });
}

async function verified<O extends Managed>(
  cx: Cx<O>,
  service: string,
  { hostname, ca }: { readonly hostname: string; readonly ca: string },
): Promise<void> {
  installed(cx, BackendTLSPolicy);
  const name = `${service}-ca`;
  await cx.apply(ConfigMap, { metadata: { name }, data: { 'ca.crt': ca } });
  await cx.apply(BackendTLSPolicy, {
    metadata: { name: service },
    spec: {
      targetRefs: [{ group: '', kind: 'Service', name: service }],
      validation: { hostname, caCertificateRefs: [{ group: '', kind: 'ConfigMap', name }] },
    },
  });
}

export const GATEWAY_MANAGES = [HTTPRoute, BackendTLSPolicy, ConfigMap] as const;
export const GATEWAY_READS = [Gateway, CustomResourceDefinition] as const;
