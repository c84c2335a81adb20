import type { AnyKind } from '../../api/kind.ts';
import { KINDS } from '../../api/kinds.ts';
import { controlplane } from '../controlplane/index.ts';
import type { Managed } from '../runtime/plan/managed.ts';
import { type Plan, plan, rowsOf } from '../runtime/plan/row.ts';
import { stall } from '../runtime/plan/unmet.ts';
import { ceph } from './ceph/index.ts';
import { cinder } from './cinder/index.ts';
import { glance } from './glance/index.ts';
import { heat } from './heat/index.ts';
import { horizon } from './horizon/index.ts';
import { withoutHostAccess } from './host-access/index.ts';
import { keystone } from './keystone/index.ts';
import { mariadb } from './mariadb/index.ts';
import { memcached } from './memcached/index.ts';
import { neutron } from './neutron/index.ts';
import { novaPlans } from './nova/plans.ts';
import { ovn } from './ovn/index.ts';
import { placement } from './placement/index.ts';
import { rabbitmq } from './rabbitmq/index.ts';
import { withReads } from './reads.ts';
import { withRelease } from './release.ts';

/** Every controller of the operator. A new service is a folder and a line here. */
const written: readonly Plan<never>[] = [
  controlplane,
  mariadb,
  rabbitmq,
  memcached,
  keystone,
  ceph,
  cinder,
  glance,
  heat,
  horizon,
  placement,
  ovn,
  neutron,
  ...novaPlans,
] as readonly Plan<never>[];

/** A kind that can be created but is not carried out yet says so, instead of staying silent. */
const unwritten = (kind: AnyKind): Plan<Managed> => {
  const row = rowsOf<Managed>();
  const controller = row('ControllerReady', {
    run: async () => {
      throw stall({
        reason: 'NotImplemented',
        what: `This version of the operator does nothing for a ${kind.kind}`,
        who: 'User',
        next: 'disable it, or wait for a version that does',
      });
    },
  });
  return plan(kind, { controller });
};

export const PLANS: readonly Plan<never>[] = [
  ...written.map(withRelease).map(withoutHostAccess).map(withReads),
  ...(KINDS.filter(kind => !written.some(done => done.kind.kind === kind.kind)).map(
    unwritten,
  ) as readonly Plan<never>[]),
];
