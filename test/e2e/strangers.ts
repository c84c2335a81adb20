import { connect } from 'node:net';
import { small } from '../../lab/images/names.ts';
import { kubectl, tryKubectl } from '../../lab/kubectl.ts';
import { run } from '../../lab/shell.ts';
import { fromOutside } from './outside.ts';

/** Pods that belong to no cloud, and what they get to see of one. */

const labelsOf = (name: string, more: Readonly<Record<string, string>>) => ({ app: name, ...more });

interface Stranger {
  readonly labels?: Readonly<Record<string, string>>;
  /** It answers on this port. */
  readonly serves?: number;
  /** It is on the network of its node. */
  readonly onNode?: boolean;
}

/** A shell that anybody may run. */
export async function startStranger(
  namespace: string,
  name: string,
  { labels = {}, serves, onNode = false }: Stranger = {},
): Promise<void> {
  const command = serves === undefined ? ['sleep', '86400'] : ['httpd', '-f', '-p', String(serves)];
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, labels: labelsOf(name, labels) },
    spec: {
      terminationGracePeriodSeconds: 0,
      ...(onNode && { hostNetwork: true }),
      containers: [{ name: 'shell', image: small.busybox, imagePullPolicy: 'Never', command }],
    },
  };
  await kubectl(['apply', '--server-side', '--force-conflicts', '-f', '-'], JSON.stringify(pod));
  await kubectl(['-n', namespace, 'wait', '--for=condition=Ready', '--timeout=60s', `pod/${name}`]);
}

export const removeStranger = (namespace: string, name: string): Promise<string> =>
  kubectl(['-n', namespace, 'delete', 'pod', name, '--ignore-not-found', '--wait=true']);

/** Whether a connection comes about from inside a pod. */
export async function reaches(namespace: string, pod: string, address: string, port: number): Promise<boolean> {
  // busybox: with a program that ends at once it ends as soon as it is connected.
  const nc = ['nc', '-w', '3', address, String(port), '-e', '/bin/true'];
  return (await tryKubectl(['-n', namespace, 'exec', pod, '--', ...nc])).code === 0;
}

/** The same from beyond the cluster, by a route that its nodes know. */
export async function reachesFromOutside(address: string, port: number): Promise<boolean> {
  const words = ['timeout', '4', 'bash', '-c', `: </dev/tcp/${address}/${port}`];
  return (await run(...fromOutside(...words))).code === 0;
}

/** The same from the node itself, which every policy admits: somebody listens there. */
export function listens(address: string, port: number): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect({ host: address, port, timeout: 5000 });
    const end = (open: boolean) => {
      socket.destroy();
      resolve(open);
    };
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
    socket.once('timeout', () => end(false));
  });
}
