import { Service } from '../kube/resource.ts';
import type { Cx } from '../runtime/plan/cx.ts';
import type { Managed } from '../runtime/plan/managed.ts';

export interface ServicePorts {
  readonly name: string;
  readonly ports: Readonly<Record<string, number>>;
  readonly selector: Readonly<Record<string, string>>;
  /** Names each pod, also before it is ready: members of a cluster must find each other to become ready. */
  readonly headless?: boolean;
}

export function applyService<O extends Managed>(cx: Cx<O>, service: ServicePorts) {
  return cx.apply(Service, {
    metadata: { name: service.name },
    spec: {
      selector: service.selector,
      ports: Object.entries(service.ports).map(([name, port]) => ({ name, port, targetPort: port, protocol: 'TCP' })),
      ...(service.headless && { clusterIP: 'None', publishNotReadyAddresses: true }),
    },
  });
}
