import { Job, Pod } from '../../kube/resource.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import { type Row, rowsOf } from '../../runtime/plan/row.ts';
import type { DatabaseLink } from '../links/types.ts';
import { AWAITED } from '../pods/pod.ts';
import { blockOf } from '../pods/workload.ts';
import { syncStep, syncsOf } from './components.ts';
import type { Configured } from './config.ts';
import { jobProcess, runJob, type Step } from './run-job.ts';
import type { Databases, Service } from './table.ts';

/** DatabaseSyncReady: the schema is there, made by Jobs that run again when the database is another one. */
export const databaseSyncRow = <O extends Managed, C>(
  needs: { readonly config: Row<O, C>; readonly database: Row<O, Databases | undefined> },
  stepsOf: (cx: Cx<O>, config: C, database: Databases) => readonly Step[],
  when: () => boolean = () => true,
) =>
  rowsOf<O>()('DatabaseSyncReady', {
    needs,
    when,
    manages: [Job],
    reads: [Pod],
    run: async (cx, { config, database }) => {
      await cx.all(stepsOf(cx, config as C, (database as Databases | undefined) ?? {}).map(step => runJob(cx, step)));
    },
  });

/** The Jobs of a service's table. */
export const serviceSyncRow = <O extends Managed, S, I>(
  service: Service<O, S, I>,
  needs: { readonly config: Row<O, Configured<S, I>>; readonly database: Row<O, Databases | undefined> },
) =>
  databaseSyncRow(
    needs,
    (cx, { pods: [first] }, database) => {
      if (first === undefined) return [];
      const syncs = syncsOf(service);
      // A database without a sync of its own is made by that of the others.
      const shared = Object.keys(service.databases ?? {}).filter(name => !syncs.some(([own]) => own === name));
      return syncs.map(([name, argv]) => ({
        process: { ...jobProcess(first.process, syncStep(service, name), argv), requests: AWAITED },
        config: first.config,
        block: blockOf(cx, first.workload),
        inputs: [name, ...shared].flatMap(each => placeOf(database[each])),
      }));
    },
    () => syncsOf(service).length > 0,
  );

/** What a schema is made in: another place, or another database of that name, has none. */
export const placeOf = (link: DatabaseLink | undefined): unknown[] =>
  link === undefined ? [] : [link.host, link.port, link.database, ...(link.incarnation ? [link.incarnation] : [])];
