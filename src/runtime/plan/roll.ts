import type { AnyObject, DeepReadonly } from '../../kube/object.ts';
import { conditionOf, podTrouble } from './ready.ts';

type Live = DeepReadonly<AnyObject>;

interface SetSpec {
  readonly replicas?: number;
  readonly podManagementPolicy?: string;
  readonly updateStrategy?: { readonly type?: string };
}

/** No pod of ours takes longer to stop (MariaDB may take 300 s) or to start: what looks the same for so long, hangs. */
export const HANGS_MS = 300_000;

const serves = (pod: Live): boolean => !pod.metadata.deletionTimestamp && conditionOf(pod, 'Ready')?.status === 'True';
const revision = (pod: Live | undefined): string | undefined => pod?.metadata.labels?.['controller-revision-hash'];

/**
 * What a StatefulSet looks like while a new template would take a second pod down; undefined when it would not.
 *
 * A Parallel set takes its pods from the highest number down and waits for each, but when the template changes it starts
 * at the top again, and before Kubernetes 1.37 it does not see that a lower one is still away (pkg/controller/statefulset,
 * updateStatefulSet without MaxUnavailableStatefulSet). Of two pods that is both. As the top one goes first, a
 * template is without harm where the top one does not serve anyway: one that works nowhere is replaced at once.
 */
export function rollOf(set: Live, pods: readonly Live[]): string | undefined {
  const { replicas = 1, podManagementPolicy, updateStrategy } = (set.spec ?? {}) as SetSpec;
  if (podManagementPolicy !== 'Parallel' || updateStrategy?.type === 'OnDelete') return undefined;
  const members = Array.from({ length: replicas }, (_, i) =>
    pods.find(pod => pod.metadata.name === `${set.metadata.name}-${i}`),
  );
  const top = members.at(-1);
  if (top === undefined || !serves(top)) return undefined;
  const away = members.filter(pod => pod === undefined || !serves(pod));
  // The next one is about to go, though this moment all are there.
  const between = members.some(pod => revision(pod) !== revision(top));
  if (away.length === 0 && !between) return undefined;
  // Who stops may well end with an error.
  if (away.some(pod => pod && !pod.metadata.deletionTimestamp && podTrouble(pod))) return undefined;
  return members.map(pod => pod && `${pod.metadata.uid} ${serves(pod)} ${pod.metadata.deletionTimestamp}`).join();
}
