/**
 * `tsx test/chaos/main.ts [--every n] [--processes n] [deed ...]`: restarts from the states of these deeds, or lists them.
 * As a child of such a run it tries the states that it is asked for.
 */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { DEEDS } from './deeds.ts';
import { type Deed, reference, resume } from './search.ts';
import { type Order, sweep, type Tried } from './sweep.ts';

function deedOf(name: string): Deed {
  const found = DEEDS.find(deed => deed.name === name);
  if (!found) throw new Error(`no deed ${name}; there are ${DEEDS.map(deed => deed.name).join(', ')}`);
  return found;
}

async function tried({ deed, index }: Order): Promise<Tried> {
  const wanted = await reference(deedOf(deed));
  const moment = wanted.moments[index];
  if (!moment) throw new Error(`${deed} has no state ${index}`);
  // Another seed for each: other uids, passwords and orders than the run that made the state.
  const wrong = await resume(moment, wanted, 100 + index);
  return { states: wanted.moments.length, index, after: moment.after, wrong };
}

if (process.send) {
  process.on('message', order => void tried(order as Order).then(answer => process.send?.(answer)));
} else {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { every: { type: 'string' }, processes: { type: 'string' } },
  });
  if (positionals.length === 0) console.log(DEEDS.map(deed => deed.name).join('\n'));
  for (const name of positionals) {
    const deed = deedOf(name);
    const { moments } = await reference(deed);
    const processes = Number(values.processes ?? availableParallelism());
    const { bad } = await sweep(deed, moments.length, Number(values.every ?? 1), processes);
    if (bad.length > 0) process.exitCode = 1;
  }
}
