import { Ingress, IngressClass, Secret } from '../../kube/resource.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import { subjectOf, wait } from '../../runtime/plan/unmet.ts';
import { serviceHost } from '../names.ts';
import { checkedPublic, type IssuerRef, overTls, servingSecret, type TlsSpec } from '../tls/certificate.ts';
import { trustOf } from '../tls/trust.ts';
import { GATEWAY_MANAGES, GATEWAY_READS, type GatewayRef, route } from './gateway.ts';

/** How the world reaches an HTTP service: spec.ingress and spec.tls of every kind that has them. */

export interface Exposed {
  readonly ingress?: {
    readonly hostname?: string;
    readonly path?: string;
    readonly className?: string;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly gatewayRef?: GatewayRef;
  };
  readonly tls?: TlsSpec;
}

/** What is published beside the main component of an object. */
export interface Beside {
  readonly component: string;
  /** What the catalog calls it. */
  readonly type: string;
}

/** Under a path there is one host for all; else the main component has the name itself, another one `<first label>-<component>`. */
const hostOf = (spec: Exposed, hostname: string, beside?: Beside): string =>
  beside === undefined || prefixOf(spec) !== '' ? hostname : hostBeside(hostname, beside.component);

/** `heat-cfn.example.org` beside `heat.example.org`. */
export const hostBeside = (hostname: string, component: string): string =>
  hostname.replace(/^[^.]+/, label => `${label}-${component}`);

/**
 * The path before all paths of the API, without a slash at its end; '' at the root. Another component is its neighbour,
 * by the name of the catalog: `/orchestration` and `/cloudformation`.
 */
export function prefixOf({ ingress }: Exposed, beside?: Beside): string {
  const own = (ingress?.path ?? '').replace(/\/+$/, '');
  return own === '' || beside === undefined ? own : own.replace(/[^/]+$/, beside.type);
}

interface Ends {
  /** A Secret of the user's, and the field that names it. */
  readonly given?: string;
  readonly field?: string;
  /** cert-manager makes one for the Ingress. */
  readonly issuer?: IssuerRef;
}

/** How the ingress ends TLS, if it does. */
function endsOf({ tls }: Exposed): Ends | undefined {
  if (tls === undefined) return undefined;
  const { enabled, publicSecretName, issuerRef, secretName } = tls;
  if (publicSecretName !== undefined) return { given: publicSecretName, field: 'spec.tls.publicSecretName' };
  if (enabled && issuerRef) return { issuer: issuerRef };
  return enabled && secretName !== undefined ? { given: secretName, field: 'spec.tls.secretName' } : undefined;
}

/** The URL that users see, without the path of an API; undefined when nothing is published. */
export function ingressUrl(spec: Exposed, beside?: Beside): string | undefined {
  const { hostname } = spec.ingress ?? {};
  if (hostname === undefined) return undefined;
  return `${endsOf(spec) ? 'https' : 'http'}://${hostOf(spec, hostname, beside)}${prefixOf(spec, beside)}`;
}

/** Images are large and consoles stay open: annotations that controllers need, by their class. */
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

/** That the Service behind speaks HTTPS, how to verify it, and by which name. */
const BACKEND: Readonly<Record<string, (names: BackendNames) => Readonly<Record<string, string>>>> = {
  haproxy: ({ secret, host }) => ({
    'haproxy-ingress.github.io/backend-protocol': 'h1-ssl',
    'haproxy-ingress.github.io/secure-verify-ca-secret': secret,
    'haproxy-ingress.github.io/secure-verify-hostname': host,
  }),
  nginx: ({ namespace, secret, host }) => ({
    'nginx.ingress.kubernetes.io/backend-protocol': 'HTTPS',
    'nginx.ingress.kubernetes.io/proxy-ssl-secret': `${namespace}/${secret}`,
    'nginx.ingress.kubernetes.io/proxy-ssl-verify': 'on',
    'nginx.ingress.kubernetes.io/proxy-ssl-name': host,
  }),
};
interface BackendNames {
  readonly namespace: string;
  readonly secret: string;
  readonly host: string;
}

/** Traefik reads it off the Service, and verifies by settings of its own. */
export const serviceAnnotations = (spec: unknown): Readonly<Record<string, string>> => {
  const { ingress } = spec as Exposed;
  return overTls(spec) && ingress?.hostname !== undefined && ingress.className === 'traefik'
    ? { 'traefik.ingress.kubernetes.io/service.serversscheme': 'https' }
    : {};
};

const issued = (issuer: IssuerRef): Record<string, string> => ({
  [`cert-manager.io/${issuer.kind === 'ClusterIssuer' ? 'cluster-issuer' : 'issuer'}`]: issuer.name,
});

/** Publishes a port of a Service, if the spec says so. Waits for the class and, under TLS, for the certificate, by name. */
export async function publish<O extends Managed>(
  cx: Cx<O>,
  { service, port = 'api' }: { readonly service: string; readonly port?: string | undefined },
  beside?: Beside,
): Promise<void> {
  const spec = cx.spec as Exposed;
  const { ingress } = spec;
  if (ingress?.hostname === undefined) return;
  const { className, annotations = {}, gatewayRef } = ingress;
  const host = hostOf(spec, ingress.hostname, beside);
  // Not stripped on its way: the application knows it (uwsgi.ts), so that any controller will do.
  const path = prefixOf(spec, beside) || '/';
  if (gatewayRef) {
    const ca = await trustOf(cx, cx.object as Parameters<typeof trustOf>[1]);
    const tls = ca === undefined ? undefined : { ca, hostname: serviceHost(cx, service) };
    const ref = { name: gatewayRef.name, ...(gatewayRef.sectionName && { sectionName: gatewayRef.sectionName }) };
    return route(cx, ref, { service, host, path, annotations, tls });
  }
  if (className !== undefined && cx.get(IngressClass, className) === undefined)
    throw wait({
      reason: 'IngressClassNotFound',
      about: subjectOf(IngressClass, className),
      what: `IngressClass ${className}, named in spec.ingress.className, does not exist`,
      who: 'User',
      next: 'install its controller, or name another one',
    });
  const safe = endsOf(spec);
  const issuer = safe?.issuer;
  const secretName = safe?.given ?? `${service}-public-tls`;
  if (safe?.given !== undefined) await checkedPublic(cx, safe.given, safe.field ?? '', { hosts: [host] });
  const names = { namespace: cx.namespace, secret: servingSecret(cx.name), host: serviceHost(cx, service) };
  const backend = overTls(cx.spec) ? BACKEND[className ?? '']?.(names) : undefined;
  await cx.apply(Ingress, {
    metadata: {
      name: service,
      annotations: { ...PATIENCE[className ?? ''], ...backend, ...(issuer && issued(issuer)), ...annotations },
    },
    spec: {
      ...(className !== undefined && { ingressClassName: className }),
      rules: [
        {
          host,
          http: {
            paths: [{ path, pathType: 'Prefix', backend: { service: { name: service, port: { name: port } } } }],
          },
        },
      ],
      ...(safe && { tls: [{ hosts: [host], secretName }] }),
    },
  });
  if (issuer && (await cx.secretIfAny(secretName)) === undefined)
    throw wait({
      reason: 'SecretNotFound',
      about: subjectOf(Secret, secretName),
      what: `Secret ${secretName} with the certificate of ${host} does not exist`,
      who: 'Cluster',
      next: `cert-manager makes it by ${issuer.kind} ${issuer.name}; look at the Certificate of that name`,
    });
}

/** What a plan that publishes writes and reads for it. */
export const PUBLISHING_MANAGES = [Ingress, ...GATEWAY_MANAGES] as const;
export const PUBLISHING_READS = [IngressClass, ...GATEWAY_READS] as const;
