import type { AnyKind } from '../../api/schema/kind.ts';
import { labels } from './manifests.ts';
import { NAME } from './scope.ts';

/** What the roles of Kubernetes for people get of our kinds; nobody needs to bind them. Each holds those before it. */
const ROLES = {
  view: { resources: ['', '/status'], verbs: ['get', 'list', 'watch'] },
  edit: { resources: [''], verbs: ['create', 'delete', 'patch', 'update'] },
  // To repair what the operator can't: a status that was lost, a namespace to empty at once.
  admin: { resources: ['', '/status'], verbs: ['deletecollection', 'patch', 'update'] },
} as const;

export const userRoles = (kinds: readonly AnyKind[]): object[] =>
  Object.entries(ROLES).map(([name, { resources, verbs }]) => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: {
      name: `${NAME}-${name}`,
      labels: { ...labels, [`rbac.authorization.k8s.io/aggregate-to-${name}`]: 'true' },
    },
    rules: [...new Set(kinds.map(({ group }) => group))].sort().map(group => ({
      apiGroups: [group],
      resources: kinds
        .filter(kind => kind.group === group)
        .flatMap(({ plural }) => resources.map(sub => `${plural}${sub}`))
        .sort(),
      verbs: [...verbs],
    })),
  }));
