import { KINDS } from '../../api/kinds.ts';
import { CHILDREN, OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { specLeaves } from '../../api/schema/planned.ts';
import { type Resource, resourceName } from '../kube/resource.ts';
import type { Plan } from '../runtime/plan/row.ts';

/**
 * Objects of ours that every object may look at: those that its fields name, and its owners, whose settings reach it. An
 * operator for some kinds watches these of the others, and may read no more.
 */
const NAMED: Readonly<Record<string, string>> = {
  databaseInstance: 'MariaDB',
  messageBusInstance: 'RabbitMQ',
  keystoneInstance: 'Keystone',
  memcachedInstance: 'Memcached',
  ovnInstance: 'OVNNetwork',
  cephStorage: 'CephStorage',
};

const kindsOf = (names: readonly string[]): readonly Resource[] => KINDS.filter(({ kind }) => names.includes(kind));

function ownersOf(resource: Resource): readonly Resource[] {
  if (Object.values(CHILDREN).some(({ kind }) => kind === resource.kind)) return [OpenStackControlPlane];
  // The parts of Nova are below it or a cell, and that is below it.
  return resource.group === 'nova.openstack.org' ? kindsOf(['OpenStackControlPlane', 'Nova', 'NovaCell']) : [];
}

function named(resource: Resource): readonly Resource[] {
  const own = KINDS.find(({ kind, group }) => kind === resource.kind && group === resource.group);
  const fields = own ? specLeaves(own).map(leaf => leaf.split('.').at(-1) ?? '') : [];
  return kindsOf(fields.flatMap(field => NAMED[field] ?? []));
}

/** The same plan, which says so. */
export function withReads<P extends Plan<never>>(plan: P): P {
  const all = [...plan.reads, ...named(plan.kind), ...ownersOf(plan.kind)];
  return { ...plan, reads: [...new Map(all.map(each => [resourceName(each), each])).values()] };
}
