import { RabbitMQ } from '../../../api/openstack/rabbitmq.ts';
import {
  NetworkPolicy,
  PersistentVolumeClaim,
  Pod,
  Secret,
  Service,
  StatefulSet,
  StorageClass,
} from '../../kube/resource.ts';
import { plan, rowsOf } from '../../runtime/plan/row.ts';
import { password } from '../../world/world.ts';
import { type ConfigFile, configSecret } from '../config.ts';
import { rotation } from '../credentials.ts';
import { fieldOf } from '../env.ts';
import { applyService } from '../expose.ts';
import { imageOf } from '../images.ts';
import { podLabels, serviceHost } from '../names.ts';
import { isolation, open } from '../network.ts';
import { kollaStart, type Process, podTemplate } from '../pod.ts';
import { claimTemplate, oneReplica, removeData, storageClass } from '../storage.ts';
import { AMQP_PORT, adminAddress, adminSecret, MANAGEMENT_PORT, type RabbitMQObject } from './address.ts';

const row = rowsOf<RabbitMQObject>();
const deployed = (object: { readonly spec: { readonly external?: object } }): boolean =>
  object.spec.external === undefined;

const DATA = '/var/lib/rabbitmq';
const COOKIE = '/run/erlang-cookie';

const input = row('InputReady', {
  when: deployed,
  run: async cx => {
    oneReplica(cx);
    storageClass(cx);
    const secret = () => password(cx.random);
    // The cookie joins members that restart later, and the user lives in the volume: both stay with it (rule 18).
    return cx.generate(adminSecret(cx.object), () => ({ user: 'admin', password: secret(), cookie: secret() }), {
      retain: true,
    });
  },
  undo: async cx => {
    if (cx.spec.deletionPolicy === 'Delete') await cx.remove(Secret, adminSecret(cx.object));
  },
});

function files(user: string, secret: string, custom: string | undefined): ConfigFile[] {
  const file = (key: string, path: string, text: string): ConfigFile => ({ key, path: `/etc/rabbitmq/${path}`, text });
  const settings = [
    `default_user = ${user}`,
    `default_pass = ${secret}`,
    'default_user_tags.administrator = true',
    // Only the pod itself and what has the password reaches it; loopback-only users would lock us out.
    'loopback_users = none',
    `listeners.tcp.default = ${AMQP_PORT}`,
    `management.tcp.port = ${MANAGEMENT_PORT}`,
    'cluster_partition_handling = pause_minority',
    'disk_free_limit.absolute = 200MB',
    'log.console = true',
    'log.file = false',
  ];
  return [
    file('01-rabbitmq.conf', 'conf.d/01-rabbitmq.conf', `${settings.join('\n')}\n`),
    ...(custom ? [file('02-rabbitmq-override.conf', 'conf.d/02-rabbitmq-override.conf', custom)] : []),
    file('enabled_plugins', 'operator/enabled_plugins', '[rabbitmq_management,rabbitmq_prometheus].\n'),
  ];
}

const config = row('ConfigReady', {
  needs: { input },
  when: deployed,
  run: async (cx, { input }) => {
    const members = `${cx.name}-members`;
    const ping = { exec: { command: ['rabbitmq-diagnostics', '-q', 'ping'] }, timeoutSeconds: 20 };
    const process: Process = {
      name: 'rabbitmq',
      image: imageOf('rabbitmq', cx.spec, cx.env),
      argv: ['rabbitmq-server'],
      user: 42439,
      userName: 'rabbitmq',
      ports: { amqp: AMQP_PORT, management: MANAGEMENT_PORT },
      requests: { cpu: '100m', memory: '256Mi' },
      env: [
        fieldOf('POD_NAME', 'metadata.name'),
        { name: 'RABBITMQ_USE_LONGNAME', value: 'true' },
        { name: 'RABBITMQ_NODENAME', value: `rabbit@$(POD_NAME).${serviceHost(cx, members)}` },
        { name: 'RABBITMQ_CONFIG_FILES', value: '/etc/rabbitmq/conf.d' },
        { name: 'RABBITMQ_ENABLED_PLUGINS_FILE', value: '/etc/rabbitmq/operator/enabled_plugins' },
        { name: 'RABBITMQ_MNESIA_BASE', value: `${DATA}/mnesia` },
        { name: 'RABBITMQ_LOGS', value: '-' },
        { name: 'HOME', value: DATA },
        // Two schedulers and no busy waiting: an idle bus should cost nothing (openstack-facts 3).
        { name: 'RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS', value: '+S 2:2 +sbwt none +sbwtdcpu none +sbwtdio none' },
      ],
      startup: { tcpSocket: { port: AMQP_PORT }, periodSeconds: 2, failureThreshold: 300 },
      readiness: { tcpSocket: { port: AMQP_PORT }, periodSeconds: 10 },
      liveness: { ...ping, periodSeconds: 60, failureThreshold: 3 },
    };
    const own = files(input?.user ?? '', input?.password ?? '', cx.spec.customServiceConfig);
    return { process, config: await configSecret(cx, [...own, kollaStart(process, own)]) };
  },
});

const expose = row('ExposeReady', {
  when: deployed,
  run: async cx => {
    const selector = podLabels('RabbitMQ', cx.name, 'server');
    const ports = { amqp: AMQP_PORT, management: MANAGEMENT_PORT };
    await cx.all([
      applyService(cx, { name: cx.name, ports, selector }),
      applyService(cx, { name: `${cx.name}-members`, ports, selector, headless: true }),
    ]);
    cx.report({ hostname: serviceHost(cx, cx.name) });
  },
});

const pods = row('WorkloadsReady', {
  needs: { config, expose },
  when: deployed,
  run: async (cx, { config }) => {
    if (!config) return;
    const labels = podLabels('RabbitMQ', cx.name, 'server');
    // A Secret volume is root's and group-readable; Erlang wants the cookie to be its own and nobody else's.
    const cookie = {
      name: 'cookie',
      image: config.process.image,
      command: [
        'sh',
        '-c',
        `umask 077 && cat ${COOKIE}/cookie > ${DATA}/.erlang.cookie.new && mv ${DATA}/.erlang.cookie.new ${DATA}/.erlang.cookie`,
      ],
      volumeMounts: [
        { name: 'data', mountPath: DATA },
        { name: 'cookie', mountPath: COOKIE, readOnly: true },
      ],
    };
    const template = podTemplate(cx.spec, config.process, config.config, labels, {
      initContainers: [cookie],
      graceSeconds: 60,
    });
    template.spec.containers[0]?.volumeMounts?.push({ name: 'data', mountPath: DATA });
    template.spec.volumes?.push({
      name: 'cookie',
      secret: { secretName: adminSecret(cx.object), defaultMode: 0o440, items: [{ key: 'cookie', path: 'cookie' }] },
    });
    await cx.workload(StatefulSet, {
      metadata: { name: cx.name },
      spec: {
        replicas: cx.spec.replicas,
        serviceName: `${cx.name}-members`,
        podManagementPolicy: 'Parallel',
        revisionHistoryLimit: 3,
        selector: { matchLabels: labels },
        template,
        volumeClaimTemplates: [claimTemplate(cx, labels)],
      },
    });
  },
  undo: cx => removeData(cx, cx.spec.deletionPolicy),
});

const answering = row('Answering', {
  needs: { pods },
  run: async cx => cx.cloud.bus(await adminAddress(cx, cx.object)).check(),
});

const rotating = rotation<RabbitMQObject>(() => [], {});

/** Computes are on the networks of their hosts, which have no labels: the bus itself asks for a password. */
const network = isolation<RabbitMQObject>(() => [open([AMQP_PORT]), { ports: [MANAGEMENT_PORT], from: 'operator' }]);

export const rabbitmq = plan(
  RabbitMQ,
  { input, config, expose, pods, answering, network, rotating },
  {
    manages: [NetworkPolicy, Secret, Service, StatefulSet, PersistentVolumeClaim],
    reads: [Pod, StorageClass],
    external: true,
  },
);
