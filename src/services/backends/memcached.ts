import type { Memcached } from '../../../api/openstack/memcached.ts';
import type { ObjectOf } from '../../../api/schema/kind.ts';
import type { DeepReadonly } from '../../kube/object.ts';
import { memberHosts, type Place } from '../names.ts';

export type MemcachedObject = ObjectOf<typeof Memcached>;

export const PORT = 11211;

export const memcachedHosts = ({ metadata: { name }, spec }: DeepReadonly<MemcachedObject>, place: Place): string[] =>
  memberHosts(place, name, spec.replicas, name);

/** Every member by name, in the same order everywhere: clients hash keys over the list, so no Service may balance. */
export const memcachedServers = (object: DeepReadonly<MemcachedObject>, place: Place): string[] =>
  memcachedHosts(object, place).map(host => `${host}:${PORT}`);
