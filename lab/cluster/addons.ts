import { small } from '../images/names.ts';
import { runPaths } from '../paths.ts';
import { DNS_IP } from './layout.ts';
import { rbac, roleRef, type Thing } from './objects.ts';

/** ConfigMap with a hosts file of names outside the cluster; absent while there are none. */
export const DNS_HOSTS = 'coredns-hosts';

/** The API server's own identity towards kubelets (exec, logs, port-forward). */
const kubeletAccess = rbac('ClusterRoleBinding', 'kubeadm:cluster-admins', {
  roleRef: roleRef('cluster-admin'),
  subjects: [{ kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'kubeadm:cluster-admins' }],
});

// Short caches: a new Service name resolves within about a second of its creation.
const corefile = `.:53 {
    errors
    health {
        lameduck 2s
    }
    ready
    hosts /etc/coredns-hosts/hosts {
        ttl 5
        fallthrough
    }
    kubernetes cluster.local in-addr.arpa ip6.arpa {
        pods insecure
        ttl 5
    }
    cache 5
    loadbalance
    reload
}
`;

const dnsLabels = { 'k8s-app': 'kube-dns' };

const dns: Thing[] = [
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'coredns', namespace: 'kube-system' } },
  rbac('ClusterRole', 'system:coredns', {
    rules: [
      { apiGroups: [''], resources: ['services', 'pods', 'namespaces'], verbs: ['list', 'watch'] },
      { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
    ],
  }),
  rbac('ClusterRoleBinding', 'system:coredns', {
    roleRef: roleRef('system:coredns'),
    subjects: [{ kind: 'ServiceAccount', name: 'coredns', namespace: 'kube-system' }],
  }),
  {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'coredns', namespace: 'kube-system' },
    data: { Corefile: corefile },
  },
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'coredns', namespace: 'kube-system', labels: dnsLabels },
    spec: {
      replicas: 1,
      selector: { matchLabels: dnsLabels },
      template: {
        metadata: { labels: dnsLabels },
        spec: {
          priorityClassName: 'system-cluster-critical',
          serviceAccountName: 'coredns',
          dnsPolicy: 'Default',
          containers: [
            {
              name: 'coredns',
              image: small.coredns,
              imagePullPolicy: 'Never',
              args: ['-conf', '/etc/coredns/Corefile'],
              ports: [
                { name: 'dns', containerPort: 53, protocol: 'UDP' },
                { name: 'dns-tcp', containerPort: 53, protocol: 'TCP' },
              ],
              readinessProbe: {
                httpGet: { path: '/ready', port: 8181 },
                periodSeconds: 2,
                timeoutSeconds: 5,
                failureThreshold: 5,
              },
              livenessProbe: { httpGet: { path: '/health', port: 8080 }, initialDelaySeconds: 10, timeoutSeconds: 5 },
              resources: { requests: { cpu: '100m', memory: '40Mi' }, limits: { memory: '170Mi' } },
              securityContext: {
                allowPrivilegeEscalation: false,
                readOnlyRootFilesystem: true,
                capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] },
              },
              volumeMounts: [
                { name: 'config', mountPath: '/etc/coredns', readOnly: true },
                { name: 'hosts', mountPath: '/etc/coredns-hosts', readOnly: true },
              ],
            },
          ],
          volumes: [
            { name: 'config', configMap: { name: 'coredns' } },
            { name: 'hosts', configMap: { name: DNS_HOSTS, optional: true } },
          ],
        },
      },
    },
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'kube-dns', namespace: 'kube-system', labels: dnsLabels },
    spec: {
      selector: dnsLabels,
      clusterIP: DNS_IP,
      ports: [
        { name: 'dns', port: 53, protocol: 'UDP' },
        { name: 'dns-tcp', port: 53, protocol: 'TCP' },
      ],
    },
  },
];

const STORAGE = 'local-path-storage';
const storageSubjects = [{ kind: 'ServiceAccount', name: 'local-path', namespace: STORAGE }];

const helperPod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'helper-pod' },
  spec: {
    tolerations: [{ operator: 'Exists' }],
    containers: [{ name: 'helper-pod', image: small.busybox, imagePullPolicy: 'IfNotPresent' }],
  },
};

const storage: Thing[] = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: STORAGE } },
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'local-path', namespace: STORAGE } },
  rbac('ClusterRole', 'local-path', {
    rules: [
      {
        apiGroups: [''],
        resources: ['nodes', 'persistentvolumeclaims', 'configmaps', 'pods', 'pods/log'],
        verbs: ['get', 'list', 'watch'],
      },
      {
        apiGroups: [''],
        resources: ['persistentvolumes'],
        verbs: ['get', 'list', 'watch', 'create', 'patch', 'update', 'delete'],
      },
      { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch'] },
      { apiGroups: ['storage.k8s.io'], resources: ['storageclasses'], verbs: ['get', 'list', 'watch'] },
    ],
  }),
  rbac('ClusterRoleBinding', 'local-path', { roleRef: roleRef('local-path'), subjects: storageSubjects }),
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: { name: 'local-path', namespace: STORAGE },
    rules: [
      { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch', 'create', 'patch', 'update', 'delete'] },
    ],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: 'local-path', namespace: STORAGE },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'local-path' },
    subjects: storageSubjects,
  },
  {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'local-path-config', namespace: STORAGE },
    data: {
      'config.json': JSON.stringify({
        nodePathMap: [{ node: 'DEFAULT_PATH_FOR_NON_LISTED_NODES', paths: [runPaths.volumes] }],
      }),
      setup: '#!/bin/sh\nset -eu\nmkdir -m 0777 -p "$VOL_DIR"\n',
      teardown: '#!/bin/sh\nset -eu\nrm -rf "$VOL_DIR"\n',
      'helperPod.yaml': JSON.stringify(helperPod),
    },
  },
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'local-path-provisioner', namespace: STORAGE },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: 'local-path' } },
      template: {
        metadata: { labels: { app: 'local-path' } },
        spec: {
          serviceAccountName: 'local-path',
          containers: [
            {
              name: 'provisioner',
              image: small.localPath,
              imagePullPolicy: 'Never',
              args: ['start', '--config', '/etc/config/config.json'],
              env: [
                { name: 'POD_NAMESPACE', valueFrom: { fieldRef: { fieldPath: 'metadata.namespace' } } },
                { name: 'CONFIG_MOUNT_PATH', value: '/etc/config/' },
                // Without it the helper pods run as an account that does not exist here.
                { name: 'SERVICE_ACCOUNT_NAME', value: 'local-path' },
              ],
              volumeMounts: [{ name: 'config', mountPath: '/etc/config/' }],
            },
          ],
          volumes: [{ name: 'config', configMap: { name: 'local-path-config' } }],
        },
      },
    },
  },
  {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: {
      name: 'local-path',
      // Volumes of type `local` get fsGroup applied; those of type `hostPath` do not.
      annotations: { 'storageclass.kubernetes.io/is-default-class': 'true', defaultVolumeType: 'local' },
    },
    provisioner: 'rancher.io/local-path',
    volumeBindingMode: 'WaitForFirstConsumer',
    reclaimPolicy: 'Delete',
    allowVolumeExpansion: false,
  },
];

export const addons = { apiVersion: 'v1', kind: 'List', items: [kubeletAccess, ...dns, ...storage] };

/** Deployments that must be available before the cluster is. */
export const addonDeployments: readonly (readonly [namespace: string, name: string])[] = [
  ['kube-system', 'coredns'],
  [STORAGE, 'local-path-provisioner'],
];
