import { replicasColumn } from '../blocks/columns.ts';
import { expose, innerTls, lifecycle, storage } from '../blocks/common.ts';
import { pods, quorumReplicas } from '../blocks/pod.ts';
import { host, httpUrl } from '../schema/forms.ts';
import { openstack } from '../schema/groups.ts';
import { fixedPresence, group, immutableField, int, objectName, text } from '../schema/helpers.ts';
import { kind } from '../schema/kind.ts';

export const RabbitMQ = kind({
  in: openstack,
  kind: 'RabbitMQ',
  plural: 'rabbitmqs',
  shortNames: ['osmq'],
  description:
    'The message bus of a cloud: one member, a cluster of three, or the address of a bus that exists already. Services create their users and vhosts in it by themselves.',
  columns: [replicasColumn()],
  spec: () => ({
    ...quorumReplicas(),
    ...storage('5Gi'),
    external: group(
      {
        hostname: host('Name or address that services connect to.').optional(),
        port: int(1, 65535, 'AMQP port.').default(5672),
        managementURL: httpUrl('URL of the management API, e.g. http://bus.example.org:15672.').optional(),
        adminSecret: objectName(
          'Secret with a user that has the tag administrator: keys user, password; optional ca.crt.',
        ).optional(),
      },
      'A bus that exists already; then nothing is deployed and replicas and storage mean nothing.',
    ).optional(),
    ...expose(),
    ...innerTls(),
    ...pods('rabbitmq.conf text'),
    ...lifecycle(),
  }),
  rules: [
    immutableField('storageClass', 'volumes do not move between classes; delete and create the bus again'),
    fixedPresence('external', 'nothing moves the data between a server of this cloud and another one'),
  ],
  status: () => ({
    hostname: text('Name that clients use inside the cluster.').optional(),
  }),
});
