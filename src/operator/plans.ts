import { KINDS } from '../../api/kinds.ts';
import type { AnyKind } from '../../api/schema/kind.ts';
import { controlplane } from '../controlplane/index.ts';
import type { Managed } from '../runtime/plan/managed.ts';
import { type Plan, plan, rowsOf } from '../runtime/plan/row.ts';
import { stall } from '../runtime/plan/unmet.ts';
import { ceph } from '../services/ceph/index.ts';
import { cinder } from '../services/cinder/index.ts';
import { glance } from '../services/glance/index.ts';
import { heat } from '../services/heat/index.ts';
import { horizon } from '../services/horizon/index.ts';
import { withoutHostAccess } from '../services/host-access/index.ts';
import { keystone } from '../services/keystone/index.ts';
import { mariadb } from '../services/mariadb/index.ts';
import { memcached } from '../services/memcached/index.ts';
import { neutron } from '../services/neutron/index.ts';
import { novaPlans } from '../services/nova/plans.ts';
import { ovn } from '../services/ovn/index.ts';
import { placement } from '../services/placement/index.ts';
import { rabbitmq } from '../services/rabbitmq/index.ts';
import { withRelease } from '../services/standard/release.ts';
import { withReads } from './reads.ts';

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
