import type { EnvVar } from 'kubernetes-types/core/v1.d.ts';

/**
 * A variable with a field of the pod. The version is what the API server would put there; a fieldRef is owned as a whole,
 * so one without it differs from the one that is stored, and would be written again after every restart (rule 14).
 */
export const fieldOf = (name: string, fieldPath: string): EnvVar => ({
  name,
  valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath } },
});
