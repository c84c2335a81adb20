import { RabbitMQ } from '../../../api/openstack/rabbitmq.ts';
import { Secret } from '../../kube/resource.ts';
import { plan, rowsOf } from '../../runtime/plan/row.ts';
import { password } from '../../world/clock.ts';
import { adminAddress, adminSecret, portsOf, type RabbitMQObject } from '../backends/rabbitmq.ts';
import {
  checkServer,
  deployed,
  serverCertificateRow,
  serverExposeRow,
  serverStart,
  serverTarget,
  serverWorkloadsRow,
} from '../backends/server.ts';
import { configSecret, plainText } from '../config/config.ts';
import { fieldOf } from '../env.ts';
import { networkPolicyRow, open } from '../exposure/network.ts';
import { hostsCanReachRow } from '../hosts.ts';
import { imageOf } from '../images.ts';
import { noRotationRow } from '../links/credentials.ts';
import { serviceHost } from '../names.ts';
import { kollaStart, type Process } from '../pods/pod.ts';
import { tlsVolumes } from '../pods/tls-volumes.ts';
import { REFERENCES, usersBy } from '../users.ts';
import { rabbitFiles } from './files.ts';

const row = rowsOf<RabbitMQObject>();
const DATA = '/var/lib/rabbitmq';
const COOKIE = '/run/erlang-cookie';
/** Debian's start script writes there whatever RABBITMQ_LOGS says. */
const LOGS = '/var/log/rabbitmq';

const input = row('InputReady', {
  when: deployed,
  manages: [Secret],
  run: async cx => {
    checkServer(cx);
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

const certificate = serverCertificateRow<RabbitMQObject>();

const config = row('ConfigReady', {
  needs: { input, certificate },
  when: deployed,
  manages: [Secret],
  run: async (cx, { input, certificate }) => {
    const ports = portsOf(cx.spec);
    const members = `${cx.name}-members`;
    const ping = { exec: { command: ['rabbitmq-diagnostics', '-q', 'ping'] }, timeoutSeconds: 20 };
    const process: Process = {
      name: 'rabbitmq',
      image: imageOf('rabbitmq', cx.spec, cx.env),
      argv: ['rabbitmq-server'],
      user: 42439,
      userName: 'rabbitmq',
      ports,
      requests: { cpu: '50m', memory: '256Mi' },
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
      startup: { tcpSocket: { port: ports.amqp }, periodSeconds: 2, failureThreshold: 300 },
      readiness: { tcpSocket: { port: ports.amqp }, periodSeconds: 10 },
      liveness: { ...ping, periodSeconds: 60, failureThreshold: 3 },
      volumes: tlsVolumes(undefined, certificate),
      scratch: [LOGS],
    };
    const all = rabbitFiles(input!, adminSecret(cx.object), await plainText(cx), cx.spec);
    return { process, config: await configSecret(cx, [...all, kollaStart(process, all, serverStart(cx))]) };
  },
});

const expose = serverExposeRow<RabbitMQObject>(cx => portsOf(cx.spec));

/** A Secret volume is root's and group-readable; Erlang wants the cookie to be its own and nobody else's. */
const OWN_COOKIE = `umask 077 && cat ${COOKIE}/cookie > ${DATA}/.erlang.cookie.new && mv ${DATA}/.erlang.cookie.new ${DATA}/.erlang.cookie`;

const workloads = serverWorkloadsRow<RabbitMQObject>({ config, expose }, (cx, process) => {
  const items = [{ key: 'cookie', path: 'cookie' }];
  const volumeMounts = [
    { name: 'data', mountPath: DATA },
    { name: 'cookie', mountPath: COOKIE, readOnly: true },
  ];
  return {
    process,
    init: { name: 'cookie', image: process.image, command: ['sh', '-c', OWN_COOKIE], volumeMounts },
    data: DATA,
    graceSeconds: 60,
    volumes: [{ name: 'cookie', secret: { secretName: adminSecret(cx.object), defaultMode: 0o440, items } }],
  };
});

const answering = row('Answering', {
  needs: { workloads },
  run: async cx => cx.cloud.bus(await adminAddress(cx, cx.object)).check(),
});

const hostsCanReach = hostsCanReachRow<RabbitMQObject>(cx => serverTarget(cx, portsOf(cx.spec).amqp), deployed);

const rotation = noRotationRow<RabbitMQObject>();

/** Computes are on the networks of their hosts, which have no labels: the bus itself asks for a password. */
const networkPolicy = networkPolicyRow<RabbitMQObject>(cx => {
  const { amqp, management } = portsOf(cx.spec);
  return [open([amqp]), { ports: [management], from: ['operator'] }];
});

export const rabbitmq = plan(
  RabbitMQ,
  { input, certificate, config, expose, workloads, answering, hostsCanReach, networkPolicy, rotation },
  { users: usersBy(REFERENCES.RabbitMQ), external: true },
);
