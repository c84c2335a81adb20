import type { PodSpec } from 'kubernetes-types/core/v1.d.ts';
import type { DeepReadonly } from '../../kube/object.ts';

/** Secrets without which a pod of this template would not start, or not pull its images. */
export function secretsNamed(pod: DeepReadonly<PodSpec>): readonly string[] {
  const { volumes = [], imagePullSecrets = [], initContainers = [], containers = [] } = pod;
  const names = [
    ...volumes.flatMap(volume => [
      volume.secret?.secretName,
      ...(volume.projected?.sources ?? []).map(source => source.secret?.name),
      volume.csi?.nodePublishSecretRef?.name,
    ]),
    ...imagePullSecrets.map(({ name }) => name),
    ...[...initContainers, ...containers].flatMap(({ env = [], envFrom = [] }) => [
      ...env.map(({ valueFrom }) => valueFrom?.secretKeyRef?.name),
      ...envFrom.map(({ secretRef }) => secretRef?.name),
    ]),
  ];
  return [...new Set(names.filter(name => name !== undefined))];
}
