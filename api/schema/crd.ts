import { rule, type ValidationRule } from './helpers.ts';
import type { AnyKind, Column } from './kind.ts';
import { specWithNotes, statusWithNotes } from './planned.ts';
import type { StructuralSchema } from './structural.ts';

/** Ours, so that the installer can distinguish our CRDs from those of openstack-k8s-operators with the same name (engine rule 24). */
const MANAGED_BY = { 'app.kubernetes.io/managed-by': 'openstack-operator' };

export interface CustomResourceDefinition {
  apiVersion: 'apiextensions.k8s.io/v1';
  kind: 'CustomResourceDefinition';
  metadata: { name: string; labels: Record<string, string>; annotations?: Record<string, string> };
  spec: {
    group: string;
    scope: 'Namespaced';
    names: {
      kind: string;
      listKind: string;
      plural: string;
      singular: string;
      shortNames: readonly string[];
      categories: readonly string[];
    };
    versions: {
      name: string;
      served: true;
      storage: true;
      subresources: { status: Record<string, never> };
      additionalPrinterColumns: readonly Column[];
      schema: { openAPIV3Schema: StructuralSchema };
    }[];
  };
}

/**
 * At the root, where the rule sees what runs. Which way between two releases may be gone the operator decides
 * (src/services/standard/release.ts); until it can upgrade, none may. A write of status leaves spec as it is and passes.
 */
const RELEASE_RULE = rule(
  '!has(self.spec.release) || !has(oldSelf.spec.release) || self.spec.release == oldSelf.spec.release || !has(oldSelf.status) || !has(oldSelf.status.release) || self.spec.release == oldSelf.status.release',
  "spec.release can't change while another release runs: this version of the operator does not upgrade what runs; leave spec.release at what status.release says",
  { fieldPath: '.spec.release' },
);

const rootRules = (kind: AnyKind): readonly ValidationRule[] => [
  ...kind.nameRules,
  ...(kind.specFields.includes('release') ? [RELEASE_RULE] : []),
];

/** The whole object: `spec` may be absent on the wire and is then defaulted, with every default inside it. */
export function objectSchema(kind: AnyKind): StructuralSchema {
  const { description: _, ...spec } = specWithNotes(kind);
  return {
    description: kind.description,
    type: 'object',
    ...(rootRules(kind).length > 0 ? { 'x-kubernetes-validations': rootRules(kind) } : {}),
    properties: {
      apiVersion: { description: `Always ${kind.group}/${kind.version}.`, type: 'string' },
      kind: { description: `Always ${kind.kind}.`, type: 'string' },
      metadata: { type: 'object' },
      spec: { description: 'What you want.', ...spec, default: {} },
      status: statusWithNotes(kind),
    },
  };
}

export function crdOf(kind: AnyKind): CustomResourceDefinition {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${kind.plural}.${kind.group}`,
      labels: MANAGED_BY,
      // The API server refuses *.k8s.io groups without it; the text after the comma is for people.
      ...(kind.group.endsWith('.k8s.io')
        ? { annotations: { 'api-approved.kubernetes.io': 'unapproved, not a Kubernetes community API' } }
        : {}),
    },
    spec: {
      group: kind.group,
      scope: 'Namespaced',
      names: {
        kind: kind.kind,
        listKind: `${kind.kind}List`,
        plural: kind.plural,
        singular: kind.singular,
        shortNames: kind.shortNames,
        categories: ['openstack'],
      },
      versions: [
        {
          name: kind.version,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: kind.columns,
          schema: { openAPIV3Schema: objectSchema(kind) },
        },
      ],
    },
  };
}
