import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tool } from '../../lab/tools.ts';

/** A real etcd + kube-apiserver on 127.0.0.1: the judge of the embedded Store, and the ground of `*.real.test.ts`. */
export interface ApiServer {
  readonly url: string;
  /** PEM. */
  readonly ca: string;
  readonly token: (user: User) => string;
  /** Path of a kubeconfig file for the user. */
  readonly kubeconfig: (user: User) => string;
  /** Path of the audit log: one JSON line per request, level Metadata. */
  readonly auditLog: string;
  /** Ends kube-apiserver and starts it again on the same port and data; etcd goes on. */
  readonly restart: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** `admin` and `pretender` may do everything (system:masters); the others only what RBAC objects give them. */
export type User = 'admin' | 'pretender' | 'operator' | 'viewer';
const groups: Record<User, string> = {
  admin: 'system:masters',
  pretender: 'system:masters',
  operator: 'operators',
  viewer: 'viewers',
};

/** The path of etcd, kube-apiserver or kubectl; lab/tools builds them when they are not there, which takes minutes. */
export const program = (name: 'etcd' | 'kube-apiserver' | 'kubectl'): Promise<string> => tool(name);

export interface ApiServerOptions {
  /** Further flags of kube-apiserver; the later of two equal flags wins. */
  readonly flags?: readonly string[];
  /** Keep the data directory, for a look afterwards. */
  readonly keep?: boolean;
}

const AUDIT_POLICY = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- level: Metadata
`;

export async function startApiServer(options: ApiServerOptions = {}): Promise<ApiServer> {
  const binaries = { etcd: await program('etcd'), 'kube-apiserver': await program('kube-apiserver') };
  const dir = mkdtempSync(join(tmpdir(), 'apiserver-'));
  const [port, client, peer] = (await Promise.all([freePort(), freePort(), freePort()])) as [number, number, number];
  const file = (name: string, text: string) => {
    writeFileSync(join(dir, name), text, { mode: 0o600 });
    return join(dir, name);
  };
  const users = Object.keys(groups) as User[];
  const token = (user: User) => `token-of-${user}`;
  const tokens = file('tokens.csv', users.map(u => `${token(u)},${u},${u},"${groups[u]}"\n`).join(''));
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const key = file('sa.key', privateKey.export({ type: 'sec1', format: 'pem' }) as string);
  const auditLog = join(dir, 'audit.log');

  const start = (name: keyof typeof binaries, args: string[]) => run(binaries[name], args, join(dir, `${name}.log`));
  const etcd = start('etcd', [
    ...['--data-dir', join(dir, 'etcd'), '--name', 'one', '--unsafe-no-fsync', '--log-level', 'error'],
    ...['--listen-client-urls', `http://127.0.0.1:${client}`, '--advertise-client-urls', `http://127.0.0.1:${client}`],
    ...['--listen-peer-urls', `http://127.0.0.1:${peer}`, '--initial-advertise-peer-urls', `http://127.0.0.1:${peer}`],
    ...['--initial-cluster', `one=http://127.0.0.1:${peer}`],
  ]);
  const serverArgs = [
    ...['--bind-address', '127.0.0.1', '--secure-port', String(port), '--cert-dir', join(dir, 'certs')],
    ...['--etcd-servers', `http://127.0.0.1:${client}`, '--service-cluster-ip-range', '10.96.0.0/12'],
    ...['--token-auth-file', tokens, '--authorization-mode', 'RBAC', '--endpoint-reconciler-type', 'none'],
    ...['--service-account-issuer', 'https://kubernetes.default.svc.cluster.local'],
    ...['--service-account-key-file', key, '--service-account-signing-key-file', key],
    '--allow-privileged=true',
    // The plugin refuses pods until a controller has made the ServiceAccount `default`, and none runs here.
    ...['--disable-admission-plugins', 'ServiceAccount'],
    ...['--audit-log-path', auditLog, '--audit-policy-file', file('audit.yaml', AUDIT_POLICY)],
    ...(options.flags ?? []),
  ];
  let apiserver = start('kube-apiserver', serverArgs);
  const stop = async () => {
    await apiserver.stop();
    await etcd.stop();
    if (!options.keep) rmSync(dir, { recursive: true, force: true });
  };

  const url = `https://127.0.0.1:${port}`;
  const certificate = join(dir, 'certs', 'apiserver.crt');
  const untilReady = async () => {
    const deadline = Date.now() + 120_000;
    for (;;) {
      const dead = [etcd, apiserver].find(p => p.exited());
      if (dead || Date.now() > deadline) {
        const log = tail((dead ?? apiserver).log);
        await stop();
        throw new Error(`the API server ${dead ? 'ended' : 'was not ready'} in ${dir}:\n${log}`);
      }
      if (existsSync(certificate) && (await ready(url, readFileSync(certificate, 'utf8'), token('admin')))) break;
      await new Promise(resolve => setTimeout(resolve, 100));
    }
  };
  await untilReady();
  const restart = async () => {
    await apiserver.stop();
    apiserver = start('kube-apiserver', serverArgs);
    await untilReady();
  };
  const ca = readFileSync(certificate, 'utf8');
  const kubeconfig = (user: User) => file(`${user}.kubeconfig`, kubeconfigOf(url, ca, token(user)));
  return { url, ca, token, kubeconfig, auditLog, restart, stop };
}

export function kubeconfigOf(url: string, ca: string, token: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'it',
    clusters: [
      { name: 'it', cluster: { server: url, 'certificate-authority-data': Buffer.from(ca).toString('base64') } },
    ],
    contexts: [{ name: 'it', context: { cluster: 'it', user: 'it' } }],
    users: [{ name: 'it', user: { token } }],
  });
}

/** A port that was free a moment ago; between asking and using it another process may take it. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}

function ready(url: string, ca: string, token: string): Promise<boolean> {
  return new Promise(resolve => {
    const request = get(
      `${url}/readyz`,
      { ca, headers: { authorization: `Bearer ${token}` }, agent: false },
      answer => {
        answer.resume();
        resolve(answer.statusCode === 200);
      },
    );
    request.once('error', () => resolve(false));
  });
}

interface Running {
  readonly log: string;
  exited(): boolean;
  stop(): Promise<void>;
}

const living = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of living) child.kill('SIGKILL');
});

function run(binary: string, args: string[], log: string): Running {
  // `sh -c exec` only to send both streams to a file without holding descriptors here.
  const child = spawn('/bin/sh', ['-c', 'exec "$0" "$@" >"$LOG" 2>&1', binary, ...args], {
    stdio: 'ignore',
    env: { ...process.env, LOG: log },
  });
  living.add(child);
  const ended = new Promise<void>(resolve => child.once('exit', () => resolve()));
  void ended.then(() => living.delete(child));
  const exited = () => child.exitCode !== null || child.signalCode !== null;
  return {
    log,
    exited,
    async stop() {
      if (exited()) return;
      child.kill('SIGTERM');
      // kube-apiserver drains for up to a minute; nobody here needs that.
      const patience = setTimeout(() => child.kill('SIGKILL'), 2_000);
      await ended;
      clearTimeout(patience);
    },
  };
}

const tail = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(-25).join('\n') : '');
