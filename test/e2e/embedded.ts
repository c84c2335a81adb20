import { Cloud, NS } from '../functional/cloud.ts';
import { loginBy } from './login.ts';
import type { Stage } from './stage.ts';

/** The embedded world, on virtual time. */
export async function embeddedStage(): Promise<Stage> {
  const cloud = await Cloud.start();
  return {
    namespace: NS,
    apply: async object => cloud.apply(object),
    get: async (resource, name) => cloud.get(resource, name),
    list: async resource => cloud.hands.list(resource, NS),
    patch: async (resource, name, patch) => void cloud.hands.patch(resource, NS, name, patch),
    remove: async (resource, name) => cloud.hands.remove(resource, NS, name),
    pass: seconds => cloud.sim.run(seconds * 1000),
    killOperator: async () => {
      cloud.crashOperator();
      cloud.startOperator();
    },
    writes: () => cloud.writes(),
    login: password => loginBy(cloud.backends.cloud, NS, password, call => cloud.drive(call)),
  };
}
