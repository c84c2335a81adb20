import { releaseColumn, replicasColumn } from '../blocks/columns.ts';
import { lifecycle, publicEndpoint, tls } from '../blocks/common.ts';
import { identity, memcached } from '../blocks/links.ts';
import { pods, replicas } from '../blocks/pod.ts';
import { region } from '../blocks/service.ts';
import { openstack } from '../schema/groups.ts';
import { objectName } from '../schema/helpers.ts';
import { kind } from '../schema/kind.ts';

/** It keeps nothing: sessions are in the cache. */
const { deletionPolicy: _data, ...stateless } = lifecycle();

export const Horizon = kind({
  in: openstack,
  kind: 'Horizon',
  plural: 'horizons',
  shortNames: ['oshz'],
  description: 'The dashboard.',
  columns: [replicasColumn(), releaseColumn()],
  spec: () => ({
    ...replicas(),
    ...region(),
    ...identity(),
    ...memcached(),
    secret: objectName('Secret with the key that signs sessions, key secret-key. Absent: generated once.').optional(),
    ...publicEndpoint(),
    ...tls(),
    ...pods('local_settings (Python) text'),
    ...stateless,
  }),
});
