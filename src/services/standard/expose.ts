import { Service as ServiceResource } from '../../kube/resource.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import { rowsOf } from '../../runtime/plan/row.ts';
import { stall } from '../../runtime/plan/unmet.ts';
import { applyService, endpointsOf } from '../exposure/expose.ts';
import { type Exposed, PUBLISHING_MANAGES, PUBLISHING_READS, prefixOf, publish } from '../exposure/ingress.ts';
import { podLabels, workloadName } from '../names.ts';
import { overrideOf, withoutService } from '../pods/override.ts';
import { besideOf, isPublished, reachedOf, wantedPods } from './components.ts';
import type { Service } from './table.ts';

/** A line of the catalog. */
export interface Entry {
  readonly type: string;
  readonly name: string;
  readonly internal: string;
  readonly public: string;
}

/** ExposeReady: Services, and what the world sees of them. */
export function exposeRow<O extends Managed, S, I>(service: Service<O, S, I>) {
  const reached = reachedOf(service);
  const isOpen = isPublished(service);
  return rowsOf<O>()('ExposeReady', {
    manages: [ServiceResource, ...(isOpen ? PUBLISHING_MANAGES : [])],
    reads: isOpen ? PUBLISHING_READS : [],
    run: async (cx): Promise<readonly Entry[]> => {
      const pods = wantedPods(cx, service);
      const unserved = pods.some(([, { ports }]) => ports) ? undefined : overrideOf(cx, 'service');
      if (unserved) throw withoutService(unserved);
      for (const [component, { ports, members, template }] of pods) {
        const name = workloadName(cx.name, component);
        const selector = podLabels(cx.object.kind, cx.name, component);
        if (ports) await applyService(cx, { name, ports, selector, template });
        if (ports && members) await applyService(cx, { name: `${name}-members`, ports, selector, headless: true });
      }
      if (service.front && prefixOf(cx.spec as Exposed) !== '')
        throw stall({
          reason: 'NotSupported',
          field: 'spec.ingress.path',
          what: `spec.ingress.path is ${(cx.spec as Exposed).ingress?.path}, and ${service.name} works at the root of a host only`,
          who: 'User',
          next: 'leave it out, and give it a name of its own in spec.ingress.hostname',
        });
      const entries = reached.map(line => {
        const { type = '', name = service.name, path = '', component } = line;
        const [port] = Object.values(service.pods[component]?.ports ?? {});
        const { internal, outside } = endpointsOf(cx, component, port ?? 80, besideOf(reached, line)?.type);
        return { type, name, internal: `${internal}${path}`, public: outside(path) };
      });
      for (const [component, line] of new Map(reached.map(line => [line.component, line]))) {
        const [port] = Object.keys(service.pods[component]?.ports ?? {});
        await publish(cx, { service: workloadName(cx.name, component), port }, besideOf(reached, line));
      }
      const [main] = entries;
      if (main) cx.report({ endpoints: { internal: main.internal, public: main.public } } as never);
      return entries;
    },
  });
}
