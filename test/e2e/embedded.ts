import { momentsOf } from '../../src/insight/plan/rolling.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { Cloud, NS } from '../functional/cloud.ts';
import { loginBy } from './login.ts';
import type { Eyes, Stage } from './stage.ts';

/** The embedded world, on virtual time. */
export async function embeddedStage(): Promise<Stage & Eyes> {
  let watching: ReturnType<typeof momentsOf> | undefined;
  const cloud = await Cloud.start({
    wrap: store => ({
      ...store,
      handle: (request, user) => {
        const answer = store.handle(request, user);
        if (request.method !== 'GET' && answer.status < 300)
          watching?.(answer.body as AnyObject, request.method === 'DELETE' ? 'deleted' : 'written');
        return answer;
      },
    }),
  });
  return {
    look: async () => ({ objects: cloud.store.objects(), at: cloud.sim.clock.wall() }),
    watch: async () => {
      const moments: Parameters<typeof momentsOf>[1] = [];
      const note = momentsOf(() => cloud.sim.clock.now(), moments);
      for (const object of cloud.store.objects()) note(object, 'seen');
      watching = note;
      return {
        moments,
        stop: async () => {
          watching = undefined;
        },
      };
    },
    namespace: NS,
    apply: async object => cloud.apply(object),
    get: async (resource, name) => cloud.get(resource, name),
    list: async resource => cloud.hands.list(resource, NS),
    patch: async (resource, name, patch) => void cloud.hands.patch(resource, NS, name, patch),
    remove: async (resource, name) => {
      if (cloud.get(resource, name)) cloud.hands.remove(resource, NS, name);
    },
    pass: seconds => cloud.sim.run(seconds * 1000),
    killOperator: async () => {
      cloud.crashOperator();
      cloud.startOperator();
    },
    writes: () => cloud.writes(),
    login: password => loginBy(cloud.backends.cloud, NS, password, call => cloud.drive(call)),
  };
}
