import { Job, Pod } from '../../kube/resource.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import { type Row, rowsOf } from '../../runtime/plan/row.ts';
import { blockOf } from '../pods/workload.ts';
import type { Configured } from './config.ts';
import { jobProcess, runJob } from './run-job.ts';
import type { Databases, Service } from './table.ts';

/** JobsReady: work that is done once, and that no pod waits for. */
export const jobsRow = <O extends Managed, S, I>(
  service: Service<O, S, I>,
  needs: {
    readonly config: Row<O, Configured<S, I>>;
    readonly databaseSync: Row<O, unknown>;
    readonly database: Row<O, Databases | undefined>;
  },
) =>
  rowsOf<O>()('JobsReady', {
    needs,
    when: () => Object.keys(service.jobs ?? {}).length > 0,
    manages: [Job],
    reads: [Pod],
    run: async (cx, { config, database }) => {
      const [first] = config.pods;
      if (first === undefined) return;
      const inputs = Object.values(database ?? {}).map(({ host, port, database }) => [host, port, database]);
      const steps = Object.entries(service.jobs ?? {}).map(([step, argv]) => jobProcess(first.process, step, argv));
      const block = blockOf(cx, first.workload);
      await cx.all(steps.map(process => runJob(cx, { process, config: first.config, block, inputs })));
    },
  });
