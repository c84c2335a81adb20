import { createHook } from 'node:async_hooks';

/**
 * What a simulated run may create: these settle within one turn of the loop and in a fixed order. Everything else
 * (a timer, a socket, the thread pool) is a way out of the simulation. Lint can be fooled by a library; this cannot.
 */
const ALLOWED = new Set(['PROMISE', 'Immediate', 'TickObject', 'Microtask']);

/** The test runner reports progress and watches the clock while a test runs; that is its own business. */
const RUNNER = /node_modules\/(@?vitest|tinypool|birpc)|node:internal\/worker|chunks\/.*vitest/;

/** Runs `body` and fails when it reached for real time, chance or I/O by any door but the World. */
export async function tripwire<T>(body: () => Promise<T>): Promise<T> {
  const found: string[] = [];
  const record = (what: string) => {
    const stack = new Error(what).stack ?? what;
    const frames = stack
      .split('\n')
      .slice(1)
      .filter(line => !line.includes('sim/tripwire.ts'));
    // Frames of the runner below the test's own are normal; only a call that comes straight from it is its own.
    const caller = frames.find(line => !line.includes('node:') && !line.includes('<anonymous>'));
    if (caller === undefined || RUNNER.test(caller)) return;
    found.push(`${what}\n${frames.slice(0, 6).join('\n')}`);
  };
  const hook = createHook({
    init(_id, type) {
      if (!ALLOWED.has(type)) record(type);
    },
  });
  const restore = trapSynchronous(record);
  hook.enable();
  try {
    const result = await body();
    if (found.length > 0)
      throw new Error(`Left the simulation ${found.length} times:\n${found.slice(0, 5).join('\n')}`);
    return result;
  } finally {
    hook.disable();
    restore();
  }
}

/** The doors that open no async resource: the clock and the generator of the language itself. */
function trapSynchronous(record: (what: string) => void): () => void {
  const { Date: realDate } = globalThis;
  const { random } = Math;
  const { now } = performance;
  globalThis.Date = new Proxy(realDate, {
    construct(target, args, newTarget) {
      if (args.length === 0) record('new Date()');
      return Reflect.construct(target, args, newTarget);
    },
    get(target, property, receiver) {
      if (property === 'now') record('Date.now()');
      return Reflect.get(target, property, receiver);
    },
  });
  Math.random = () => {
    record('Math.random()');
    return random();
  };
  performance.now = () => {
    record('performance.now()');
    return now.call(performance);
  };
  return () => {
    globalThis.Date = realDate;
    Math.random = random;
    performance.now = now;
  };
}
