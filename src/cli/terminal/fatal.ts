import { type Clock, sleep } from '../../world/clock.ts';
import type { Log } from '../../world/log.ts';

export interface FatalOptions {
  /** `process`, or a fake of it in tests. */
  readonly process: {
    on(event: 'uncaughtException' | 'unhandledRejection', listener: (error: unknown) => void): unknown;
    exit(code: number): unknown;
    exitCode?: number | string | null | undefined;
  };
  readonly log: Log;
  readonly clock: Clock;
  /** Ends every pass, and with it what it has under way. */
  readonly halt: (reason: Error) => void;
  /** Gives the lease back, if there is one. */
  readonly release: () => Promise<void>;
}

/** What the lease costs if it is not given back: its 15 seconds. Waiting longer than a part of that gains nothing. */
const RELEASE_MS = 3_000;

/** Of the process: the kubelet starts it again, from the objects and without whatever went wrong in its memory. */
const EXIT_CODE = 1;

/** What fails here must not keep the process from its end: no one is left to report to. */
function attempt(act: () => void): void {
  try {
    act();
  } catch {}
}

/**
 * What nobody caught leaves a process in an unknown state: it says why in one line, writes nothing more, gives the lease
 * back and ends. The one place where that is decided.
 */
export function endOnFatal({ process, log, clock, halt, release }: FatalOptions): void {
  let ending = false;
  const end = async (event: string, error: unknown): Promise<void> => {
    // Parts that are torn down complain; the first cause is the one to read.
    if (ending) return;
    ending = true;
    // If anything else ends the process after an orderly stop, it is no success.
    process.exitCode = EXIT_CODE;
    attempt(() => log.error('Operator ends: nobody caught an error', { event, error }));
    attempt(() => halt(new Error(`the process ends: ${event}`)));
    const limit = sleep(clock, RELEASE_MS, undefined, { daemon: true, label: 'release before the end' });
    const released = async (): Promise<void> => release();
    await Promise.race([released(), limit]).catch((failure: unknown) =>
      attempt(() =>
        log.warn('Lease could not be released, the next leader waits until it expires', { error: failure }),
      ),
    );
    process.exit(EXIT_CODE);
  };
  for (const event of ['uncaughtException', 'unhandledRejection'] as const)
    process.on(event, error => void end(event, error));
}
