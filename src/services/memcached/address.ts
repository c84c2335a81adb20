import type { ObjectOf } from '../../../api/kind.ts';
import type { Memcached } from '../../../api/openstack/memcached.ts';
import type { DeepReadonly } from '../../kube/object.ts';
import { memberHost, type Place } from '../names.ts';

export type MemcachedObject = ObjectOf<typeof Memcached>;

export const PORT = 11211;

/** Every member by name, in the same order everywhere: clients hash keys over the list, so no Service may balance. */
export const memcachedServers = (object: DeepReadonly<MemcachedObject>, place: Place): string[] =>
  Array.from({ length: object.spec.replicas }, (_, ordinal) => {
    const { name } = object.metadata;
    return `${memberHost(place, name, ordinal, name)}:${PORT}`;
  });
