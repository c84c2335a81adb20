import type { AnyObject, DeepReadonly } from '../kube/object.ts';
import { Service } from '../kube/resource.ts';
import type { Cx } from '../runtime/plan/cx.ts';
import type { Managed } from '../runtime/plan/managed.ts';
import { rowsOf } from '../runtime/plan/row.ts';
import { fieldMissing, stall, subjectOf, wait } from '../runtime/plan/unmet.ts';
import { isHost } from '../world/quote/url.ts';

/** How hosts outside the cluster reach a server: spec.expose of the kinds that they call. */

interface Exposing {
  readonly expose?: {
    readonly type?: 'LoadBalancer' | 'NodePort' | 'External';
    readonly hostname?: string;
    readonly port?: number;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

export interface HostAddress {
  readonly host: string;
  readonly port: number;
}

export interface Target {
  /** Inside the cluster; that for hosts is called `<service>-hosts`. */
  readonly service: string;
  readonly port: number;
  readonly selector: Readonly<Record<string, string>>;
}

const exposeOf = (spec: unknown) => (spec as Exposing).expose ?? {};
const serviceName = ({ service }: Pick<Target, 'service'>): string => `${service}-hosts`;

/** The name or address that the user gave. One that no URL can hold is as good as none: `hostsCanReachRow` says so. */
const hostnameOf = (spec: unknown): string | undefined => {
  const { hostname } = exposeOf(spec);
  return hostname !== undefined && isHost(hostname) ? hostname : undefined;
};

/** A name without a type is somebody's own way to it. */
const typeOf = (spec: unknown) => {
  const { type, hostname } = exposeOf(spec);
  return type ?? (hostname === undefined ? undefined : 'External');
};

/** No name has a colon, or digits and dots alone. */
const isAddress = (text: string): boolean => text.includes(':') || /^[\d.]+$/.test(text);

/** What hosts call it by, for its certificate. */
export function hostNames(spec: unknown): { readonly dnsNames: readonly string[]; readonly ipAddresses: string[] } {
  const hostname = hostnameOf(spec);
  if (hostname === undefined) return { dnsNames: [], ipAddresses: [] };
  return isAddress(hostname) ? { dnsNames: [], ipAddresses: [hostname] } : { dnsNames: [hostname], ipAddresses: [] };
}

/** Where hosts reach it, once that is known; `live` is the Service made for them. */
function addressOf(spec: unknown, port: number, live: DeepReadonly<AnyObject> | undefined): HostAddress | undefined {
  const { port: other } = exposeOf(spec);
  const [hostname, type] = [hostnameOf(spec), typeOf(spec)];
  if (type === 'External') return hostname === undefined ? undefined : { host: hostname, port: other ?? port };
  if (type === undefined || live === undefined) return undefined;
  if (type === 'NodePort') {
    const { ports = [] } = live.spec as { readonly ports?: readonly { readonly nodePort?: number }[] };
    const [{ nodePort } = {}] = ports;
    return hostname === undefined || nodePort === undefined ? undefined : { host: hostname, port: nodePort };
  }
  const { loadBalancer } = (live.status ?? {}) as {
    readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string; readonly hostname?: string }[] };
  };
  const [given] = loadBalancer?.ingress ?? [];
  const host = given && (hostname ?? given.hostname ?? given.ip);
  return host === undefined ? undefined : { host, port: other ?? port };
}

/** The same for who only uses it, as it stands in a URL: its maker is another object, whose spec this is. */
export function hostAddress<O extends Managed>(
  cx: Cx<O>,
  spec: unknown,
  at: Pick<Target, 'service' | 'port'>,
): HostAddress | undefined {
  const found = addressOf(spec, at.port, cx.get(Service, serviceName(at)));
  return found?.host.includes(':') ? { ...found, host: `[${found.host}]` } : found;
}

/** HostsCanReach, beside Ready: a cloud without such hosts is whole. */
export const hostsCanReachRow = <O extends Managed>(
  target: (cx: Cx<O>) => Target,
  when: (object: DeepReadonly<O>) => boolean = () => true,
) =>
  rowsOf<O>()('HostsCanReach', {
    when: object => typeOf(object.spec) !== undefined && when(object),
    aside: true,
    manages: [Service],
    run: async cx => {
      const { port, selector, ...own } = target(cx);
      const { hostname, port: other, annotations = {} } = exposeOf(cx.spec);
      const type = typeOf(cx.spec);
      if (type !== 'LoadBalancer' && hostname === undefined)
        throw fieldMissing(
          'spec.expose.hostname',
          `spec.expose.type is ${type}, and spec.expose.hostname is not set`,
          type === 'NodePort' ? 'write the name or address of a node there' : 'write where hosts find it there',
        );
      if (hostname !== undefined && hostnameOf(cx.spec) === undefined)
        throw stall({
          reason: 'ValueRefused',
          field: 'spec.expose.hostname',
          what: 'spec.expose.hostname is neither a host name nor an address',
          who: 'User',
          next: 'correct it',
        });
      const ports = [
        type === 'NodePort'
          ? { name: 'hosts', port, targetPort: port, protocol: 'TCP', ...(other !== undefined && { nodePort: other }) }
          : { name: 'hosts', port: other ?? port, targetPort: port, protocol: 'TCP' },
      ];
      const live =
        type === 'External'
          ? undefined
          : await cx.apply(Service, {
              metadata: { name: serviceName(own), ...(Object.keys(annotations).length > 0 && { annotations }) },
              spec: { type, selector, ports },
            });
      if (addressOf(cx.spec, port, live)) return;
      throw wait({
        reason: 'NoAddress',
        about: subjectOf(Service, serviceName(own)),
        what: `Service ${serviceName(own)} has no address yet that hosts outside the cluster could use`,
        who: 'Cluster',
        next: 'its load balancer gives it one; or set spec.expose.type to NodePort or External',
      });
    },
  });
