import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type ContextSettings, type Given, readKubeconfig } from '../kube/kubeconfig.ts';

/** What proves who we are and whom we talk to. Never logged. */
export interface Material {
  readonly ca: string | undefined;
  readonly insecure: boolean;
  readonly serverName: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
  readonly token: string | undefined;
}

export interface Credentials {
  readonly server: string;
  /** The namespace of the context, or of the pod. */
  readonly namespace: string;
  /** For people: `kubeconfig /root/.kube/config, context lab` or `service account`. */
  readonly source: string;
  /** Reads every file again. */
  read(): Material;
}

export interface LoadOptions {
  /** Path given by the user (--kubeconfig). */
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where a pod finds its service account. */
  readonly serviceAccountDir?: string;
}

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

/** In this order: --kubeconfig, KUBECONFIG, the service account of the pod, ~/.kube/config. */
export function loadCredentials(options: LoadOptions): Credentials {
  const { env, kubeconfig, context, serviceAccountDir = SERVICE_ACCOUNT } = options;
  if (kubeconfig) return fromKubeconfig([kubeconfig], context);
  // kubectl skips names in KUBECONFIG that do not exist.
  const listed = (env.KUBECONFIG ?? '').split(delimiter).filter(Boolean);
  const present = listed.filter(path => existsSync(path));
  if (present.length > 0) return fromKubeconfig(present, context);
  if (listed.length > 0) throw new Error(`KUBECONFIG names ${listed.join(', ')}, and there is no such file`);
  if (env.KUBERNETES_SERVICE_HOST && !context) return inCluster(env.KUBERNETES_SERVICE_HOST, env, serviceAccountDir);
  const home = env.HOME && join(env.HOME, '.kube', 'config');
  if (home && existsSync(home)) return fromKubeconfig([home], context);
  throw new Error('no cluster: give --kubeconfig, set KUBECONFIG, or run in a pod with a service account');
}

function fromKubeconfig(paths: readonly string[], context: string | undefined): Credentials {
  const settings = (): ContextSettings =>
    readKubeconfig(
      paths.map(path => ({ path, text: readText(path, 'the kubeconfig') })),
      context,
    );
  const first = settings();
  return {
    server: first.server,
    namespace: first.namespace ?? 'default',
    source: `kubeconfig ${paths.join(', ')}, context ${first.context}`,
    read() {
      // The file itself may carry a token that another program renews.
      const { ca, cert, key, token, insecure, serverName } = settings();
      return {
        ca: resolve(ca, 'the certificate authority'),
        insecure,
        serverName,
        cert: resolve(cert, 'the client certificate'),
        key: resolve(key, 'the client key'),
        token: resolve(token, 'the token')?.trim(),
      };
    },
  };
}

function inCluster(host: string, env: LoadOptions['env'], dir: string): Credentials {
  const read = (name: string) => readText(join(dir, name), `the service account's ${name}`);
  const address = host.includes(':') ? `[${host}]` : host;
  return {
    server: `https://${address}:${env.KUBERNETES_SERVICE_PORT ?? '443'}`,
    namespace: read('namespace').trim(),
    source: 'service account',
    read: () => ({
      ca: read('ca.crt'),
      insecure: false,
      serverName: undefined,
      cert: undefined,
      key: undefined,
      token: read('token').trim(),
    }),
  };
}

const resolve = (given: Given | undefined, what: string): string | undefined =>
  given === undefined ? undefined : 'text' in given ? given.text : readText(given.file, what);

function readText(path: string, what: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Error(`cannot read ${what} at ${path}: ${(error as NodeJS.ErrnoException).code ?? 'unreadable'}`);
  }
}
