import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Sim } from '../embedded/sim/sim.ts';
import { tripwire } from '../embedded/sim/tripwire.ts';
import { backoff } from './limiter.ts';
import type { QueueMetrics } from './metrics/metrics.ts';
import { LOW, NORMAL, WorkQueue } from './queue.ts';

function make(sim = new Sim(1)) {
  const counts = { added: 0, retried: 0, waits: [] as number[], works: [] as number[] };
  const metrics: QueueMetrics = {
    added: () => void counts.added++,
    retried: () => void counts.retried++,
    waited: ms => void counts.waits.push(ms),
    worked: ms => void counts.works.push(ms),
  };
  const queue = new WorkQueue({ clock: sim.clock, limiter: backoff(sim.random), metrics });
  /** A worker that notes when it got which key. */
  const got: string[] = [];
  const take = async () => {
    const work = await queue.get();
    got.push(work ? `${work.key}@${sim.clock.now()}` : 'end');
    return work;
  };
  return { sim, queue, counts, got, take };
}

const keyNow = async (queue: WorkQueue) => (await queue.get())?.key;

describe('WorkQueue', () => {
  it('29: fifty adds of one key are one get', async () => {
    const { sim, queue, counts, take, got } = make();
    for (let i = 0; i < 50; i++) queue.add('a');
    await take();
    void take();
    await sim.settle();
    expect(got).toEqual(['a@0']);
    expect(counts.added).toBe(1);
  });

  it('30: an add while the key is processed is handed out once more, after done', async () => {
    const { sim, queue, got, take } = make();
    queue.add('a');
    await take();
    queue.add('a');
    queue.add('a');
    void take();
    await sim.settle();
    expect(got).toEqual(['a@0']);
    queue.done('a');
    await sim.settle();
    expect(got).toEqual(['a@0', 'a@0']);
    queue.done('a');
    expect(queue.depth().size).toBe(0);
  });

  it('31: drain resolves only after the key in process is done', async () => {
    const { sim, queue, take } = make();
    queue.add('a');
    await take();
    let drained = false;
    void queue.drain().then(() => {
      drained = true;
    });
    await sim.settle();
    expect(drained).toBe(false);
    queue.done('a');
    await sim.settle();
    expect(drained).toBe(true);
    expect(await queue.get()).toBeUndefined();
  });

  it('32: shutDown ends a drain that is stuck', async () => {
    const { queue, take } = make();
    queue.add('a');
    await take();
    const drained = queue.drain();
    queue.shutDown();
    await drained;
  });

  it('33: a key made dirty before the drain is handed out once more before the end', async () => {
    const { queue, take } = make();
    queue.add('a');
    await take();
    queue.add('a');
    const drained = queue.drain();
    queue.add('b');
    queue.done('a');
    expect(await keyNow(queue)).toBe('a');
    queue.done('a');
    await drained;
    expect(await queue.get()).toBeUndefined();
  });

  it('34: of two delays of one key the earlier one counts, once', async () => {
    const { sim, queue, got, take } = make();
    queue.add('a', { after: 50 });
    queue.add('a', { after: 10 });
    queue.add('a', { after: 99 });
    void take().then(take);
    await sim.settle();
    expect(got).toEqual(['a@10']);
    expect(queue.delayed).toBe(0);
  });

  it('38, 39: a raised key leaves before lower ones and after its equals; a lower priority changes nothing', async () => {
    const { queue } = make();
    for (const key of ['a', 'b', 'c']) queue.add(key, { priority: LOW });
    queue.add('x');
    queue.add('b', { priority: NORMAL });
    queue.add('b', { priority: LOW });
    queue.add('a', { priority: 5 });
    const order = [];
    for (let i = 0; i < 4; i++) order.push(await queue.get());
    expect(order.map(w => `${w?.key} ${w?.priority}`)).toEqual(['a 5', 'x 0', 'b 0', 'c -100']);
  });

  it('40, 43: a key in process blocks nobody behind it and comes as soon as it is done', async () => {
    const { queue } = make();
    queue.add('a', { priority: 9 });
    await queue.get();
    queue.add('a', { priority: 9 });
    queue.add('b');
    expect(await keyNow(queue)).toBe('b');
    queue.done('a');
    expect(await keyNow(queue)).toBe('a');
  });

  it('41: a delayed and an immediate add of one key are ready now, and one add', async () => {
    const { sim, queue, counts } = make();
    queue.add('a', { after: 1000, priority: 3 });
    queue.add('a');
    expect(await queue.get()).toEqual({ key: 'a', priority: 3 });
    expect(counts.added).toBe(1);
    await sim.settle();
    expect(sim.clock.now()).toBe(0);
  });

  it('42: shutDown wakes every waiting worker, and takes nothing afterwards', async () => {
    const { sim, queue, got, take } = make();
    void take();
    void take();
    await sim.settle();
    queue.shutDown();
    queue.add('a');
    queue.add('b', { after: 1 });
    await sim.settle();
    expect(got).toEqual(['end', 'end']);
    expect(await queue.get()).toBeUndefined();
  });

  it('47: ten thousand retries at once do not lock up', async () => {
    const { sim, queue } = make();
    for (let i = 0; i < 10_000; i++) queue.retry(`k${i}`);
    await sim.settle();
    let n = 0;
    while (queue.depth().size > 0) {
      const work = await queue.get();
      queue.done(work!.key);
      n++;
    }
    expect(n).toBe(10_000);
  });

  it('48: a failure brought on by an event keeps the deadline of the pending retry and costs no attempt', async () => {
    const { sim, queue, counts } = make();
    for (let i = 0; i < 10; i++) {
      queue.retry('a');
      await sim.settle();
      queue.done((await queue.get())!.key);
    }
    queue.retry('a');
    expect(counts.retried).toBe(11);
    const before = sim.clock.now();
    queue.add('a');
    await queue.get();
    queue.retry('a');
    queue.done('a');
    expect(counts.retried).toBe(11);
    await sim.until(() => queue.depth().size > 0);
    const waited = sim.clock.now() - before;
    expect(waited).toBeGreaterThan(5 * 2 ** 10 * 0.9 - 1);
    expect(waited).toBeLessThan(5 * 2 ** 10 * 1.1 + 1);
  });

  it('measures waiting and working, and tells what runs', async () => {
    const { sim, queue, counts } = make();
    queue.add('a');
    await sim.run(300);
    await queue.get();
    await sim.run(700);
    expect(queue.running()).toEqual([700]);
    queue.done('a');
    expect([counts.waits, counts.works, queue.running()]).toEqual([[300], [700], []]);
  });

  it('a daemon delay does not keep a simulation busy, any other behind it does', async () => {
    const { sim, queue } = make();
    queue.add('recheck', { after: 600_000, daemon: true });
    await sim.settle();
    expect(sim.clock.now()).toBe(0);
    queue.add('work', { after: 900_000 });
    await sim.settle();
    expect(sim.clock.now()).toBe(900_000);
    expect(queue.depth().get(NORMAL)).toBe(2);
  });

  it('a delay beyond 31 bits does not fire at once', async () => {
    const { sim, queue } = make();
    queue.add('a', { after: 2 ** 40 });
    await sim.run(2 ** 30);
    expect(queue.depth().size).toBe(0);
  });
});

const commands = fc.array(
  fc.oneof(
    fc.record({
      do: fc.constant('add' as const),
      key: fc.constantFrom('a', 'b', 'c', 'd'),
      priority: fc.constantFrom(LOW, NORMAL, 7),
      after: fc.constantFrom(0, 0, -1, 5, 20, 50),
    }),
    fc.record({ do: fc.constant('get' as const) }),
    fc.record({ do: fc.constant('done' as const), n: fc.nat(3) }),
    fc.record({ do: fc.constant('pass' as const), ms: fc.nat(30) }),
  ),
  { maxLength: 60 },
);

/** The queue as its contract reads: one list of entries, searched from the front. Slow and plain. */
class Model {
  /** `rank` 0: not ready. */
  entries: { key: string; priority: number; due: number; order: number; rank: number }[] = [];
  processing: string[] = [];
  now = 0;
  rank = 0;
  order = 0;

  add(key: string, priority: number, after: number): void {
    const due = Math.max(this.now, this.now + after);
    const entry = this.entries.find(e => e.key === key);
    if (!entry) {
      this.entries.push({ key, priority, due, order: ++this.order, rank: due <= this.now ? ++this.rank : 0 });
      return;
    }
    const wasReady = entry.rank > 0;
    const raised = priority > entry.priority;
    entry.priority = Math.max(priority, entry.priority);
    entry.due = Math.min(due, entry.due);
    entry.order = ++this.order;
    // A key takes its place when it becomes ready, and a new one at the tail when it is raised.
    if (entry.due <= this.now && (!wasReady || (raised && !this.processing.includes(key)))) entry.rank = ++this.rank;
  }

  get(): { key: string; priority: number } | undefined {
    const [first] = this.entries
      .filter(e => e.rank > 0 && !this.processing.includes(e.key))
      .sort((a, b) => b.priority - a.priority || a.rank - b.rank);
    if (!first) return undefined;
    this.entries = this.entries.filter(e => e !== first);
    this.processing.push(first.key);
    return { key: first.key, priority: first.priority };
  }

  done(key: string): void {
    this.processing = this.processing.filter(k => k !== key);
    // A key that became dirty while it ran queues up when it is done.
    const entry = this.entries.find(e => e.key === key && e.rank > 0);
    if (entry) entry.rank = ++this.rank;
  }

  pass(ms: number): void {
    for (let t = 0; t < ms; t++) {
      this.now++;
      const due = this.entries.filter(e => e.rank === 0 && e.due <= this.now).sort((a, b) => a.order - b.order);
      for (const entry of due) entry.rank = ++this.rank;
    }
  }
}

describe('WorkQueue against a model', () => {
  it('hands out the same keys with the same priorities for any sequence of calls', () =>
    tripwire(() =>
      fc.assert(
        fc.asyncProperty(commands, async list => {
          const { sim, queue } = make();
          const model = new Model();
          for (const command of list) {
            if (command.do === 'add') {
              queue.add(command.key, command);
              model.add(command.key, command.priority, command.after);
            } else if (command.do === 'pass') {
              await sim.run(command.ms);
              model.pass(command.ms);
            } else if (command.do === 'done') {
              const key = model.processing[command.n % Math.max(1, model.processing.length)];
              if (key === undefined) continue;
              queue.done(key);
              model.done(key);
            } else {
              const ready = [...queue.depth().values()].reduce((a, b) => a + b, 0);
              const expected = model.get();
              expect(ready > 0).toBe(expected !== undefined);
              if (expected) expect(await queue.get()).toEqual(expected);
            }
          }
        }),
        { numRuns: 1000, seed: 1 },
      ),
    ));

  it('never hands out a key that is in process, and loses none', () =>
    tripwire(() =>
      fc.assert(
        fc.asyncProperty(commands, async list => {
          const { sim, queue } = make();
          const processing = new Set<string>();
          const owed = new Set<string>();
          void (async () => {
            for (let work = await queue.get(); work; work = await queue.get()) {
              expect(processing.has(work.key)).toBe(false);
              processing.add(work.key);
              owed.delete(work.key);
            }
          })();
          for (const command of list) {
            if (command.do === 'add') {
              queue.add(command.key, command);
              owed.add(command.key);
            } else if (command.do === 'pass') await sim.run(command.ms);
            else if (command.do === 'done') {
              const key = [...processing][command.n % Math.max(1, processing.size)];
              if (key === undefined) continue;
              processing.delete(key);
              queue.done(key);
            }
          }
          for (let i = 0; i < 10 && (owed.size > 0 || processing.size > 0); i++) {
            await sim.settle();
            for (const key of [...processing]) {
              processing.delete(key);
              queue.done(key);
            }
          }
          expect([owed.size, queue.delayed, queue.depth().size]).toEqual([0, 0, 0]);
        }),
        { numRuns: 300, seed: 2 },
      ),
    ));
});
