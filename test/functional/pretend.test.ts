import { describe } from 'vitest';
import { pretend } from '../../src/embedded/controllers/controllers.ts';
import { Sim } from '../../src/embedded/sim/sim.ts';
import { createStore } from '../../src/embedded/store/store.ts';
import { apiVersionOf } from '../../src/kube/resource.ts';
import type { Request } from '../../src/kube/transport.ts';
import { storyPrograms } from './pretend-programs.ts';
import { type Ground, type Obj, stories } from './pretend-stories.ts';

describe('pretenders on the Store', () => {
  stories(async (): Promise<Ground> => {
    const sim = new Sim(1);
    const store = createStore({ clock: sim.clock, random: sim.random });
    const process = sim.process('pretend');
    let writes = 0;
    const intercept = (request: Request) => {
      if (request.method !== 'GET') writes++;
      return undefined;
    };
    const pretenders = pretend({
      transport: process.transport(store, { intercept }),
      clock: process.clock,
      random: process.random,
      programs: storyPrograms,
    });
    const started = pretenders.start();
    await sim.settle();
    await started;
    return {
      pretenders,
      send: async request => store.handle(request, 'admin'),
      async until(resource, namespace, check) {
        const objects = () =>
          store
            .objects()
            .filter(o => o.apiVersion === apiVersionOf(resource) || resource.kind === 'Event')
            .filter(o => o.kind === resource.kind && (o.metadata.namespace ?? '') === namespace)
            .map(o => (resource.kind === 'Event' ? { ...o, note: o.message ?? o.note } : o)) as Obj[];
        if ((await sim.until(() => check(objects()))) !== 'done' && !check(objects())) {
          throw new Error(`it never came to pass; at rest there is ${JSON.stringify(objects(), null, 1)}`);
        }
      },
      async writesAtRest() {
        await sim.settle();
        writes = 0;
        await sim.run(3_600_000);
        return writes;
      },
    };
  });
});
