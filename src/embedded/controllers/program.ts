import type { Clock } from '../../world/clock.ts';
import type { Container, PodObject } from './objects.ts';

/** One start of one container, as its process would see it. */
export interface Run {
  readonly pod: PodObject;
  readonly container: Container;
  /** command + args with `$(VAR)` filled in; empty when the image's own command runs. */
  readonly argv: readonly string[];
  /** env and envFrom, values from Secrets, ConfigMaps and fieldRefs included. */
  readonly env: Readonly<Record<string, string>>;
  /** Text of a mounted Secret or ConfigMap key as it is now (mounts are live); undefined when there is no such file. */
  file(path: string): string | undefined;
  /** Names of the files under a mounted directory. */
  files(directory: string): readonly string[];
  /** What holds the data of a mount path: a claim's uid outlives the pod, anything else dies with it. */
  volume(path: string): string | undefined;
  readonly clock: Clock;
}

export interface Exit {
  readonly exit: number;
  /** The tail of its log: goes to the termination message. */
  readonly message?: string;
  /** What the container runtime calls such an end, where it is not Completed or Error. */
  readonly reason?: 'OOMKilled';
}

/**
 * What the process does: ends after some milliseconds (`end` decides how, when the time has come),
 * or serves and passes its probes `readyAfter` milliseconds from now.
 */
export type Outcome =
  | (Exit & { readonly after: number })
  | { readonly end: () => Exit; readonly after: number }
  /** `unhealthy`: what its probe says until then. */
  | { readonly serves: true; readonly readyAfter: number; readonly unhealthy?: string };

/** The table of programs. undefined: nobody knows this command; in a Job it succeeds, elsewhere it serves. */
export type Programs = (run: Run) => Outcome | undefined;

/** The words that really run: config.json's command when Kolla's start script is the entry point. */
export function commandOf(run: Run): string {
  const argv = run.argv.join(' ');
  if (argv !== '' && !argv.includes('kolla_start')) return argv;
  const config = run.file('/var/lib/kolla/config_files/config.json');
  if (config === undefined) return argv;
  try {
    const command = (JSON.parse(config) as { command?: unknown }).command;
    return typeof command === 'string' ? command : argv;
  } catch {
    return argv;
  }
}
