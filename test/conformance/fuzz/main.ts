/**
 * Fuzz of server-side apply against upstream's own code.
 *   npx tsx test/conformance/fuzz/main.ts --cases 100000 --seed 1
 *   npx tsx test/conformance/fuzz/main.ts --record src/embedded/apply/cases.json
 * Exits 1 on the first difference, with a minimised example.
 */
import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { tool } from '../../../lab/tools.ts';
import { canonical, ours } from './compare.ts';
import { Random } from './generate.ts';
import { minimise, show } from './minimise.ts';
import { type Answer, Oracle, type Request } from './oracle.ts';
import { Recorder } from './record.ts';
import { customKinds } from './schemas.ts';
import { kinds, Story } from './story.ts';

/** Stories that run side by side, so that the oracle always has work. */
const WIDTH = 128;
const STEPS = 24;

const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: '100000' },
    seed: { type: 'string', default: '1' },
    oracle: { type: 'string' },
    record: { type: 'string' },
  },
});

async function main(): Promise<number> {
  const program = values.oracle ?? (await tool('oracle'));
  if (!existsSync(program)) throw new Error(`no oracle at ${program}: build it from lab/tools/oracle`);
  const oracle = new Oracle(program);
  for (const [kind, schema] of Object.entries(customKinds)) await oracle.learn(kind, schema);
  const recorder = values.record === undefined ? undefined : new Recorder();
  const wanted = Number(values.cases);
  const seen = { changed: 0, failed: 0, conflicts: 0 };
  const started = process.hrtime.bigint();
  let cases = 0;
  for (let round = 0; cases < wanted; round++) {
    const stories = Array.from({ length: WIDTH }, (_, i) => {
      const random = new Random(Number(values.seed) * 1_000_003 + round * WIDTH + i);
      return new Story(kinds[(round * WIDTH + i) % kinds.length]!, random);
    });
    for (let step = 0; step < STEPS; step++) {
      const requests = stories.map(story => story.next());
      const theirs = Promise.all(requests.map(request => oracle.ask(request)));
      const mine = requests.map(attempt);
      for (const [i, answer] of (await theirs).entries()) {
        const request = requests[i]!;
        cases++;
        if (canonical(answer) !== canonical(mine[i]!)) {
          console.log(`difference in case ${cases} (seed ${values.seed}, ${request.kind}); minimising`);
          show(await minimise(request, oracle, attempt));
          oracle.close();
          return 1;
        }
        if (answer.error === undefined) seen.changed++;
        else if (answer.error.code === 409) seen.conflicts++;
        else seen.failed++;
        recorder?.offer(request, answer);
        stories[i]!.settle(request, answer);
      }
    }
  }
  const seconds = Number(process.hrtime.bigint() - started) / 1e9;
  console.log(
    `${cases} cases in ${seconds.toFixed(1)} s (${Math.round(cases / seconds)} cases/s), 0 differences: ` +
      `${seen.changed} answered, ${seen.conflicts} conflicts, ${seen.failed} other errors`,
  );
  if (values.record !== undefined) recorder?.write(values.record);
  oracle.close();
  return 0;
}

/** A crash of ours is a difference, not the end of the run. */
function attempt(request: Request): Answer {
  try {
    return ours(request);
  } catch (error) {
    return { error: { code: 0, reason: 'crashed', message: String((error as Error).stack) } };
  }
}

process.exitCode = await main();
