import { describe, expect, it } from 'vitest';
import { Sim } from '../embedded/sim/sim.ts';
import { sleep } from '../world/clock.ts';
import { silent } from '../world/log.ts';
import { Manager, type ManagerOptions, type Runnable } from './manager.ts';

const aborted = (signal: AbortSignal) =>
  new Promise<void>(resolve => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

function make(sim: Sim, options: Partial<ManagerOptions> & { elect?: boolean } = {}) {
  const story: string[] = [];
  const note = (line: string) => void story.push(line);
  const lost = new AbortController();
  const win = { now: () => {} };
  const election = {
    lost: lost.signal,
    acquire: (signal: AbortSignal) =>
      new Promise<void>((resolve, reject) => {
        note('lease sought');
        win.now = resolve;
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      }).then(() => note('lease won')),
    release: async () => note('lease released'),
  };
  const manager = new Manager({
    clock: sim.clock,
    log: silent,
    servers: [
      { name: 'probes', start: async () => note('probes up'), stop: async () => note('probes down') },
      { name: 'webhooks', start: async () => note('webhooks up'), stop: async () => note('webhooks down') },
    ],
    cache: {
      startAll: () => note('caches start'),
      waitForSync: async () => note('caches synced'),
      stopAll: async () => note('caches stop'),
    },
    flush: async () => note('events flushed'),
    ...(options.elect ? { election } : {}),
    ...options,
  });
  const runnable = (name: string, linger = 0): Runnable => ({
    name,
    async run(signal) {
      note(`${name} up`);
      await aborted(signal);
      if (linger > 0) await sleep(sim.clock, linger);
      note(`${name} down`);
    },
  });
  const stop = new AbortController();
  return { manager, story, runnable, stop, lost, win };
}

describe('Manager', () => {
  it('59: starts and stops in order, and gives the lease back only after the runnables have ended', async () => {
    const sim = new Sim(1);
    const { manager, story, runnable, stop, win } = make(sim, { elect: true });
    manager.add('always', runnable('cert watcher'));
    manager.add('leader', runnable('keystone', 5000));
    const ended = manager.run(stop.signal);
    await sim.settle();
    expect(manager.state).toBe('standby');
    expect(manager.ready()).toBeUndefined();
    win.now();
    await sim.settle();
    expect(manager.state).toBe('running');
    stop.abort();
    await sim.settle();
    await ended;
    expect(story).toEqual([
      'probes up',
      'webhooks up',
      'cert watcher up',
      'lease sought',
      'lease won',
      'caches start',
      'caches synced',
      'keystone up',
      'cert watcher down',
      'keystone down',
      'caches stop',
      'webhooks down',
      'probes down',
      'lease released',
      'events flushed',
    ]);
    expect(manager.ready()).toBe('the process is stopped');
  });

  it('57: a runnable that ignores the stop fails it after the grace and is named', async () => {
    const sim = new Sim(1);
    const { manager, stop, runnable, story } = make(sim, { grace: 10_000 });
    manager.add('leader', runnable('fine'));
    manager.add('leader', { name: 'deaf', run: () => new Promise(() => {}) });
    const ended = manager.run(stop.signal).catch((error: Error) => error.message);
    await sim.settle();
    stop.abort();
    await sim.settle();
    expect(await ended).toBe('still running 10 s after the stop: deaf');
    expect(sim.clock.now()).toBe(10_000);
    expect(story.at(-1)).toBe('events flushed');
  });

  it('58: with leadership lost nothing is waited for and run rejects', async () => {
    const sim = new Sim(1);
    const { manager, stop, runnable, story, lost, win } = make(sim, { elect: true });
    manager.add('leader', runnable('slow', 60_000));
    const ended = manager.run(stop.signal).catch((error: Error) => error.message);
    await sim.settle();
    win.now();
    await sim.settle();
    lost.abort(new Error('leader election lost: no renewal'));
    expect(await ended).toBe('leader election lost: no renewal');
    expect(sim.clock.now()).toBe(0);
    expect(story).not.toContain('lease released');
  });

  it('60: nothing can be added once the stop began', async () => {
    const sim = new Sim(1);
    const { manager, stop, runnable } = make(sim);
    manager.add('leader', runnable('slow', 1000));
    const ended = manager.run(stop.signal);
    await sim.settle();
    stop.abort();
    await sim.until(() => manager.state === 'stopping');
    expect(() => manager.add('leader', runnable('late'))).toThrow('late cannot be added: the process is stopping');
    await sim.settle();
    await ended;
  });

  it('a runnable added while it runs starts at once; one added on standby waits for its group', async () => {
    const sim = new Sim(1);
    const { manager, stop, story, runnable, win } = make(sim, { elect: true });
    const ended = manager.run(stop.signal);
    await sim.settle();
    manager.add('leader', runnable('early'));
    manager.add('always', runnable('feed'));
    expect(story).not.toContain('early up');
    expect(story).toContain('feed up');
    win.now();
    await sim.settle();
    expect(story).toContain('early up');
    manager.add('leader', runnable('late'));
    expect(story).toContain('late up');
    stop.abort();
    await sim.settle();
    await ended;
  });

  it('a runnable that fails stops the process, and run says which', async () => {
    const sim = new Sim(1);
    const { manager, stop, story, runnable } = make(sim);
    manager.add('leader', runnable('fine'));
    manager.add('leader', { name: 'broken', run: () => Promise.reject(new Error('no RBAC')) });
    await expect(manager.run(stop.signal)).rejects.toThrow('broken failed: no RBAC');
    expect(story.slice(-5)).toEqual(['fine down', 'caches stop', 'webhooks down', 'probes down', 'events flushed']);
  });

  it('a server that does not come up fails the start and takes the others down', async () => {
    const sim = new Sim(1);
    const { manager, stop, story } = make(sim, {
      servers: [
        { name: 'a', start: async () => {}, stop: async () => void story.push('a down') },
        { name: 'b', start: () => Promise.reject(new Error('address in use')), stop: async () => {} },
      ],
    });
    await expect(manager.run(stop.signal)).rejects.toThrow('address in use');
    expect(story).toEqual(['caches stop', 'a down', 'events flushed']);
  });

  it('a stop while the lease is sought ends in order and without an error', async () => {
    const sim = new Sim(1);
    const { manager, stop, story } = make(sim, { elect: true });
    const ended = manager.run(stop.signal);
    await sim.settle();
    stop.abort(new Error('SIGTERM'));
    await ended;
    expect(story).not.toContain('caches start');
    expect(story.at(-1)).toBe('events flushed');
    await expect(manager.run(stop.signal)).rejects.toThrow('started twice');
  });
});
