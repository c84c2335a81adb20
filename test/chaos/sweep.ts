import { type ChildProcess, fork } from 'node:child_process';
import type { Deed } from './search.ts';

/** From a worker: how many states its reference has, and what came of one of them. */
export interface Tried {
  readonly states: number;
  readonly index: number;
  readonly after: string;
  readonly wrong: readonly string[];
}

export interface Sweep {
  readonly states: number;
  readonly tried: number;
  readonly bad: readonly string[];
}

/** What a worker is asked for. Deeds are functions, so they travel by name. */
export interface Order {
  readonly deed: string;
  readonly index: number;
}

/** A line of progress every so many states: a run that is cut still says how far it came. */
const TELL_EVERY = 25;

/** A process that has run many clouds gets slow (what it has compiled fits less and less): a new one takes over. */
const WORKER_STATES = 50;

/**
 * Restarts from the states of a deed, in as many processes as asked. Each makes the reference run for itself: it is the
 * same one, because a seed gives the same run. The order spreads over the whole run, so that a cut one is a fair sample.
 */
export async function sweep(
  deed: Deed,
  states: number,
  every: number,
  processes: number,
  say: (line: string) => void = console.log,
): Promise<Sweep> {
  const left = spread(Array.from({ length: Math.ceil(states / every) }, (_, i) => i * every));
  const all = left.length;
  const bad: string[] = [];
  let tried = 0;
  const count = () => `${deed.name}: ${tried} of ${states} states tried (${all} wanted), ${bad.length} bad`;

  const work = async (): Promise<void> => {
    if (left.length === 0) return;
    let lives = WORKER_STATES;
    const child = fork(new URL('main.ts', import.meta.url), { execArgv: ['--import', 'tsx'] });
    try {
      for (let index = left.shift(); index !== undefined; index = lives-- > 1 ? left.shift() : undefined) {
        const answer = await ask(child, { deed: deed.name, index });
        if (answer.states !== states)
          throw new Error(`a worker's run of ${deed.name} has ${answer.states} states, not ${states}`);
        tried++;
        if (answer.wrong.length > 0) {
          bad.push([`state ${index}, after ${answer.after}:`, ...answer.wrong].join('\n'));
          say(bad.at(-1)!);
        }
        if (tried % TELL_EVERY === 0) say(count());
      }
    } finally {
      child.kill();
    }
    await work();
  };
  await Promise.all(Array.from({ length: processes }, work));
  say(count());
  return { states, tried, bad };
}

const ask = (child: ChildProcess, order: Order): Promise<Tried> =>
  new Promise((resolve, reject) => {
    const onExit = (code: number | null) => reject(new Error(`the worker at state ${order.index} ended with ${code}`));
    child.once('exit', onExit);
    child.once('message', answer => {
      child.off('exit', onExit);
      resolve(answer as Tried);
    });
    child.send(order);
  });

/** By the golden ratio: any beginning of it is spread evenly. */
function spread(indexes: readonly number[]): number[] {
  const place = (index: number): number => (index * 0.6180339887498949) % 1;
  return [...indexes].sort((a, b) => place(a) - place(b) || a - b);
}
