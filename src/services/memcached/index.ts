import { Memcached } from '../../../api/openstack/memcached.ts';
import { Pod, PodDisruptionBudget, Secret, Service, StatefulSet } from '../../kube/resource.ts';
import { plan, rowsOf } from '../../runtime/plan/row.ts';
import { type MemcachedObject, memcachedHosts, memcachedServers, PORT } from '../backends/memcached.ts';
import { reportPods, serverStart } from '../backends/server.ts';
import { configSecret, overwrittenFiles, plainText, START } from '../config/config.ts';
import { applyService } from '../exposure/expose.ts';
import { clientsOnNodes, networkPolicyRow } from '../exposure/network.ts';
import { imageOf } from '../images.ts';
import { noRotationRow } from '../links/credentials.ts';
import { podLabels } from '../names.ts';
import { overrideOf } from '../pods/override.ts';
import { askedBy, kollaStart, type Process, podTemplate } from '../pods/pod.ts';
import { tlsVolumes } from '../pods/tls-volumes.ts';
import { budget } from '../pods/workload.ts';
import { certificateRow } from '../tls/row.ts';
import { OWN_CERTIFICATE, OWN_KEY } from '../tls/trust.ts';

const row = rowsOf<MemcachedObject>();

const input = row('InputReady', {
  run: async cx => {
    overwrittenFiles(cx, 'memcached', [START]);
  },
});

const certificate = certificateRow<MemcachedObject>(cx => ({ hosts: memcachedHosts(cx.object, cx) }));

/** Plain, and heard only within the pod: memcached reads its certificate again when a client says so, and nobody else shall. */
const INNER = 11210;
const listeners = (tls: boolean): string[] =>
  tls
    ? [
        '-l',
        `0.0.0.0:${PORT},notls:127.0.0.1:${INNER}`,
        '-Z',
        '-o',
        `ssl_chain_cert=${OWN_CERTIFICATE},ssl_key=${OWN_KEY}`,
      ]
    : ['-l', '0.0.0.0'];

/**
 * A process that responds is alive, also if its files can't be read: it goes on with what it has. A TCP probe would be a
 * handshake that fails, in its log every ten seconds.
 */
const REFRESH = [
  'bash',
  '-c',
  `exec 3<>/dev/tcp/127.0.0.1/${INNER} && printf 'refresh_certs\\r\\n' >&3 && read -r -t 5 answer <&3`,
];
const probes = (tls: boolean) =>
  tls
    ? { ...askedBy(...REFRESH), liveness: { exec: { command: REFRESH }, periodSeconds: 30, timeoutSeconds: 10 } }
    : { readiness: { tcpSocket: { port: PORT } }, liveness: { tcpSocket: { port: PORT }, periodSeconds: 30 } };

const config = row('ConfigReady', {
  needs: { input, certificate },
  manages: [Secret],
  run: async (cx, { certificate }) => {
    const { memoryMB, maxConnections } = cx.spec;
    const tls = certificate !== undefined;
    const given = (await plainText(cx)).split(/\s+/).filter(arg => arg !== '');
    const process: Process = {
      name: 'memcached',
      image: imageOf('memcached', cx.spec, cx.env),
      argv: [
        'memcached',
        '-v',
        ...listeners(tls),
        '-p',
        `${PORT}`,
        '-U',
        '0',
        '-c',
        `${maxConnections}`,
        '-m',
        `${memoryMB}`,
        ...given,
      ],
      user: 42457,
      userName: 'memcached',
      ports: { memcached: PORT },
      // The cache fills up in time, and is not reserved before.
      requests: { cpu: '10m', memory: '64Mi' },
      ...probes(tls),
      ...(tls && { volumes: [...tlsVolumes(undefined, certificate)] }),
    };
    return { process, config: await configSecret(cx, [kollaStart(process, [], serverStart(cx))]) };
  },
});

const expose = row('ExposeReady', {
  manages: [Service],
  run: async cx => {
    const selector = podLabels('Memcached', cx.name, 'memcached');
    await applyService(cx, { name: cx.name, ports: { memcached: PORT }, selector, headless: 'alone' });
    cx.report({ servers: memcachedServers(cx.object, cx) });
  },
});

const workloads = row('WorkloadsReady', {
  needs: { config },
  manages: [PodDisruptionBudget, StatefulSet],
  reads: [Pod],
  run: async (cx, { config }) => {
    const labels = podLabels('Memcached', cx.name, 'memcached');
    await budget(cx, cx.name, labels, cx.spec.replicas);
    const live = await cx.workload(StatefulSet, {
      metadata: { name: cx.name },
      spec: {
        replicas: cx.spec.replicas,
        serviceName: cx.name,
        // A cache has no order.
        podManagementPolicy: 'Parallel',
        revisionHistoryLimit: 3,
        selector: { matchLabels: labels },
        template: podTemplate(cx.spec, config.process, config.config, labels, {
          graceSeconds: 10,
          override: overrideOf(cx, 'podTemplate'),
        }),
      },
    });
    reportPods(cx, live);
    return live.metadata.name;
  },
});

const rotation = noRotationRow<MemcachedObject>();

/**
 * It asks nobody for a password, so nobody else may come near, not even the operator. Nor a node: what is on the network
 * of one (Nova's computes, cinder-volume with a disk of the node) checks no tokens, and so caches none.
 */
const networkPolicy = networkPolicyRow<MemcachedObject>(
  () => [{ ports: [PORT], from: ['cache'] }],
  clientsOnNodes('cache'),
);

export const memcached = plan(Memcached, { input, certificate, config, expose, workloads, networkPolicy, rotation });
