/**
 * `tsx test/fuzz/main.ts [--first n] [--count n] [--processes n]`: changes one field of a sample at a time, applies it to a
 * cloud that runs, and counts what became of it. Seeds that give the same object are judged once and counted each. As a
 * child of such a run it judges the seeds that it is asked for.
 */
import { fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { hashOf } from '../../src/runtime/plan/canonical.ts';
import { type Judged, judge, mutationOf, type Verdict } from './judge.ts';

/** A process that has run many clouds gets slow: a new one takes over. The clouds to start from cost about a minute. */
const LIFE = 2_000;
const TELL_EVERY = 1_000;
/** Of what does not work, the share whose message must name the changed field. */
const NAMED = 0.95;

function worker(seeds: number[], done: (judged: Judged) => void): Promise<void> {
  const child = fork(new URL(import.meta.url), { execArgv: ['--import', 'tsx'] });
  return new Promise((resolve, reject) => {
    let lives = LIFE;
    let current: number | undefined;
    const next = (): void => {
      current = lives-- > 0 ? seeds.shift() : undefined;
      if (current !== undefined) child.send(current);
      else {
        child.removeAllListeners('exit');
        child.kill();
        resolve();
      }
    };
    child.on('message', judged => {
      done(judged as Judged);
      next();
    });
    child.on('exit', code => reject(new Error(`seed ${current} ended its process with ${code}`)));
    next();
  });
}

/** How many of these seeds give the same object, by the first of them. */
function sameObjects(first: number, count: number): Map<number, number> {
  const seeds = new Map<string, number>();
  const times = new Map<number, number>();
  for (let seed = first; seed < first + count; seed++) {
    const object = hashOf(mutationOf(seed).object);
    const known = seeds.get(object) ?? seed;
    seeds.set(object, known);
    times.set(known, (times.get(known) ?? 0) + 1);
  }
  return times;
}

async function all(first: number, count: number, processes: number): Promise<void> {
  const same = sameObjects(first, count);
  const seeds = [...same.keys()];
  const counts: Record<Verdict, number> = {
    works: 0,
    refused: 0,
    reported: 0,
    unnamed: 0,
    crash: 0,
    loop: 0,
    stuck: 0,
  };
  let tried = 0;
  const summary = (): string =>
    `${tried} specs: ${Object.entries(counts)
      .map(([verdict, n]) => `${n} ${verdict}`)
      .join(', ')}`;
  let told = 0;
  const done = (judged: Judged): void => {
    const times = same.get(judged.seed) ?? 1;
    counts[judged.verdict] += times;
    tried += times;
    if (['unnamed', 'crash', 'loop', 'stuck'].includes(judged.verdict)) {
      const { seed, verdict, object, path, what, said } = judged;
      console.log(`seed ${seed} ${verdict}: ${object} spec.${path} = ${what.slice(0, 80)}\n  ${said.slice(0, 600)}`);
    }
    if (tried - told < TELL_EVERY) return;
    told = tried;
    console.log(summary());
  };
  const work = async (): Promise<void> => {
    while (seeds.length > 0) await worker(seeds, done);
  };
  await Promise.all(Array.from({ length: processes }, work));
  const { refused, reported, unnamed, crash, loop, stuck } = counts;
  const named = (refused + reported) / Math.max(1, refused + reported + unnamed);
  console.log(
    `${summary()}, ${same.size} of them distinct; of those that do not work ${(100 * named).toFixed(1)} % name the changed field`,
  );
  if (crash + loop + stuck > 0 || named < NAMED) process.exitCode = 1;
}

if (process.send) {
  process.on('message', seed => void judge(seed as number).then(judged => process.send?.(judged)));
} else {
  const options = { first: { type: 'string' }, count: { type: 'string' }, processes: { type: 'string' } } as const;
  const { values } = parseArgs({ options });
  await all(
    Number(values.first ?? 1),
    Number(values.count ?? 100_000),
    Number(values.processes ?? availableParallelism()),
  );
}
