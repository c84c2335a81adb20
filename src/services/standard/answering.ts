import type { Managed } from '../../runtime/plan/managed.ts';
import { type Row, rowsOf } from '../../runtime/plan/row.ts';
import { trusting } from '../tls/trust.ts';
import { reachedOf } from './components.ts';
import type { Configured } from './config.ts';
import type { Credentials } from './credentials.ts';
import type { Entry } from './expose.ts';
import type { Service } from './table.ts';

/** Answering: a request through the Service that reads what the service works on. A pod that is ready proves little. */
export const answeringRow = <O extends Managed, S, I>(
  service: Service<O, S, I>,
  needs: {
    readonly config: Row<O, Configured<S, I>>;
    readonly workloads: Row<O, unknown>;
    readonly endpoints: Row<O, unknown>;
    readonly expose: Row<O, readonly Entry[]>;
    readonly credentials: Row<O, Credentials | undefined>;
  },
) =>
  rowsOf<O>()('Answering', {
    needs,
    when: () => reachedOf(service).length > 0,
    run: async (cx, { config: { trusted }, expose: [main], credentials }) => {
      const { front, catalog } = service;
      if (main && front) await cx.cloud.page({ url: `${main.internal}${front.page}`, ca: trusted?.text });
      // As the service's own user: the same password that its config holds.
      if (main && catalog && credentials?.identity)
        await cx.cloud.identity(trusting(credentials.identity, trusted)).get(main.internal, catalog.check);
    },
  });
