import * as z from 'zod';
import { replicasColumn } from '../blocks/columns.ts';
import { innerTls, lifecycle } from '../blocks/common.ts';
import { pods, replicas } from '../blocks/pod.ts';
import { openstack } from '../schema/groups.ts';
import { int, list } from '../schema/helpers.ts';
import { kind } from '../schema/kind.ts';

/** There is nothing to retain or delete. */
const withoutData = () => {
  const { deletionPolicy: _, ...rest } = lifecycle();
  return rest;
};

export const Memcached = kind({
  in: openstack,
  kind: 'Memcached',
  plural: 'memcacheds',
  shortNames: ['osmc'],
  description: 'The token and session cache of a cloud. Holds nothing that must survive.',
  columns: [replicasColumn()],
  spec: () => ({
    ...replicas(),
    memoryMB: int(16, 1_048_576, 'Memory for cached items in MiB; the container gets some more.').default(256),
    maxConnections: int(16, 1_048_576, 'Connections at the same time.').default(8192),
    ...innerTls(),
    ...pods('memcached arguments, one per line,'),
    ...withoutData(),
  }),
  status: () => ({
    servers: list(z.string().describe('host:port'), 'Addresses that services are given.', 32).optional(),
  }),
});
