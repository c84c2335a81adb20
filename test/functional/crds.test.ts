import { describe } from 'vitest';
import { Sim } from '../../src/embedded/sim/sim.ts';
import { createStore } from '../../src/embedded/store/store.ts';
import { crdStories } from './crd-stories.ts';

describe('our kinds on the Store', () => {
  crdStories(
    async () => {
      const sim = new Sim(1);
      const store = createStore({ clock: sim.clock, random: sim.random });
      return async request => store.handle(request, 'admin');
      // src/embedded/kubectl/table.ts answers the object itself so far.
    },
    { tables: false },
  );
});
