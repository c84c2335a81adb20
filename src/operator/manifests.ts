import type { Plan } from '../runtime/plan/row.ts';
import { WHOLE_NAMES } from '../services/pod.ts';
import { LEASE_RULES, rules } from './rbac.ts';

export const OPERATOR_NAMESPACE = 'openstack-operator-system';
export const NAME = 'openstack-operator';
export const labels = { 'app.kubernetes.io/name': NAME };

export const meta = (name: string, namespace?: string) => ({ name, ...(namespace && { namespace }), labels });
const subject = { kind: 'ServiceAccount', name: NAME, namespace: OPERATOR_NAMESPACE };

export function role(kind: 'Role' | 'ClusterRole', name: string, rules: object[], namespace?: string): object[] {
  const rbac = 'rbac.authorization.k8s.io';
  return [
    { apiVersion: `${rbac}/v1`, kind, metadata: meta(name, namespace), rules },
    {
      apiVersion: `${rbac}/v1`,
      kind: `${kind}Binding`,
      metadata: meta(name, namespace),
      roleRef: { apiGroup: rbac, kind, name },
      subjects: [subject],
    },
  ];
}

/**
 * What the operator may do. Without namespaces it serves the whole cluster; with them it gets a Role in each and a
 * small ClusterRole for what has no namespace (rule 1).
 */
export function rbac(plans: readonly Plan<never>[], namespaces: readonly string[] = []): object[] {
  const { namespaced, cluster } = rules(plans);
  const lease = role('Role', `${NAME}-leader-election`, LEASE_RULES, OPERATOR_NAMESPACE);
  if (namespaces.length === 0) return [...role('ClusterRole', NAME, [...cluster, ...namespaced]), ...lease];
  return [
    ...role('ClusterRole', NAME, cluster),
    ...namespaces.flatMap(namespace => role('Role', NAME, namespaced, namespace)),
    ...lease,
  ];
}

/** The operator itself: one small process. `Recreate`, because two generations must not argue over the lease (rule 28). */
export const manager = (image: string): object[] => [
  {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: OPERATOR_NAMESPACE, labels: { ...labels, 'pod-security.kubernetes.io/enforce': 'restricted' } },
  },
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: meta(NAME, OPERATOR_NAMESPACE) },
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: meta(NAME, OPERATOR_NAMESPACE),
    spec: {
      replicas: 1,
      strategy: { type: 'Recreate' },
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          serviceAccountName: NAME,
          // Longer than the 30 s a stop may take, so that the lease is released.
          terminationGracePeriodSeconds: 40,
          dnsConfig: WHOLE_NAMES,
          securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: 'RuntimeDefault' } },
          containers: [
            {
              name: 'operator',
              image,
              imagePullPolicy: 'IfNotPresent',
              args: ['run', '--leader-elect'],
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
