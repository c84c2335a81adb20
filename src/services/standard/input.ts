import { Secret } from '../../kube/resource.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import { rowsOf } from '../../runtime/plan/row.ts';
import type { Service } from './table.ts';

/** InputReady: what only this service has. */
export const inputRow = <O extends Managed, S, I>(service: Service<O, S, I>) =>
  rowsOf<O>()('InputReady', {
    when: () => service.input !== undefined,
    manages: [Secret, ...(service.manages ?? [])],
    reads: service.reads ?? [],
    run: cx => service.input!(cx),
    undo: async cx => service.leave?.(cx),
  });
