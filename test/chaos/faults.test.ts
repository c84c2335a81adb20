import { describe, expect, it } from 'vitest';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import type { Fault } from '../../src/embedded/sim/transport.ts';
import { Deployment, StatefulSet } from '../../src/kube/resource.ts';
import type { Request, WatchEvent } from '../../src/kube/transport.ts';
import { createOperator } from '../../src/operator/operator.ts';
import { PLANS } from '../../src/operator/plans.ts';
import { type Cloud, NS } from '../functional/cloud.ts';
import { deploy, edit, removeDelete, removeRetain } from './deeds.ts';
import { FAULTS, isWatch, isWrite, kthWrite, refusal } from './faults.ts';
import { type Deed, disturbed, reference } from './search.ts';

const ALL = process.env.CHAOS === 'all';
const HOUR = 3_600_000;

describe('one write of a deploy goes wrong, and the operator lives on', () => {
  /** By default each fault hits one write, another one for each. */
  const DEFAULT_K = [3, 11, 19, 27, 35, 43, 51];

  for (const [index, [name, fault]] of Object.entries(FAULTS).entries())
    it(name, { timeout: HOUR }, async () => {
      const { writes } = await reference(deploy);
      const all = Array.from({ length: writes }, (_, i) => i + 1);
      const bad: string[] = [];
      let tried = 0;
      for (const k of ALL ? all : [DEFAULT_K[index]!]) {
        const { intercept, hit } = kthWrite(k, fault);
        const wrong = await disturbed(deploy, { seed: 300 + k, faults: { intercept } });
        if (hit() === undefined) continue;
        tried++;
        if (wrong.length > 0) bad.push([`write ${k}, ${hit()}:`, ...wrong].join('\n'));
      }
      console.log(`${name}: ${tried} of ${writes} writes, ${bad.length} bad`);
      expect(bad).toEqual([]);
      expect(tried).toBeGreaterThan(0);
    });

  for (const [what, match] of [
    ['finalizer', (r: Request) => r.query?.fieldManager === 'openstack-operator-finalizer'],
    ['status', (r: Request) => r.method === 'PATCH' && r.path.endsWith('/keystones/keystone/status')],
    [
      'last status',
      (r: Request) => isWrite(r) && r.path.endsWith('/status') && JSON.stringify(r.body).includes('DeploymentReady'),
    ],
  ] as const)
    it(`a conflict on the first ${what} is not taken for the end of the object`, { timeout: HOUR }, async () => {
      const { intercept, hit } = kthWrite(1, FAULTS['409']!, match);
      expect(await disturbed(deploy, { seed: 5, faults: { intercept } })).toEqual([]);
      expect(hit()).toBeDefined();
    });

  it('every third write of a delete is refused or lost', { timeout: HOUR }, async () => {
    for (const deed of ALL ? [removeRetain, removeDelete] : [removeDelete])
      for (const [name, fault] of Object.entries(FAULTS)) {
        let writes = 0;
        const intercept = (request: Request) => (isWrite(request) && ++writes % 3 === 0 ? fault : undefined);
        expect(await disturbed(deed, { seed: 7, faults: { intercept } }), `${deed.name}, ${name}`).toEqual([]);
        if (!ALL && name === '500') break;
      }
  });
});

describe('the view goes wrong', () => {
  /** Calls `act` every `ms` of virtual time until the cloud is Ready or `times` is used up. */
  async function every(cloud: Cloud, ms: number, times: number, act: () => void): Promise<void> {
    for (let n = 0; n < times; n++) {
      await cloud.sim.run(ms);
      act();
    }
  }

  it('watches are cut again and again', { timeout: HOUR }, async () => {
    let cuts = 0;
    const wrong = await disturbed(deploy, { seed: 11 }, cloud =>
      every(cloud, 250, 40, () => {
        cuts += cloud.transport.cut();
      }),
    );
    expect(wrong).toEqual([]);
    expect(cuts).toBeGreaterThan(100);
  });

  it('every watch that goes on from a version is answered 410', { timeout: HOUR }, async () => {
    let gone = 0;
    const intercept = (request: Request): Fault | undefined => {
      if (!isWatch(request) || request.query?.sendInitialEvents === 'true' || gone >= 60) return undefined;
      gone++;
      return refusal(410, 'Expired', 'too old resource version');
    };
    const wrong = await disturbed(deploy, { seed: 12, faults: { intercept } }, cloud =>
      every(cloud, 500, 20, () => void cloud.transport.cut()),
    );
    expect(wrong).toEqual([]);
    expect(gone).toBeGreaterThan(20);
  });

  for (const at of ALL ? [10, 30, 60, 80, 100, 2600, 7160, 17_750, 28_340, 35_890] : [60])
    it(`the API server is silent for a minute, ${at} ms into a deploy`, { timeout: HOUR }, async () => {
      let since = Number.POSITIVE_INFINITY;
      let now = () => 0;
      let hung = 0;
      const silent = () => now() >= since && now() < since + 60_000;
      const wrong = await disturbed(
        deploy,
        {
          seed: 13,
          faults: {
            intercept: () => {
              if (!silent()) return undefined;
              hung++;
              return 'hang';
            },
            lag: () => {
              if (!silent()) return 0;
              hung++;
              return since + 60_000 - now();
            },
          },
        },
        cloud => {
          now = cloud.sim.clock.now;
          since = now() + at;
        },
      );
      expect(wrong).toEqual([]);
      expect(hung).toBeGreaterThan(0);
    });

  for (const [name, lag] of [
    ['all events come up to 3 s late', () => 3_000],
    ['Secrets are seen 20 s late', (r: Request) => (/secrets/.test(r.path) ? 20_000 : 0)],
    [
      'nothing of ours is seen for longer than the patience of the gate',
      (r: Request) => (/openstack/.test(r.path) ? 40_000 : 0),
    ],
    [
      'workloads and Jobs are seen 45 s late',
      (r: Request) => (/statefulsets|deployments|jobs/.test(r.path) ? 45_000 : 0),
    ],
  ] as const)
    for (const deed of ALL ? [deploy, edit, removeRetain, removeDelete] : [edit])
      it(`${name}: ${deed.name}`, { timeout: HOUR }, async () => {
        let seed = 14;
        let late = 0;
        const chance = () => {
          seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
          return seed / 2 ** 32;
        };
        const faults = {
          lag: (request: Request, event: WatchEvent) => {
            if (event.type === 'BOOKMARK' || chance() < 0.5) return 0;
            late++;
            return lag(request) * chance();
          },
        };
        expect(await disturbed(deed, { seed: 14, faults })).toEqual([]);
        expect(late).toBeGreaterThan(0);
      });
});

describe('others write too', () => {
  it('conflict storm: fifty foreign writes a second, and every second write of ours is refused', {
    timeout: HOUR,
  }, async () => {
    let storm = true;
    let refused = 0;
    const intercept = (request: Request): Fault | undefined => {
      if (!storm || !isWrite(request) || refused++ % 2 === 0) return undefined;
      return FAULTS['409'];
    };
    const wrong = await disturbed(edit, { seed: 15, faults: { intercept } }, async cloud => {
      const targets = [
        [OpenStackControlPlane, 'slice'],
        [Deployment, 'keystone-api'],
        [StatefulSet, 'mariadb'],
      ] as const;
      for (let n = 0; n < 120; n++) {
        await cloud.sim.run(20);
        const [resource, name] = targets[n % targets.length]!;
        cloud.hands.patch(resource, NS, name, { metadata: { annotations: { rival: n < 117 ? `${n}` : null } } });
      }
      storm = false;
    });
    expect(wrong).toEqual([]);
    expect(refused).toBeGreaterThan(4);
  });
});

describe('two operators', () => {
  const election = (identity: string) => ({ namespace: NS, name: 'openstack-operator', identity });

  async function takeover(deed: Deed, at: number): Promise<string[]> {
    return disturbed(deed, { seed: 16 + at, operator: { election: election('a') } }, async (cloud, audit) => {
      const paused = cloud.operator!;
      await cloud.sim.run(at);
      const process = cloud.sim.process('operator-b');
      const rival = createOperator({
        world: {
          cluster: process.transport(cloud.store),
          cloud: cloud.backends.cloud,
          clock: process.clock,
          random: process.random,
        },
        plans: PLANS,
        election: election('b'),
      });
      rival.manager.run(process.signal).catch(error => {
        cloud.failure = error;
      });
      paused.pause(30_000);
      const led = await cloud.sim.within(120_000, () => rival.manager.state === 'running');
      if (!led) throw new Error('the second operator never led');
      await cloud.sim.run(60_000);
      // The first one woke up, found its lease gone and ended: that is its duty, not a failure.
      if (!/lease|leader/i.test(String(cloud.failure)))
        throw new Error(`the first operator did not give up: ${cloud.failure}`);
      cloud.failure = undefined;
      audit.violations.push(...audit.interleaved());
    });
  }

  it('a leader that wakes in the middle of a pass does not finish it', { timeout: HOUR }, async () => {
    // Stopped between a read and the write that follows it: nothing but the fence stands between them.
    for (const at of [20, 40, 60, 80, 100, 120]) expect(await takeover(deploy, at)).toEqual([]);
  });

  for (const at of ALL ? [10, 30, 50, 70, 90, 110, 2600, 7160, 17_150, 28_330] : [70])
    it(`the leader stops for 30 s, ${at} ms into a deploy: its successor goes on alone`, {
      timeout: HOUR,
    }, async () => {
      expect(await takeover(deploy, at)).toEqual([]);
    });
  if (ALL)
    for (const deed of [edit, removeDelete])
      for (const at of [3, 15, 50, 80])
        it(`the leader stops for 30 s, ${at} ms into ${deed.name}`, { timeout: HOUR }, async () => {
          expect(await takeover(deed, at)).toEqual([]);
        });
});
