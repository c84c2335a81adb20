export interface TimerOptions {
  /** What the timer waits for, in the journal of a simulation. */
  readonly label?: string;
  /** A daemon timer (lease renewal, resync, stall watchdog) does not keep a simulation from being quiet. */
  readonly daemon?: boolean;
}

export interface Clock {
  /** Monotonic milliseconds: for durations. Never compare with `wall`. */
  now(): number;
  /** Milliseconds since 1970 by this machine's clock. Times that are stored use the API server's (Client.serverTime). */
  wall(): number;
  /** Calls `run` once after `ms`; the returned function cancels. */
  timer(ms: number, run: () => void, options?: TimerOptions): () => void;
}

export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
  /** Cryptographically strong in the real world. */
  bytes(length: number): Uint8Array;
}

/** Resolves after `ms`; rejects with the signal's reason when aborted first. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal, options?: TimerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = () => {
      cancel();
      reject(signal?.reason);
    };
    const cancel = clock.timer(
      ms,
      () => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      },
      options,
    );
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** Version 4 UUID. */
export function uuid(random: Random): string {
  const b = random.bytes(16);
  b[6] = (b[6]! & 0x0f) | 0x40;
  b[8] = (b[8]! & 0x3f) | 0x80;
  const hex = Buffer.from(b).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** Keystone hashes with bcrypt, which ignores or refuses what comes after this many bytes. */
const MAX_PASSWORD = 72;

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/**
 * A password of letters and digits only: it goes into URLs, INI files and shell words, and each of these
 * has its own idea of `%`, `$` and `@`. 32 characters carry 190 bits.
 */
export function password(random: Random, length = 32): string {
  if (length > MAX_PASSWORD) throw new RangeError(`a password of ${length} characters: bcrypt reads ${MAX_PASSWORD}`);
  let out = '';
  while (out.length < length) {
    // 248 = 4 * 62: bytes above it would make the first letters likelier.
    for (const byte of random.bytes(length)) if (byte < 248 && out.length < length) out += LETTERS[byte % 62];
  }
  return out;
}
