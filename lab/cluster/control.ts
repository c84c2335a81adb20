import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { runPaths } from '../paths.ts';
import { run, until } from '../shell.ts';
import { tool } from '../tools.ts';
import { alive, enter, startDaemon } from './host.ts';
import { API_PORT, apiServer, node, POD_CIDR, SERVICE_CIDR } from './layout.ts';

const { pki, kubeconfigs } = runPaths;
const file = (name: string): string => join(pki, name);
const config = (name: string): string => join(kubeconfigs, `${name}.conf`);

export const CONTROL = 'control';
export const auditLog = join(runPaths.log, 'audit.log');

const flags = (values: Record<string, string | number | true>): string[] =>
  Object.entries(values).map(([name, value]) => (value === true ? `--${name}` : `--${name}=${value}`));

function etcdFlags(): string[] {
  const peer = 'https://127.0.0.1:2380';
  const client = 'https://127.0.0.1:2379';
  return flags({
    name: 'lab',
    'data-dir': runPaths.etcd,
    // The lab is never recovered from a power cut of the machine, and a write to a slow disk is 10 ms of every request.
    'unsafe-no-fsync': true,
    'listen-client-urls': client,
    'advertise-client-urls': client,
    'listen-peer-urls': peer,
    'initial-advertise-peer-urls': peer,
    'initial-cluster': `lab=${peer}`,
    'cert-file': file('etcd/server.crt'),
    'key-file': file('etcd/server.key'),
    'trusted-ca-file': file('etcd/ca.crt'),
    'client-cert-auth': true,
    'peer-cert-file': file('etcd/server.crt'),
    'peer-key-file': file('etcd/server.key'),
    'peer-trusted-ca-file': file('etcd/ca.crt'),
    'peer-client-cert-auth': true,
    'listen-metrics-urls': 'http://127.0.0.1:2381',
    'log-level': 'warn',
  });
}

function apiserverFlags(auditPolicy: string): string[] {
  return flags({
    'advertise-address': node(1).ip,
    'bind-address': '0.0.0.0',
    'secure-port': API_PORT,
    'etcd-servers': 'https://127.0.0.1:2379',
    'etcd-cafile': file('etcd/ca.crt'),
    'etcd-certfile': file('apiserver-etcd-client.crt'),
    'etcd-keyfile': file('apiserver-etcd-client.key'),
    'client-ca-file': file('ca.crt'),
    'tls-cert-file': file('apiserver.crt'),
    'tls-private-key-file': file('apiserver.key'),
    'kubelet-certificate-authority': file('ca.crt'),
    'kubelet-client-certificate': file('apiserver-kubelet-client.crt'),
    'kubelet-client-key': file('apiserver-kubelet-client.key'),
    'kubelet-preferred-address-types': 'InternalIP',
    'requestheader-client-ca-file': file('front-proxy-ca.crt'),
    'requestheader-allowed-names': 'front-proxy-client',
    'requestheader-extra-headers-prefix': 'X-Remote-Extra-',
    'requestheader-group-headers': 'X-Remote-Group',
    'requestheader-username-headers': 'X-Remote-User',
    'proxy-client-cert-file': file('front-proxy-client.crt'),
    'proxy-client-key-file': file('front-proxy-client.key'),
    'service-account-issuer': 'https://kubernetes.default.svc.cluster.local',
    'service-account-key-file': file('sa.pub'),
    'service-account-signing-key-file': file('sa.key'),
    'authorization-mode': 'Node,RBAC',
    // PodSecurity is among the plug-ins that are on by themselves.
    'enable-admission-plugins': 'NodeRestriction',
    'service-cluster-ip-range': SERVICE_CIDR,
    'allow-privileged': true,
    'enable-aggregator-routing': true,
    // Pods leave a dead node after seconds, so that stories about dead nodes don't take five minutes.
    'default-not-ready-toleration-seconds': 10,
    'default-unreachable-toleration-seconds': 10,
    'audit-policy-file': auditPolicy,
    'audit-log-path': auditLog,
    'audit-log-maxsize': 200,
    'audit-log-maxbackup': 3,
    profiling: 'false',
    v: 1,
  });
}

/**
 * Who did what to which object, for every request. Bodies of nothing but statuses, so no secrets: bench/gantt.ts reads
 * from them when a thing was done.
 */
function writeAuditPolicy(): string {
  const path = join(runPaths.kubeconfigs, 'audit-policy.yaml');
  writeFileSync(
    path,
    stringify({
      apiVersion: 'audit.k8s.io/v1',
      kind: 'Policy',
      omitStages: ['RequestReceived'],
      omitManagedFields: true,
      rules: [
        {
          level: 'RequestResponse',
          verbs: ['update', 'patch'],
          resources: [
            { group: 'openstack.k8s.io', resources: ['*/status'] },
            { group: 'nova.openstack.org', resources: ['*/status'] },
            { group: 'apps', resources: ['statefulsets/status', 'deployments/status', 'daemonsets/status'] },
            { group: 'batch', resources: ['jobs/status'] },
          ],
        },
        { level: 'Metadata' },
      ],
    }),
  );
  return path;
}

async function answers(path: string): Promise<boolean> {
  const curl = [
    'curl',
    '-sf',
    '--cacert',
    file('ca.crt'),
    '--cert',
    file('admin.crt'),
    '--key',
    file('admin.key'),
    `${apiServer}${path}`,
  ];
  const [program, ...args] = [...enter(CONTROL), ...curl];
  return (await run(program!, args)).code === 0;
}

export async function startControlPlane(): Promise<void> {
  mkdirSync(runPaths.etcd, { recursive: true, mode: 0o700 });
  await startDaemon(CONTROL, 'etcd', [await tool('etcd'), ...etcdFlags()]);
  await startDaemon(CONTROL, 'kube-apiserver', [await tool('kube-apiserver'), ...apiserverFlags(writeAuditPolicy())]);
  await until(
    'kube-apiserver',
    120,
    () => answers('/readyz'),
    () => alive('kube-apiserver') && alive('etcd'),
  );
}

export async function startControllers(): Promise<void> {
  const shared = (name: string): Record<string, string | true> => ({
    kubeconfig: config(name),
    'authentication-kubeconfig': config(name),
    'authorization-kubeconfig': config(name),
    'bind-address': '127.0.0.1',
    'leader-elect': 'false',
  });
  const manager = flags({
    ...shared('controller-manager'),
    'client-ca-file': file('ca.crt'),
    'requestheader-client-ca-file': file('front-proxy-ca.crt'),
    'root-ca-file': file('ca.crt'),
    'cluster-signing-cert-file': file('ca.crt'),
    'cluster-signing-key-file': file('ca.key'),
    'service-account-private-key-file': file('sa.key'),
    'use-service-account-credentials': true,
    'cluster-cidr': POD_CIDR,
    'allocate-node-cidrs': 'false',
    'service-cluster-ip-range': SERVICE_CIDR,
    'node-monitor-period': '2s',
    'node-monitor-grace-period': '16s',
    v: 1,
  });
  await startDaemon(CONTROL, 'kube-controller-manager', [await tool('kube-controller-manager'), ...manager]);
  await startDaemon(CONTROL, 'kube-scheduler', [
    await tool('kube-scheduler'),
    ...flags({ ...shared('scheduler'), v: 1 }),
  ]);
}
