import type { AnyObject } from '../kube/object.ts';
import { apiVersionOf, CustomResourceDefinition, type Resource, resourceName } from '../kube/resource.ts';

/** A CRD for a kind of others, of which we know the name only. */
export const takingAnything = (resource: Resource): AnyObject =>
  ({
    apiVersion: apiVersionOf(CustomResourceDefinition),
    kind: 'CustomResourceDefinition',
    metadata: {
      name: resourceName(resource),
      annotations: { 'api-approved.kubernetes.io': 'https://example.org' },
    },
    spec: {
      group: resource.group,
      scope: resource.namespaced ? 'Namespaced' : 'Cluster',
      names: { kind: resource.kind, plural: resource.plural, singular: resource.kind.toLowerCase() },
      versions: [
        {
          name: resource.version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  }) as object as AnyObject;
