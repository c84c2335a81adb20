import type { AnyObject } from '../../src/kube/object.ts';
import type { Cloud } from './cloud.ts';

interface PodSpec {
  readonly imagePullSecrets?: readonly { readonly name: string }[];
  readonly containers: readonly { readonly image: string }[];
  readonly initContainers?: readonly { readonly image: string }[];
}

/** The pod spec of every workload, Job and CronJob. */
export function podSpecs(cloud: Cloud): readonly (readonly [string, PodSpec])[] {
  const specOf = ({ spec }: AnyObject): PodSpec | undefined => {
    type Templated = { readonly template?: { readonly spec: PodSpec } };
    const { template, jobTemplate } = (spec ?? {}) as Templated & {
      readonly jobTemplate?: { readonly spec: Templated };
    };
    return (template ?? jobTemplate?.spec.template)?.spec;
  };
  return cloud.store
    .objects()
    .filter(({ kind }) => ['Deployment', 'StatefulSet', 'DaemonSet', 'Job', 'CronJob'].includes(kind))
    .map(object => [`${object.kind} ${object.metadata.name}`, specOf(object)!] as const);
}

export const imagesOf = ({ containers, initContainers = [] }: PodSpec): string[] =>
  [...containers, ...initContainers].map(({ image }) => image);

export const MIRROR = 'registry.example.com:5000/mirror';
/** A registry of one's own and the Secrets that open it, as fields of a spec. */
export const PRIVATE = { imageRegistry: MIRROR, imagePullSecrets: [{ name: 'pull' }, { name: 'other' }] };
/** How the operator is told that pods with rights on the node may come from there. */
export const TRUSTING = { TRUSTED_REGISTRIES: MIRROR };
