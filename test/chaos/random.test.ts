import { expect, it } from 'vitest';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { CloudError } from '../../src/cloud/ports.ts';
import { hash, seededRandom } from '../../src/embedded/sim/random.ts';
import type { Fault } from '../../src/embedded/sim/transport.ts';
import type { Request } from '../../src/kube/transport.ts';
import { Cloud, NS } from '../functional/cloud.ts';
import { Audit } from './audit.ts';
import { deploy, edit, removeDelete, removeRetain } from './deeds.ts';
import { FAULTS, isWatch } from './faults.ts';
import { judge, reference } from './search.ts';

const SEEDS = Number(process.env.SEEDS ?? (process.env.CHAOS === 'all' ? 200 : 4));
const FIRST = Number(process.env.SEED ?? 1);

/** Virtual milliseconds of trouble after each deed; most of a deploy's writes fall into its first seconds. */
const TROUBLE = 40_000;

/** A cloud is made, changed and deleted while everything goes wrong that can. The seed is the whole story. */
async function story(seed: number): Promise<string[]> {
  const chance = seededRandom(hash(`${seed}/chaos`));
  const faults = Object.values(FAULTS);
  let trouble = false;
  const [often, late] = [chance.next() * 0.08, chance.next() * 4_000];
  const intercept = (request: Request): Fault | undefined => {
    if (!trouble || chance.next() >= often) return undefined;
    if (isWatch(request)) return chance.next() < 0.5 ? 'reject' : FAULTS['500'];
    return faults[Math.floor(chance.next() * faults.length)];
  };
  const audit = new Audit();
  const cloud = await Cloud.start({
    seed,
    wrap: audit.wrap,
    faults: { intercept, lag: () => (trouble && chance.next() < 0.1 ? chance.next() * late : 0) },
    backendFaults: ({ at }) => {
      if (trouble && chance.next() < often) throw new CloudError('unreachable', `${at} does not answer`);
    },
  });
  const bad: string[] = [];
  const remove = chance.next() < 0.5 ? removeRetain : undefined;
  for (const deed of [deploy, edit, remove ?? removeDelete]) {
    // Under Delete the policy must be in place before, so the story sets it as one more edit.
    if (deed === removeDelete)
      cloud.hands.patch(OpenStackControlPlane, NS, 'slice', { spec: { deletionPolicy: 'Delete' } });
    deed.act(cloud);
    trouble = true;
    for (let passed = 0; passed < TROUBLE; ) {
      const step = Math.ceil(chance.next() * (passed < 2_000 ? 200 : 8_000));
      await cloud.sim.run(step);
      passed += step;
      const what = chance.next();
      if (what < 0.15) cloud.transport.cut();
      else if (what < 0.25) {
        cloud.crashOperator();
        cloud.startOperator();
      } else if (what < 0.3) cloud.operator?.pause(chance.next() * 20_000);
    }
    trouble = false;
    const wanted = await reference(deed);
    const found = await judge(cloud, audit, { end: wanted.end });
    // Creations are compared over the whole story below, for what a deploy makes once and nothing may make twice.
    bad.push(...found.map(line => `${deed.name}: ${line}`));
    if (bad.length > 0) break;
  }
  const once = (await reference(deploy)).created;
  const made = audit.created();
  for (const [path, times] of once)
    if ((made.get(path) ?? 0) > times + (/config-data|-HASH/.test(path) ? 1 : 0))
      bad.push(`O2 ${path} came into being ${made.get(path)} times, not ${times}`);
  return bad;
}

it(`random schedules: deploy, edit and delete under random faults, ${SEEDS} seeds from ${FIRST}`, {
  timeout: 7_200_000,
}, async () => {
  const bad: string[] = [];
  for (let seed = FIRST; seed < FIRST + SEEDS; seed++) {
    const wrong = await story(seed);
    if (wrong.length > 0) bad.push([`seed ${seed}:`, ...wrong].join('\n'));
  }
  console.log(`random schedules: ${SEEDS} seeds, ${bad.length} bad`);
  expect(bad).toEqual([]);
});
