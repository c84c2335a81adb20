import { Deployment, PodDisruptionBudget, ReplicaSet, type Resource } from '../../kube/resource.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import { type Row, rowsOf } from '../../runtime/plan/row.ts';
import { USERS } from '../links/credentials.ts';
import { homeOf, nameOf, type Pods, runPods } from '../pods/workload.ts';
import { changesRelease } from './release.ts';

/** WorkloadsReady: pods run what the config says. */
export const workloadsRow = <O extends Managed, S, C>(
  needs: { readonly config: Row<O, C> } & Readonly<Record<string, Row<O, unknown>>>,
  runs: {
    /** What the pods are made by. */
    readonly resources: readonly Resource[];
    readonly pods: (cx: Cx<O>, config: C) => readonly Pods<S>[];
    /** Throws while a neighbour that the first pods ask something at once is not Ready. */
    readonly edges: (cx: Cx<O>) => void | Promise<void>;
  },
) =>
  rowsOf<O>()('WorkloadsReady', {
    needs,
    manages: [PodDisruptionBudget, ...runs.resources],
    reads: [...USERS, ReplicaSet],
    run: async (cx, { config }) => {
      const pods = runs.pods(cx, config as C);
      const started = pods.some(each =>
        homeOf(cx, each.workload).get(each.workload.as ?? Deployment, nameOf(cx, each)),
      );
      // Edges gate the first start and a new release: an edit never waits for a neighbour (rule 9).
      if (!started || changesRelease(cx.object)) await runs.edges(cx);
      const { wanted, ready } = await runPods(cx, pods);
      cx.report({ replicas: wanted, readyReplicas: ready } as never);
    },
  });
