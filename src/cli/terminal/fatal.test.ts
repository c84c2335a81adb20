import { describe, expect, it } from 'vitest';
import { ManualClock, settle } from '../../../test/unit/kube.ts';
import { createLog } from '../../real/log.ts';
import { endOnFatal } from './fatal.ts';

function started(release: () => Promise<void>, write?: (line: string) => void) {
  const listeners = new Map<string, (error: unknown) => void>();
  const did: string[] = [];
  const lines: string[] = [];
  const clock = new ManualClock();
  const process = {
    on: (event: string, listener: (error: unknown) => void) => listeners.set(event, listener),
    exit: (code: number) => did.push(`exit ${code}`),
    exitCode: undefined as number | undefined,
  };
  endOnFatal({
    process,
    log: createLog('info', { write: write ?? (line => void lines.push(line)) }),
    clock,
    halt: () => did.push('halt'),
    release: () => {
      did.push('release');
      return release();
    },
  });
  return { listeners, did, lines, clock, process };
}

describe('what nobody caught', () => {
  it.each(['uncaughtException', 'unhandledRejection'])(
    '%s: one line, no more writes, the lease goes back, and the process ends',
    async event => {
      const { listeners, did, lines } = started(async () => undefined);
      listeners.get(event)!(new Error('cannot open mysql://root:hunter2@mariadb/nova'));
      await settle();
      expect(did).toEqual(['halt', 'release', 'exit 1']);
      expect(lines).toHaveLength(1);
      expect(JSON.parse(lines[0]!)).toMatchObject({
        level: 'error',
        event,
        error: { message: 'cannot open mysql://root:***@mariadb/nova' },
      });
      expect(lines[0]).not.toContain('hunter2');
    },
  );

  it('a lease that cannot be given back does not hold up the end', async () => {
    const { listeners, did, clock, process } = started(() => new Promise(() => undefined));
    listeners.get('uncaughtException')!(new Error('x'));
    // Passes that stop may end the process before it does so itself.
    expect(process.exitCode).toBe(1);
    await clock.advance(2_900);
    expect(did).toEqual(['halt', 'release']);
    await clock.advance(200);
    expect(did).toEqual(['halt', 'release', 'exit 1']);
  });

  it('nor does one whose release fails', async () => {
    const { listeners, did } = started(() => Promise.reject(new Error('no answer')));
    listeners.get('unhandledRejection')!('a text');
    await settle();
    expect(did.at(-1)).toBe('exit 1');
  });

  it('nor does a log that cannot be written, or an error that cannot be told', async () => {
    const full = (): void => {
      throw new Error('ENOSPC');
    };
    const { listeners, did } = started(async () => undefined, full);
    listeners.get('uncaughtException')!(new Error('x'));
    await settle();
    expect(did).toEqual(['halt', 'release', 'exit 1']);
    const odd = started(async () => undefined);
    const unreadable = Object.defineProperty({}, 'message', { get: full });
    odd.listeners.get('unhandledRejection')!(unreadable);
    await settle();
    expect(odd.did).toEqual(['halt', 'release', 'exit 1']);
  });

  it('nor one that throws before it waits', async () => {
    const { listeners, did } = started(() => {
      throw new Error('no election');
    });
    listeners.get('uncaughtException')!(new Error('x'));
    await settle();
    expect(did.at(-1)).toBe('exit 1');
  });

  it('what fails while it ends is no second end', async () => {
    const { listeners, did, lines } = started(async () => undefined);
    listeners.get('uncaughtException')!(new Error('first'));
    listeners.get('unhandledRejection')!(new Error('second'));
    await settle();
    expect(did).toEqual(['halt', 'release', 'exit 1']);
    expect(lines).toHaveLength(1);
  });
});
