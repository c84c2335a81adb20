import { Ingress, IngressClass } from '../kube/resource.ts';
import type { Cx } from '../runtime/plan/cx.ts';
import type { Managed } from '../runtime/plan/managed.ts';
import { stall, wait } from '../runtime/plan/unmet.ts';

/** How the world reaches an HTTP service: spec.ingress and spec.tls of every kind that has them. */

interface Issuer {
  readonly name: string;
  readonly kind: string;
}

export interface Exposed {
  readonly ingress?: {
    readonly hostname?: string;
    readonly path?: string;
    readonly className?: string;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly gatewayRef?: object;
  };
  readonly tls?: { readonly enabled: boolean; readonly publicSecretName?: string; readonly issuerRef?: Issuer };
}

/** The main component has the name itself, another one `<first label>-<component>`. */
const hostOf = (hostname: string, component: string | undefined): string =>
  component === undefined ? hostname : hostname.replace(/^[^.]+/, label => `${label}-${component}`);

/** How the ingress ends TLS, if it does: with a Secret of the user's, or one that cert-manager makes for the Ingress. */
function tlsOf({ tls }: Exposed): { readonly given?: string; readonly issuer?: Issuer } | undefined {
  if (tls === undefined) return undefined;
  const { enabled, publicSecretName: given, issuerRef } = tls;
  const issuer = issuerRef && { name: issuerRef.name, kind: issuerRef.kind };
  if (given !== undefined) return { given };
  return enabled && issuer ? { issuer } : undefined;
}

/** The URL that users see, without the path of an API; undefined when nothing is published. */
export function ingressUrl(spec: Exposed, component?: string): string | undefined {
  const { hostname, path = '' } = spec.ingress ?? {};
  if (hostname === undefined) return undefined;
  return `${tlsOf(spec) ? 'https' : 'http'}://${hostOf(hostname, component)}${path.replace(/\/$/, '')}`;
}

/** Images are large and consoles stay open: what controllers must be told, by the class they are known under. */
const PATIENCE: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  haproxy: {
    'haproxy-ingress.github.io/timeout-server': '600s',
    'haproxy-ingress.github.io/timeout-tunnel': '1h',
    'haproxy-ingress.github.io/proxy-body-size': 'unlimited',
  },
  nginx: {
    'nginx.ingress.kubernetes.io/proxy-read-timeout': '600',
    'nginx.ingress.kubernetes.io/proxy-body-size': '0',
    'nginx.ingress.kubernetes.io/proxy-request-buffering': 'off',
  },
};

const issued = (issuer: Issuer): Record<string, string> => ({
  [`cert-manager.io/${issuer.kind === 'ClusterIssuer' ? 'cluster-issuer' : 'issuer'}`]: issuer.name,
});

/** Publishes a Service, if the spec says so. Waits for the class and, under TLS, for the certificate, by name. */
export async function publish<O extends Managed>(cx: Cx<O>, service: string, component?: string): Promise<void> {
  const { ingress } = cx.spec as Exposed;
  if (ingress?.gatewayRef)
    throw stall({
      reason: 'NotSupported',
      what: 'spec.ingress.gatewayRef is set',
      who: 'User',
      next: 'use an IngressClass: this version makes no HTTPRoute',
    });
  if (ingress?.hostname === undefined) return;
  const { className, annotations = {}, path = '/' } = ingress;
  if (className !== undefined && cx.get(IngressClass, className) === undefined)
    throw wait({
      reason: 'IngressClassNotFound',
      what: `IngressClass ${className}, named in spec.ingress.className, does not exist`,
      who: 'User',
      next: 'install its controller, or name another one',
    });
  const host = hostOf(ingress.hostname, component);
  const safe = tlsOf(cx.spec as Exposed);
  const issuer = safe?.issuer;
  const secretName = safe?.given ?? `${service}-public-tls`;
  await cx.apply(Ingress, {
    metadata: {
      name: service,
      annotations: { ...PATIENCE[className ?? ''], ...(issuer && issued(issuer)), ...annotations },
    },
    spec: {
      ...(className !== undefined && { ingressClassName: className }),
      rules: [
        {
          host,
          http: {
            paths: [{ path, pathType: 'Prefix', backend: { service: { name: service, port: { name: 'api' } } } }],
          },
        },
      ],
      ...(safe && { tls: [{ hosts: [host], secretName }] }),
    },
  });
  if (safe && (await cx.secretIfAny(secretName)) === undefined)
    throw wait({
      reason: 'SecretNotFound',
      what: `Secret ${secretName} with the certificate of ${host} does not exist`,
      who: issuer ? 'Cluster' : 'User',
      next: issuer
        ? `cert-manager makes it by ${issuer.kind} ${issuer.name}; look at the Certificate of that name`
        : 'create it with tls.crt and tls.key',
    });
}
