import { Memcached } from '../../../api/openstack/memcached.ts';
import { NetworkPolicy, Pod, PodDisruptionBudget, Secret, Service, StatefulSet } from '../../kube/resource.ts';
import { plan, rowsOf } from '../../runtime/plan/row.ts';
import { stall } from '../../runtime/plan/unmet.ts';
import { configSecret, overwrittenFiles, plainText } from '../config.ts';
import { rotation } from '../credentials.ts';
import { applyService } from '../expose.ts';
import { imageOf } from '../images.ts';
import { podLabels } from '../names.ts';
import { isolation } from '../network.ts';
import { overrideOf } from '../override.ts';
import { kollaStart, type Process, podTemplate } from '../pod.ts';
import { overTls } from '../tls/certificate.ts';
import { budget } from '../workload.ts';
import { type MemcachedObject, memcachedServers, PORT } from './address.ts';

const row = rowsOf<MemcachedObject>();

/**
 * Clients of the cache speak TLS only by python-binary-memcached, which images do not have, and keystonemiddleware of
 * 2025.1 not at all: a server that insists would be a cloud without a cache (docs/how-to/tls.md).
 */
const input = row('InputReady', {
  run: async cx => {
    overwrittenFiles(cx, 'memcached', []);
    if (overTls(cx.spec))
      throw stall({
        reason: 'NotSupported',
        what: 'spec.tls.enabled is true, and the clients of memcached in the images of OpenStack speak no TLS',
        who: 'User',
        next: 'leave it out; what is kept of tokens is encrypted by those who keep it',
      });
  },
});

const config = row('ConfigReady', {
  needs: { input },
  run: async cx => {
    const { memoryMB, maxConnections } = cx.spec;
    const own = (await plainText(cx)).split(/\s+/).filter(arg => arg !== '');
    const process: Process = {
      name: 'memcached',
      image: imageOf('memcached', cx.spec, cx.env),
      argv: [
        'memcached',
        '-v',
        '-l',
        '0.0.0.0',
        '-p',
        `${PORT}`,
        '-U',
        '0',
        '-c',
        `${maxConnections}`,
        '-m',
        `${memoryMB}`,
        ...own,
      ],
      user: 42457,
      userName: 'memcached',
      ports: { memcached: PORT },
      // The cache fills up in time, and is not set aside before.
      requests: { cpu: '10m', memory: '64Mi' },
      readiness: { tcpSocket: { port: PORT } },
      liveness: { tcpSocket: { port: PORT }, periodSeconds: 30 },
    };
    return { process, config: await configSecret(cx, [kollaStart(process, [])]) };
  },
});

const expose = row('ExposeReady', {
  run: async cx => {
    const selector = podLabels('Memcached', cx.name, 'memcached');
    await applyService(cx, { name: cx.name, ports: { memcached: PORT }, selector, headless: 'alone' });
    cx.report({ servers: memcachedServers(cx.object, cx) });
  },
});

const pods = row('WorkloadsReady', {
  needs: { config },
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
    return live.metadata.name;
  },
});

const rotating = rotation<MemcachedObject>(() => [], {});

/** It asks nobody for a password, so nobody else may come near. */
const network = isolation<MemcachedObject>(() => [{ ports: [PORT], from: { clients: 'cache' } }]);

export const memcached = plan(
  Memcached,
  { input, config, expose, pods, network, rotating },
  { manages: [NetworkPolicy, PodDisruptionBudget, Secret, Service, StatefulSet], reads: [Pod] },
);
