import type { Cx } from '../../runtime/plan/cx.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import { memberHosts, serviceHost, workloadName } from '../names.ts';
import { replicasOf } from '../pods/workload.ts';
import { certificateRow } from '../tls/row.ts';
import { servesTls, wantedPods } from './components.ts';
import type { Service } from './table.ts';

/** The same of a service's table; where nothing in it serves, the row is never on, and nothing is granted for it. */
export function serviceCertificateRow<O extends Managed, S, I>(service: Service<O, S, I>) {
  const serves = servesTls(service);
  const row = certificateRow<O>(
    cx => ({ hosts: hostsOf(cx, service), client: service.client ?? false }),
    () => serves,
  );
  return serves ? row : { ...row, manages: [], reads: [] };
}

const hostsOf = <O extends Managed, S, I>(cx: Cx<O>, service: Service<O, S, I>): string[] =>
  wantedPods(cx, service).flatMap(([component, workload]) => {
    const name = workloadName(cx.name, component);
    if (workload.ports === undefined) return [];
    const members = workload.members ? replicasOf(cx, workload) : 0;
    return [serviceHost(cx, name), ...memberHosts(cx, name, members, `${name}-members`)];
  });
