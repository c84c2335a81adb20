import type { Transport } from '../../kube/transport.ts';
import type { Clock, Random } from '../../world/world.ts';
import type { PodObject } from './objects.ts';
import type { Programs } from './program.ts';

export interface PretendOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: Random;
  readonly programs: Programs;
  /** Made at the start unless they exist; three plain ones unless given. */
  readonly nodes?: readonly { name: string; labels?: Record<string, string> }[];
  /** Milliseconds. */
  readonly delays?: Partial<Delays>;
}

export interface Delays {
  /** Of an image that the node does not have yet. */
  readonly pull: number;
  /** From the image to the running process. */
  readonly start: number;
  /** From the running process to its first good probe, where the program does not say. */
  readonly ready: number;
  /** How long a Job's command takes, where the program does not say. */
  readonly job: number;
  /** From the request to stop until the process is gone; never longer than the pod's grace. */
  readonly stop: number;
}

export interface Pretenders {
  /** Resolves when every kind has been listed and the nodes and the default StorageClass exist. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** All processes of the pod die at once (137); the kubelet starts them again. */
  kill(namespace: string, pod: string): void;
  /** The node and its kubelet fall silent: pods on it are not ready, and deleted ones stay until it heals. */
  failNode(name: string): void;
  healNode(name: string): void;
  /** The ready pods behind a host name, as the cluster's network sees it: Service, pod of a headless Service, or IP. */
  resolve(host: string, port: number): readonly PodObject[];
}

export function pretend(_options: PretendOptions): Pretenders {
  throw new Error('not written yet: src/embedded/pretend');
}
