import { Keystone } from '../../../api/openstack/keystone.ts';
import { Memcached } from '../../../api/openstack/memcached.ts';
import { Deployment, Job, Pod, ReplicaSet, Secret, Service } from '../../kube/resource.ts';
import { assertReady } from '../../runtime/plan/ready.ts';
import { plan, rowsOf } from '../../runtime/plan/row.ts';
import { internalUrl, type KeystoneObject, PORT, publicUrl } from '../backends/keystone.ts';
import { configSecret, generatedFile } from '../config/config.ts';
import { applyService } from '../exposure/expose.ts';
import { PUBLISHING_MANAGES, PUBLISHING_READS, publish } from '../exposure/ingress.ts';
import { networkPolicyRow, open } from '../exposure/network.ts';
import { hostsCanReachRow } from '../hosts.ts';
import { cache } from '../links/cache.ts';
import { rotationRow } from '../links/credentials.ts';
import { accountsOf } from '../links/spec.ts';
import { podLabels, serviceHost } from '../names.ts';
import { kollaStart } from '../pods/pod.ts';
import { uwsgiArgv, uwsgiFiles } from '../pods/uwsgi.ts';
import { configValidRow } from '../standard/config-valid.ts';
import { databaseRow } from '../standard/database.ts';
import { databaseSyncRow, placeOf } from '../standard/database-sync.ts';
import { housekeepingRow } from '../standard/housekeeping.ts';
import { runJob } from '../standard/run-job.ts';
import { workloadsRow } from '../standard/workloads.ts';
import { certificateRow } from '../tls/row.ts';
import { trust } from '../tls/trust.ts';
import { REFERENCES, usersBy } from '../users.ts';
import { answeringRow, endpointsRow, input } from './admin.ts';
import { clientConfig } from './client-config.ts';
import { keystoneConf } from './config.ts';
import { keysRow } from './key-rotation.ts';
import { appOf, processesOf } from './processes.ts';

const row = rowsOf<KeystoneObject>();
const NAME = 'keystone';
const API = { argv: uwsgiArgv(NAME), ports: { api: PORT }, graceSeconds: 90 };

const keys = keysRow({ input });
const database = databaseRow<KeystoneObject>({ name: NAME, databases: [NAME] });
const configValid = configValidRow<KeystoneObject>({
  name: NAME,
  // The page that ends a login by another site's account is the only other file that it reads.
  overwrites: ['policy.yaml', 'sso_callback_template.html'],
  oslo: true,
  pods: () => [['api', {}]],
});
const certificate = certificateRow<KeystoneObject>(cx => ({ hosts: [serviceHost(cx, `${cx.name}-api`)] }));

const config = row('ConfigReady', {
  needs: { input, keys, database, configValid, certificate },
  manages: [Secret],
  reads: [Pod, ReplicaSet, Job],
  run: async (cx, { keys, database, configValid, certificate }) => {
    const link = database![NAME]!;
    const cached = await cache(cx);
    const trusted = await trust(cx, link.ca, cached.ca, certificate?.trust);
    const processes = processesOf(cx, keys, trusted, certificate);
    const { files: custom, start } = configValid.api!;
    const files = [generatedFile(keystoneConf(cx.spec, { database: link, cache: cached })), ...custom];
    const withApp = [...files, ...uwsgiFiles(appOf(cx))];
    const { api, sync, bootstrap } = processes;
    const starts = [kollaStart(api, withApp, start), kollaStart(sync, files), kollaStart(bootstrap, files)];
    return { ...processes, files, config: await configSecret(cx, [...withApp, ...starts]) };
  },
});

const databaseSync = databaseSyncRow({ config, database }, (cx, { sync, copier, config }, { [NAME]: link }) => [
  { process: sync, config, block: cx.spec, inputs: placeOf(link), also: { initContainers: [copier] } },
]);

/** Works on the database alone. It also resets the password when it differs from the Secret, so it repairs drift. */
const bootstrap = row('BootstrapReady', {
  needs: { config, databaseSync, input },
  manages: [Job],
  reads: [Pod],
  run: (cx, { config: { bootstrap: process, copier, config }, input }) => {
    const { adminUser, adminProject, region } = cx.spec;
    const urls = [publicUrl(cx, cx.object), internalUrl(cx, cx.object)];
    const inputs = [adminUser, adminProject, region, ...urls, input.password];
    return runJob(cx, { process, config, block: cx.spec, inputs, secret: true, also: { initContainers: [copier] } });
  },
});

/** Trusts that ended or were given up: Heat makes one for every stack. */
const housekeeping = housekeepingRow(
  { name: NAME, housekeeping: ['keystone-manage trust_flush --date "$(date --date "$days days ago" +%d-%m-%Y)"'] },
  { config, databaseSync },
  (cx, { sync: process, copier, files }) => ({ process, files, block: cx.spec, also: { initContainers: [copier] } }),
);

const expose = row('ExposeReady', {
  manages: [Service, ...PUBLISHING_MANAGES],
  reads: PUBLISHING_READS,
  run: async cx => {
    const service = `${cx.name}-api`;
    await applyService(cx, { name: service, ports: API.ports, selector: podLabels('Keystone', cx.name, 'api') });
    cx.report({ endpoints: { internal: internalUrl(cx, cx.object), public: publicUrl(cx, cx.object) } });
    await publish(cx, { service });
  },
});

const workloads = workloadsRow(
  { config, databaseSync, bootstrap },
  {
    resources: [Deployment],
    pods: ({ name }, { api: process, earlier, copier, config }) => {
      const pods = { component: 'api', name: `${name}-api`, workload: API, process, earlier, config, peers: [] };
      return [{ ...pods, initContainers: [copier] }];
    },
    edges: cx => {
      const cached = cx.spec.memcachedServers ? undefined : cx.get(Memcached, cx.spec.memcachedInstance);
      if (cached) assertReady(cached);
    },
  },
);

const endpoints = endpointsRow({ workloads, expose });
const answering = answeringRow({ workloads });
const accounts = { database: true, bus: false, identity: false };
const rotation = rotationRow<KeystoneObject>(cx => accountsOf(cx, accounts), { database });
const hostsCanReach = hostsCanReachRow<KeystoneObject>(cx => ({
  service: `${cx.name}-api`,
  port: PORT,
  selector: podLabels('Keystone', cx.name, 'api'),
}));
const networkPolicy = networkPolicyRow<KeystoneObject>(() => [open([PORT])]);

export const keystone = plan(
  Keystone,
  {
    input,
    keys,
    database,
    configValid,
    certificate,
    config,
    databaseSync,
    bootstrap,
    housekeeping,
    expose,
    workloads,
    endpoints,
    answering,
    clientConfig,
    hostsCanReach,
    networkPolicy,
    rotation,
  },
  { users: usersBy(REFERENCES.Keystone), external: true },
);
