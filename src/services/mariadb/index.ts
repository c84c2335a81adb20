import { MariaDB } from '../../../api/openstack/mariadb.ts';
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
import { configSecret } from '../config.ts';
import { applyService } from '../expose.ts';
import { imageOf } from '../images.ts';
import { podLabels, serviceHost } from '../names.ts';
import { isolation } from '../network.ts';
import { kollaStart, type Process, podTemplate } from '../pod.ts';
import { claimTemplate, oneReplica, removeData, storageClass } from '../storage.ts';
import { adminAddress, type MariaDBObject, PORT, rootSecret } from './address.ts';
import { DATA, INSTALL_SCRIPT, mariadbFiles, PING, SERVER_ARGV } from './files.ts';

const row = rowsOf<MariaDBObject>();
const deployed = (object: { readonly spec: { readonly external?: object } }): boolean =>
  object.spec.external === undefined;

const input = row('InputReady', {
  when: deployed,
  run: async cx => {
    oneReplica(cx);
    storageClass(cx);
    const name = rootSecret(cx.object);
    if (cx.spec.secret) return cx.secret(name, ['password'], 'spec.secret');
    // Opens data that outlives us, so it outlives us too (rule 18).
    return cx.generate(name, () => ({ user: 'root', password: password(cx.random) }), { retain: true });
  },
  undo: async cx => {
    if (cx.spec.deletionPolicy === 'Delete' && !cx.spec.secret) await cx.remove(Secret, rootSecret(cx.object));
  },
});

const config = row('ConfigReady', {
  needs: { input },
  when: deployed,
  run: async (cx, { input }) => {
    const process: Process = {
      name: 'mariadb',
      image: imageOf('mariadb-server', cx.spec, cx.env),
      argv: SERVER_ARGV,
      user: 42434,
      userName: 'mysql',
      ports: { mysql: PORT },
      requests: { cpu: '100m', memory: '384Mi' },
      // Not a TCP probe: each would be an aborted connection in the log and count against the host.
      startup: { exec: { command: PING }, periodSeconds: 2, timeoutSeconds: 10, failureThreshold: 300 },
      // A second is not enough for a client to start on a busy node.
      readiness: { exec: { command: PING }, periodSeconds: 5, timeoutSeconds: 10 },
      liveness: { exec: { command: PING }, periodSeconds: 30, timeoutSeconds: 20, failureThreshold: 4 },
    };
    const files = mariadbFiles(input?.password ?? '', cx.spec.customServiceConfig);
    return { process, config: await configSecret(cx, [...files, kollaStart(process, files)]) };
  },
});

const expose = row('ExposeReady', {
  when: deployed,
  run: async cx => {
    const selector = podLabels('MariaDB', cx.name, 'server');
    await cx.all([
      applyService(cx, { name: cx.name, ports: { mysql: PORT }, selector }),
      applyService(cx, { name: `${cx.name}-members`, ports: { mysql: PORT }, selector, headless: true }),
    ]);
    cx.report({ hostname: serviceHost(cx, cx.name) });
  },
});

const pods = row('WorkloadsReady', {
  needs: { config, expose },
  when: deployed,
  run: async (cx, { config }) => {
    if (!config) return;
    const labels = podLabels('MariaDB', cx.name, 'server');
    const install = {
      name: 'install',
      image: config.process.image,
      command: ['sh', '-c', INSTALL_SCRIPT],
      volumeMounts: [{ name: 'data', mountPath: DATA }],
    };
    const process = { ...config.process, volumes: [] };
    const template = podTemplate(cx.spec, process, config.config, labels, {
      initContainers: [install],
      graceSeconds: 300,
    });
    template.spec.containers[0]?.volumeMounts?.push({ name: 'data', mountPath: DATA });
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
  run: async cx => cx.cloud.sql(await adminAddress(cx, cx.object)).check(),
});

const network = isolation<MariaDBObject>(() => [{ ports: [PORT], from: { clients: 'database' } }]);

export const mariadb = plan(
  MariaDB,
  { input, config, expose, pods, answering, network },
  {
    manages: [NetworkPolicy, Secret, Service, StatefulSet, PersistentVolumeClaim],
    reads: [Pod, StorageClass],
    external: true,
  },
);
