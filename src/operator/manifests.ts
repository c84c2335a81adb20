import { OPERATOR_NAMESPACE } from '../runtime/plan/names.ts';
import type { Plan } from '../runtime/plan/row.ts';
import { WHOLE_NAMES } from '../services/pods/pod.ts';
import { LEASE_RULES, rules } from './rbac.ts';
import { NAME, type Scope } from './scope.ts';
export const labels = { 'app.kubernetes.io/name': NAME };

/** An operator that serves a part of a cluster has a name of its own, so that several can be installed. */
export interface Installed {
  /** Of the Deployment, its account and its roles. */
  readonly name: string;
  readonly scope: Scope;
}
const WHOLE: Installed = { name: NAME, scope: { namespaces: [], kinds: [] } };

export const labelsOf = (name: string) => (name === NAME ? labels : { ...labels, 'app.kubernetes.io/instance': name });
export const meta = (name: string, namespace?: string, of: string = NAME) => ({
  name,
  ...(namespace && { namespace }),
  labels: labelsOf(of),
});

export function role(
  kind: 'Role' | 'ClusterRole',
  name: string,
  rules: object[],
  namespace?: string,
  /** Whose account it is for. */
  of: string = NAME,
): object[] {
  const rbac = 'rbac.authorization.k8s.io';
  return [
    { apiVersion: `${rbac}/v1`, kind, metadata: meta(name, namespace, of), rules },
    {
      apiVersion: `${rbac}/v1`,
      kind: `${kind}Binding`,
      metadata: meta(name, namespace, of),
      roleRef: { apiGroup: rbac, kind, name },
      subjects: [{ kind: 'ServiceAccount', name: of, namespace: OPERATOR_NAMESPACE }],
    },
  ];
}

/** The plans of these kinds; all of them for none. */
export const plansOf = (plans: readonly Plan<never>[], kinds: readonly string[]): readonly Plan<never>[] =>
  kinds.length === 0 ? plans : plans.filter(({ kind }) => kinds.includes(kind.kind.toLowerCase()));

/**
 * What the operator may do. Without namespaces it serves the whole cluster; with them it gets a Role in each and a
 * small ClusterRole for what has no namespace (rule 1).
 */
export function rbac(
  plans: readonly Plan<never>[],
  { name, scope: { namespaces, kinds } }: Installed = WHOLE,
): object[] {
  const { namespaced, cluster } = rules(plansOf(plans, kinds));
  const lease = role('Role', `${name}-leader-election`, LEASE_RULES, OPERATOR_NAMESPACE, name);
  if (namespaces.length === 0)
    return [...role('ClusterRole', name, [...cluster, ...namespaced], undefined, name), ...lease];
  return [
    ...(cluster.length > 0 ? role('ClusterRole', name, cluster, undefined, name) : []),
    ...namespaces.flatMap(namespace => role('Role', name, namespaced, namespace, name)),
    ...lease,
  ];
}

/** The operator itself: one small process. `Recreate`, because two generations must not argue over the lease (rule 28). */
export const manager = (image: string, { name, scope: { namespaces, kinds } }: Installed = WHOLE): object[] => [
  {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: OPERATOR_NAMESPACE, labels: { ...labels, 'pod-security.kubernetes.io/enforce': 'restricted' } },
  },
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: meta(name, OPERATOR_NAMESPACE, name) },
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: meta(name, OPERATOR_NAMESPACE, name),
    spec: {
      replicas: 1,
      strategy: { type: 'Recreate' },
      selector: { matchLabels: labelsOf(name) },
      template: {
        metadata: { labels: labelsOf(name) },
        spec: {
          serviceAccountName: name,
          // Longer than the 30 s a stop may take, so that the lease is released.
          terminationGracePeriodSeconds: 40,
          dnsConfig: WHOLE_NAMES,
          securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: 'RuntimeDefault' } },
          containers: [
            {
              name: 'operator',
              image,
              imagePullPolicy: 'IfNotPresent',
              args: [
                'run',
                '--leader-elect',
                ...(namespaces.length > 0 ? [`--namespaces=${namespaces.join(',')}`] : []),
                ...(kinds.length > 0 ? [`--kinds=${kinds.join(',')}`] : []),
              ],
              env: [
                { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
                { name: 'POD_NAMESPACE', valueFrom: { fieldRef: { fieldPath: 'metadata.namespace' } } },
              ],
              ports: [{ name: 'http', containerPort: 8080 }],
              livenessProbe: { httpGet: { path: '/healthz', port: 'http' }, periodSeconds: 20 },
              readinessProbe: { httpGet: { path: '/readyz', port: 'http' }, periodSeconds: 5 },
              // Idle it uses a tenth of that; while a cloud starts, everything on the node waits for its next step.
              resources: { requests: { cpu: '200m', memory: '100Mi' }, limits: { memory: '256Mi' } },
              securityContext: {
                allowPrivilegeEscalation: false,
                readOnlyRootFilesystem: true,
                capabilities: { drop: ['ALL'] },
              },
              terminationMessagePolicy: 'FallbackToLogsOnError',
            },
          ],
        },
      },
    },
  },
];
