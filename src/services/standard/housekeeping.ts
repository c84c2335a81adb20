import { CronJob, Job, Pod, Secret } from '../../kube/resource.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import { type Row, rowsOf } from '../../runtime/plan/row.ts';
import { clean, cleaningScript } from '../chores/housekeeping.ts';
import type { ConfigFile } from '../config/config.ts';
import type { Also, PodBlock, Process } from '../pods/pod.ts';
import { blockOf } from '../pods/workload.ts';
import type { Configured } from './config.ts';
import { jobProcess } from './run-job.ts';

/** Who removes old rows: a process that has all but its argv, and the files it reads. */
export interface Cleaner {
  readonly process: Process;
  readonly files: readonly ConfigFile[];
  readonly block: PodBlock;
  readonly also?: Also;
}

/** HousekeepingReady, beside Ready: a service whose old rows stay is none the worse for its users. */
export const housekeepingRow = <O extends Managed, C>(
  { name, housekeeping }: { readonly name: string; readonly housekeeping?: readonly string[] | undefined },
  needs: { readonly config: Row<O, C>; readonly databaseSync: Row<O, unknown> },
  cleanerOf: (cx: Cx<O>, config: C) => Cleaner | undefined,
) =>
  rowsOf<O>()('HousekeepingReady', {
    needs,
    when: () => housekeeping !== undefined,
    aside: true,
    manages: housekeeping === undefined ? [] : [CronJob, Secret],
    reads: [Job, Pod],
    run: async (cx, { config }) => {
      const cleaner = cleanerOf(cx, config as C);
      if (cleaner === undefined) return;
      const { process, files, block, also } = cleaner;
      await clean(cx, cleaningScript(name, housekeeping ?? []), process, files, block, also);
    },
  });

/** As the first pods of a service's table. */
export const serviceCleaner = <O extends Managed, S, I>(
  cx: Cx<O>,
  { pods: [first] }: Configured<S, I>,
): Cleaner | undefined =>
  first && {
    process: jobProcess(first.process, 'housekeeping', []),
    files: first.files,
    block: blockOf(cx, first.workload),
  };
