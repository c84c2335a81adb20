import type { DeepReadonly } from '../../kube/object.ts';
import { Secret } from '../../kube/resource.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import { rowsOf } from '../../runtime/plan/row.ts';
import { memberHosts, serviceHost, workloadName } from '../names.ts';
import { certificate, MANAGES, type Names, overTls, READS } from '../tls/certificate.ts';
import { replicasOf } from '../workload.ts';
import { servesTls, wantedPods } from './components.ts';
import type { Service } from './table.ts';

/** CertificateReady: what its pods show to their clients. */
export const certificateRow = <O extends Managed>(
  names: (cx: Cx<O>) => Names,
  serves: (object: DeepReadonly<O>) => boolean = () => true,
) =>
  rowsOf<O>()('CertificateReady', {
    when: object => serves(object) && overTls(object.spec),
    manages: [Secret, ...MANAGES],
    reads: READS,
    run: cx => certificate(cx, names(cx)),
  });

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
