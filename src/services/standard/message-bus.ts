import type { Cx } from '../../runtime/plan/cx.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import { type Row, rowsOf } from '../../runtime/plan/row.ts';
import { readBus } from '../links/bus.ts';
import { secretIn } from './fields.ts';

/** MessageBusReady: RabbitMQ has the vhost and the user that the credentials name. */
export const messageBusRow = <O extends Managed, C>(
  needs: { readonly credentials: Row<O, C> },
  of: {
    readonly ensure: (cx: Cx<O>, credentials: C) => Promise<unknown>;
    readonly drop: (cx: Cx<O>) => Promise<void>;
    readonly when?: () => boolean;
  },
) =>
  rowsOf<O>()('MessageBusReady', {
    needs,
    when: of.when ?? (() => true),
    run: (cx, { credentials }) => of.ensure(cx, credentials as C),
    undo: of.drop,
  });

/** The same from a hand-made Secret; off where no field names one. */
export const givenMessageBusRow = <O extends Managed>(field: string | undefined) =>
  rowsOf<O>()('MessageBusReady', {
    when: () => field !== undefined,
    run: cx => readBus(cx, secretIn(cx.object, field ?? ''), `spec.${field}`),
  });
