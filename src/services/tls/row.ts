import type { DeepReadonly } from '../../kube/object.ts';
import { Secret } from '../../kube/resource.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import { rowsOf } from '../../runtime/plan/row.ts';
import { certificate, MANAGES, type Names, overTls, READS } from './certificate.ts';

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
