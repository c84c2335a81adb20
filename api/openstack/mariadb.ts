import { replicasColumn } from '../blocks/columns.ts';
import { innerTls, lifecycle, storage } from '../blocks/common.ts';
import { pods, quorumReplicas } from '../blocks/pod.ts';
import { host } from '../schema/forms.ts';
import { openstack } from '../schema/groups.ts';
import { fixedPresence, flag, group, immutableField, int, objectName, text } from '../schema/helpers.ts';
import { kind } from '../schema/kind.ts';

export const MariaDB = kind({
  in: openstack,
  kind: 'MariaDB',
  plural: 'mariadbs',
  shortNames: ['osdb'],
  description:
    'The database server of a cloud: one member, a Galera cluster of three, or the address of a server that exists already. Services create their databases and users in it by themselves.',
  columns: [replicasColumn()],
  spec: () => ({
    ...quorumReplicas(),
    ...storage('10Gi'),
    secret: objectName(
      'Secret with the root password, key password. Absent: generated once as <name>-root.',
    ).optional(),
    external: group(
      {
        hostname: host('Name or address of the server.').optional(),
        port: int(1, 65535, 'Port of the server.').default(3306),
        adminSecret: objectName(
          'Secret with a user that may create databases and users: keys user, password; optional ca.crt.',
        ).optional(),
      },
      'A server that exists already; then nothing is deployed and replicas and storage mean nothing.',
    ).optional(),
    ...innerTls(),
    ...pods('my.cnf text'),
    ...lifecycle(),
  }),
  rules: [
    immutableField('storageClass', 'volumes do not move between classes; back up, re-create and restore'),
    fixedPresence('external', 'nothing moves the data between a server of this cloud and another one'),
  ],
  status: () => ({
    hostname: text('Name that clients use inside the cluster.').optional(),
    secureTransport: flag(
      'Connections over the network without TLS are refused, or will be in a moment: with tls.enabled, when all clients speak TLS. Never set of an external server.',
    ).optional(),
  }),
});
