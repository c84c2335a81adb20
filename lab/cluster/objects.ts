/** Objects that the lab's own programs in the cluster have in common. */
export type Thing = Record<string, unknown>;

const RBAC = 'rbac.authorization.k8s.io';

export const rbac = (kind: string, name: string, rest: Thing): Thing => ({
  apiVersion: `${RBAC}/v1`,
  kind,
  metadata: { name },
  ...rest,
});

export const roleRef = (name: string): Thing => ({ apiGroup: RBAC, kind: 'ClusterRole', name });

export const serviceAccount = (namespace: string, name: string): Thing => ({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name, namespace },
});

/** Rights in all namespaces for an account. */
export const access = (namespace: string, name: string, rules: readonly Thing[]): Thing[] => [
  rbac('ClusterRole', name, { rules }),
  rbac('ClusterRoleBinding', name, {
    roleRef: roleRef(name),
    subjects: [{ kind: 'ServiceAccount', name, namespace }],
  }),
];

/** A Deployment of one program that needs no rights on its node. */
export const program = (namespace: string, name: string, container: Thing, volumes: readonly Thing[] = []): Thing => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: {
        serviceAccountName: name,
        securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: 'RuntimeDefault' } },
        containers: [
          {
            name,
            imagePullPolicy: 'Never',
            securityContext: {
              allowPrivilegeEscalation: false,
              readOnlyRootFilesystem: true,
              capabilities: { drop: ['ALL'] },
            },
            ...container,
          },
        ],
        ...(volumes.length > 0 && { volumes }),
      },
    },
  },
});
