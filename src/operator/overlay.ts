import { hashOf } from '../runtime/plan/canonical.ts';
import type { Plan } from '../runtime/plan/row.ts';
import { type Installed, manager, rbac } from './manifests.ts';
import { leaseName, NAME, type Scope } from './scope.ts';
import { webhook, webhookPatch } from './webhook.ts';

/** Pods are named after it, with a hash each, and have 63 characters. */
const LONGEST = 40;

/** After what it serves, so that several stand side by side. */
export function installedName(scope: Scope): string {
  const name = leaseName(scope).replaceAll('.', '-');
  return name.length <= LONGEST ? name : `${NAME}-${hashOf(leaseName(scope)).slice(0, 8)}`;
}

export interface OverlayOptions {
  readonly plans: readonly Plan<never>[];
  readonly image: string;
  readonly installed: Installed;
  readonly webhook?: boolean;
}

/** An operator for some namespaces or kinds, as a folder for kustomize: its rights, its process. CRDs are everybody's. */
export function overlay({ plans, image, installed, webhook: asks = false }: OverlayOptions): Record<string, object[]> {
  return {
    'role.yaml': rbac(plans, installed),
    'manager.yaml': manager(image, installed),
    ...(asks && { 'webhook.yaml': webhook(installed) }),
    'kustomization.yaml': [
      {
        apiVersion: 'kustomize.config.k8s.io/v1beta1',
        kind: 'Kustomization',
        resources: ['role.yaml', 'manager.yaml', ...(asks ? ['webhook.yaml'] : [])],
        ...(asks && { patches: [webhookPatch(installed.name)] }),
      },
    ],
  };
}
