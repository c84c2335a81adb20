import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { runPaths } from '../paths.ts';
import { bash } from '../shell.ts';
import { API_SERVICE_IP, apiServer, type LabNode, node } from './layout.ts';

const { pki, kubeconfigs } = runPaths;

async function key(file: string): Promise<void> {
  await bash(`umask 077; openssl ecparam -name prime256v1 -genkey -noout -out '${file}.key'`);
}

async function authority(name: string, commonName: string): Promise<void> {
  const file = join(pki, name);
  if (existsSync(`${file}.crt`)) return;
  await key(file);
  await bash(
    `openssl req -x509 -new -sha256 -days 3650 -key '${file}.key' -subj '/CN=${commonName}' \
     -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign,cRLSign,digitalSignature -out '${file}.part'
     mv '${file}.part' '${file}.crt'`,
  );
}

interface Certificate {
  readonly by: string;
  readonly subject: string;
  readonly use: 'clientAuth' | 'serverAuth' | 'serverAuth,clientAuth';
  readonly names?: readonly string[];
}

async function certificate(name: string, spec: Certificate): Promise<void> {
  const file = join(pki, name);
  if (existsSync(`${file}.crt`)) return;
  await key(file);
  const names = spec.names === undefined ? '' : `subjectAltName=${spec.names.join(',')}`;
  const extensions = [
    'basicConstraints=critical,CA:FALSE',
    'keyUsage=critical,digitalSignature,keyEncipherment',
    `extendedKeyUsage=${spec.use}`,
    names,
  ];
  writeFileSync(`${file}.ext`, `${extensions.join('\n')}\n`);
  const by = join(pki, spec.by);
  await bash(
    `openssl req -new -key '${file}.key' -subj '${spec.subject}' \
     | openssl x509 -req -CA '${by}.crt' -CAkey '${by}.key' -set_serial 0x$(openssl rand -hex 15) -sha256 -days 365 -extfile '${file}.ext' -out '${file}.part'
     mv '${file}.part' '${file}.crt'`,
  );
  rmSync(`${file}.ext`);
}

function kubeconfig(name: string, identity: string): void {
  const text = stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'lab', cluster: { server: apiServer, 'certificate-authority': join(pki, 'ca.crt') } }],
    users: [
      {
        name,
        user: { 'client-certificate': join(pki, `${identity}.crt`), 'client-key': join(pki, `${identity}.key`) },
      },
    ],
    contexts: [{ name: 'lab', context: { cluster: 'lab', user: name } }],
    'current-context': 'lab',
  });
  const file = join(kubeconfigs, `${name}.conf`);
  writeFileSync(file, text);
  chmodSync(file, 0o600);
}

/** Three authorities, as kubeadm has them: clients, etcd, and the aggregation layer don't trust each other's. */
export async function makePki(nodes: readonly LabNode[]): Promise<void> {
  mkdirSync(join(pki, 'etcd'), { recursive: true });
  mkdirSync(kubeconfigs, { recursive: true });
  const ip = node(1).ip;
  await authority('ca', 'kubernetes-ca');
  await authority('front-proxy-ca', 'front-proxy-ca');
  await authority('etcd/ca', 'etcd-ca');
  const here = ['DNS:localhost', 'IP:127.0.0.1', `IP:${ip}`];
  const service = [
    'kubernetes',
    'kubernetes.default',
    'kubernetes.default.svc',
    'kubernetes.default.svc.cluster.local',
  ];
  const wanted: Record<string, Certificate> = {
    'etcd/server': { by: 'etcd/ca', subject: '/CN=etcd', use: 'serverAuth,clientAuth', names: here },
    'apiserver-etcd-client': { by: 'etcd/ca', subject: '/CN=kube-apiserver-etcd-client', use: 'clientAuth' },
    apiserver: {
      by: 'ca',
      subject: '/CN=kube-apiserver',
      use: 'serverAuth',
      names: [...here, `IP:${API_SERVICE_IP}`, ...service.map(name => `DNS:${name}`)],
    },
    'apiserver-kubelet-client': {
      by: 'ca',
      subject: '/O=kubeadm:cluster-admins/CN=kube-apiserver-kubelet-client',
      use: 'clientAuth',
    },
    'front-proxy-client': { by: 'front-proxy-ca', subject: '/CN=front-proxy-client', use: 'clientAuth' },
    admin: { by: 'ca', subject: '/O=system:masters/CN=kubernetes-admin', use: 'clientAuth' },
    'controller-manager': { by: 'ca', subject: '/CN=system:kube-controller-manager', use: 'clientAuth' },
    scheduler: { by: 'ca', subject: '/CN=system:kube-scheduler', use: 'clientAuth' },
    'kube-proxy': { by: 'ca', subject: '/CN=system:kube-proxy', use: 'clientAuth' },
    'kube-router': { by: 'ca', subject: '/CN=system:kube-router', use: 'clientAuth' },
  };
  for (const each of nodes) {
    const subject = `/O=system:nodes/CN=system:node:${each.name}`;
    wanted[`kubelet-${each.name}`] = { by: 'ca', subject, use: 'clientAuth' };
    wanted[`kubelet-${each.name}-server`] = {
      by: 'ca',
      subject,
      use: 'serverAuth',
      names: [`DNS:${each.name}`, `IP:${each.ip}`, 'IP:127.0.0.1'],
    };
  }
  for (const [name, spec] of Object.entries(wanted)) await certificate(name, spec);
  if (!existsSync(join(pki, 'sa.pub'))) {
    await key(join(pki, 'sa'));
    await bash(`openssl ec -in '${pki}/sa.key' -pubout -out '${pki}/sa.pub'`);
  }
  for (const name of [
    'admin',
    'controller-manager',
    'scheduler',
    'kube-proxy',
    'kube-router',
    ...nodes.map(each => `kubelet-${each.name}`),
  ])
    kubeconfig(name, name);
}
