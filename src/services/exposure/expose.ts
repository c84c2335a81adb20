import { Service } from '../../kube/resource.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import { serviceHost, workloadName } from '../names.ts';
import { overriddenService, overrideOf } from '../pods/override.ts';
import { schemeOf } from '../tls/certificate.ts';
import { type Beside, type Exposed, ingressUrl, serviceAnnotations } from './ingress.ts';

export interface Endpoints {
  /** Without a path. */
  readonly internal: string;
  /** Where users reach a path of it. */
  readonly outside: (path: string) => string;
}

/**
 * Where a component is reached from inside and by users. `spec.publicURL` is the main one's and goes into the catalog as it
 * stands; `spec.<component>PublicURL` is another one's, and its path is added.
 */
export function endpointsOf<O extends Managed>(
  cx: Cx<O>,
  component: string,
  port: number,
  /** What the catalog calls it, where it is not the main one. */
  type?: string,
): Endpoints {
  const internal = `${schemeOf(cx.spec)}://${serviceHost(cx, workloadName(cx.name, component))}:${port}`;
  const given = cx.spec as Readonly<Record<string, string | undefined>>;
  const beside: Beside | undefined = type === undefined ? undefined : { component, type };
  const open = ingressUrl(cx.spec as Exposed, beside) ?? internal;
  if (beside === undefined) return { internal, outside: path => given.publicURL ?? `${open}${path}` };
  return { internal, outside: path => `${given[`${component}PublicURL`] ?? open}${path}` };
}

export interface ServicePorts {
  readonly name: string;
  readonly ports: Readonly<Record<string, number>>;
  readonly selector: Readonly<Record<string, string>>;
  /**
   * Names each pod, also before it is ready: members of a cluster must find each other to become ready. Beside another
   * Service it is for them only, and what the user says of Services is about the other one.
   */
  readonly headless?: boolean | 'alone';
  /** Whose override comes before that of the object. */
  readonly template?: string | undefined;
}

export function applyService<O extends Managed>(cx: Cx<O>, service: ServicePorts) {
  const annotations = serviceAnnotations(cx.spec);
  const body = {
    metadata: { name: service.name, ...(Object.keys(annotations).length > 0 && { annotations }) },
    spec: {
      selector: service.selector,
      ports: Object.entries(service.ports).map(([name, port]) => ({ name, port, targetPort: port, protocol: 'TCP' })),
      ...(service.headless && { clusterIP: 'None', publishNotReadyAddresses: true }),
    },
  };
  const override = service.headless === true ? undefined : overrideOf(cx, 'service', service.template);
  return cx.apply(Service, override === undefined ? body : overriddenService(body, override));
}
