import type { Container } from 'kubernetes-types/core/v1.d.ts';
import { stringify } from 'yaml';
import { Keystone } from '../../../api/openstack/keystone.ts';
import { Memcached } from '../../../api/openstack/memcached.ts';
import { CloudError, type Identity } from '../../cloud/ports.ts';
import {
  CronJob,
  Deployment,
  Job,
  NetworkPolicy,
  PodDisruptionBudget,
  ReplicaSet,
  Secret,
  Service,
} from '../../kube/resource.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import { RETRY_ANNOTATION } from '../../runtime/plan/names.ts';
import { assertReady } from '../../runtime/plan/ready.ts';
import { plan, rowsOf } from '../../runtime/plan/row.ts';
import { stall } from '../../runtime/plan/unmet.ts';
import { literal } from '../../world/quote/kubelet.ts';
import { password } from '../../world/world.ts';
import { configSecret, generatedFile, overwrittenFiles, overwrittenStart, START, userFiles } from '../config.ts';
import { rotation, USERS } from '../credentials.ts';
import { applyService } from '../expose.ts';
import { hostsCanReach } from '../hosts.ts';
import { clean, cleaningScript } from '../housekeeping.ts';
import { imageOf } from '../images.ts';
import { type Exposed, PUBLISHING_MANAGES, PUBLISHING_READS, prefixOf, publish } from '../ingress.ts';
import { accountsOf, cache, database, dropDatabases, type WantedDatabase } from '../links.ts';
import { databaseNameOf, podLabels, serviceHost } from '../names.ts';
import { isolation, open } from '../network.ts';
import { overrideOf } from '../override.ts';
import { kollaStart, type Process, podSpec, podTemplate, UNTIL_HEARD, withoutKolla } from '../pod.ts';
import { checkSchedule, iso } from '../schedule.ts';
import { certificate, MANAGES, overTls, READS } from '../tls/certificate.ts';
import { tlsVolumes, trust } from '../tls/trust.ts';
import { REFERENCES, usersBy, usersWith } from '../users.ts';
import { uwsgiArgv, uwsgiFiles, uwsgiLoaded, uwsgiProbes } from '../uwsgi.ts';
import { budget } from '../workload.ts';
import { adminAddress, adminSecret, internalUrl, type KeystoneObject, PORT, publicUrl } from './address.ts';
import { keystoneConf } from './config.ts';
import { firstKeys, type Keys, nextRotation, rotate } from './keys.ts';
import { earlierVolumes, KEEP_KEYS, keyCopier, keyVolumes } from './repository.ts';

const row = rowsOf<KeystoneObject>();

/** The page that ends a login by another site's account is the only other file that it reads. */
const OVERWRITES = ['policy.yaml', 'sso_callback_template.html', START];
const ROTATED_AT = 'openstack.k8s.io/rotated-at';
const wantedDatabase = (cx: Cx<KeystoneObject>): WantedDatabase => ({
  derived: databaseNameOf(cx.name),
  given: cx.spec.databaseName,
});

const input = row('InputReady', {
  run: async cx => {
    checkSchedule('spec.fernetRotation.schedule', cx.spec.fernetRotation.schedule, '0 0 * * 0');
    const name = adminSecret(cx.object);
    cx.report({ adminSecret: name });
    if (cx.spec.adminPasswordSecret) return cx.secret(name, ['password'], 'spec.adminPasswordSecret');
    return cx.generate(name, () => ({ user: cx.spec.adminUser, password: password(cx.random) }), { retain: true });
  },
  undo: async cx => {
    if (cx.spec.deletionPolicy === 'Delete' && !cx.spec.adminPasswordSecret)
      await cx.remove(Secret, adminSecret(cx.object));
  },
});

/** Token and credential keys: read live by the pods, so that a rotation restarts nothing. */
const keys = row('KeysReady', {
  // Not for its value: a schedule that can't be read must be told once, where the field is named.
  needs: { input },
  run: async cx => {
    const fernet = `${cx.name}-fernet-keys`;
    const credential = `${cx.name}-credential-keys`;
    const [current] = await cx.all([
      cx.generate(fernet, () => firstKeys(cx.random), { retain: true }),
      cx.generate(credential, () => firstKeys(cx.random), { retain: true }),
    ]);
    const secret = cx.get(Secret, fernet);
    // Kept on the Secret, not in status: the keys outlive this object, and so must their age.
    const stamp = secret?.metadata.annotations?.[ROTATED_AT] ?? secret?.metadata.creationTimestamp;
    const last = stamp === undefined ? cx.serverTime() : Date.parse(stamp);
    const { schedule, maxActiveKeys } = cx.spec.fernetRotation;
    let [rotatedAt, count] = [last, Object.keys(current).length];
    const due = nextRotation(schedule, last);
    if (due !== undefined && cx.serverTime() >= due) {
      rotatedAt = cx.serverTime();
      count = Object.keys(await writeKeys(rotate(current, maxActiveKeys, cx.random))).length;
    }
    const next = nextRotation(schedule, rotatedAt);
    if (next !== undefined) cx.again(Math.max(1000, next - cx.serverTime()));
    cx.report({
      fernet: { lastRotation: iso(rotatedAt), ...(next !== undefined && { nextRotation: iso(next) }), keys: count },
    });
    return { fernet, credential };

    async function writeKeys(rotated: Keys): Promise<Keys> {
      const data = Object.fromEntries(
        Object.entries(rotated).map(([name, key]) => [name, Buffer.from(key).toString('base64')]),
      );
      await cx.apply(
        Secret,
        { metadata: { name: fernet, annotations: { [ROTATED_AT]: iso(rotatedAt) } }, type: 'Opaque', data },
        { retain: true },
      );
      return rotated;
    }
  },
  undo: async cx => {
    if (cx.spec.deletionPolicy !== 'Delete') return;
    await cx.all([cx.remove(Secret, `${cx.name}-fernet-keys`), cx.remove(Secret, `${cx.name}-credential-keys`)]);
  },
});

const db = row('DatabaseReady', {
  run: cx => database(cx, wantedDatabase(cx)),
  undo: cx => dropDatabases(cx, [wantedDatabase(cx)]),
});

const user = row('ConfigValid', {
  run: async cx => ({
    files: [...(await userFiles(cx, 'keystone')), ...overwrittenFiles(cx, 'keystone', OVERWRITES)],
    start: overwrittenStart(cx, { main: true, without: withoutKolla(cx.spec.podProfile) }),
  }),
});

const own = row('CertificateReady', {
  when: object => overTls(object.spec),
  run: cx => certificate(cx, { hosts: [serviceHost(cx, `${cx.name}-api`)] }),
});

const config = row('ConfigReady', {
  needs: { input, keys, db, user, own },
  run: async (cx, { keys, db, user, own }) => {
    const app = {
      service: 'keystone',
      port: PORT,
      module: 'keystone.wsgi.api:application',
      tls: overTls(cx.spec),
      under: prefixOf(cx.spec as Exposed),
      health: '/healthcheck',
    };
    const cached = await cache(cx);
    const trusted = await trust(cx, db.ca, cached.ca, own?.trust);
    const base = {
      image: imageOf('keystone', cx.spec, cx.env),
      user: 42425,
      userName: 'keystone',
      // More than an idle one uses: when all of a cloud starts on a busy node, the rest waits for this.
      requests: { cpu: '100m', memory: '256Mi' },
      volumes: [...keyVolumes(keys), ...tlsVolumes(trusted)],
    };
    const copier = keyCopier(base.image, keys);
    const api: Process = {
      ...base,
      name: 'keystone',
      argv: uwsgiArgv('keystone'),
      ports: { api: PORT },
      volumes: [...base.volumes, ...tlsVolumes(undefined, own)],
      beside: KEEP_KEYS,
      drain: { seconds: UNTIL_HEARD, until: uwsgiLoaded(app) },
      ...uwsgiProbes(app),
    };
    const { beside: _keys, ...plain } = api;
    const earlier: Process = {
      ...plain,
      volumes: [...earlierVolumes(keys), ...tlsVolumes(trusted), ...tlsVolumes(undefined, own)],
    };
    const sync: Process = { ...base, name: 'db-sync', argv: ['keystone-manage', 'db_sync'] };
    const bootstrap: Process = {
      ...base,
      name: 'bootstrap',
      argv: ['keystone-manage', 'bootstrap'],
      env: [
        { name: 'OS_BOOTSTRAP_USERNAME', value: literal(cx.spec.adminUser) },
        { name: 'OS_BOOTSTRAP_PROJECT_NAME', value: literal(cx.spec.adminProject) },
        { name: 'OS_BOOTSTRAP_ROLE_NAME', value: 'admin' },
        { name: 'OS_BOOTSTRAP_SERVICE_NAME', value: 'keystone' },
        { name: 'OS_BOOTSTRAP_REGION_ID', value: literal(cx.spec.region) },
        { name: 'OS_BOOTSTRAP_PUBLIC_URL', value: literal(publicUrl(cx, cx.object)) },
        { name: 'OS_BOOTSTRAP_INTERNAL_URL', value: internalUrl(cx, cx.object) },
        {
          name: 'OS_BOOTSTRAP_PASSWORD',
          valueFrom: { secretKeyRef: { name: adminSecret(cx.object), key: 'password' } },
        },
      ],
    };
    const files = [generatedFile(keystoneConf(cx.spec, { database: db, cache: cached })), ...user.files];
    const withApp = [...files, ...uwsgiFiles(app)];
    const starts = [kollaStart(api, withApp, user.start), kollaStart(sync, files), kollaStart(bootstrap, files)];
    return { api, earlier, copier, sync, bootstrap, files, config: await configSecret(cx, [...withApp, ...starts]) };
  },
});

const schema = row('DatabaseSyncReady', {
  needs: { config, db },
  run: async (cx, { config: { sync, copier, config }, db }) => {
    const labels = podLabels('Keystone', cx.name, 'db-sync');
    const inputs = [db.host, db.port, db.database];
    await cx.job({
      step: 'db-sync',
      image: sync.image,
      argv: sync.argv,
      inputs,
      labels,
      pod: podSpec(cx.spec, sync, config, labels, { initContainers: [copier] }),
    });
  },
});

/** Works on the database alone. It also resets the password when it differs from the Secret, so it repairs drift. */
const bootstrapped = row('BootstrapReady', {
  needs: { config, schema, input },
  run: async (cx, { config: { bootstrap, copier, config }, input }) => {
    const labels = podLabels('Keystone', cx.name, 'bootstrap');
    const { adminUser, adminProject, region } = cx.spec;
    const inputs = [
      adminUser,
      adminProject,
      region,
      publicUrl(cx, cx.object),
      internalUrl(cx, cx.object),
      input.password,
    ];
    await cx.job({
      step: 'bootstrap',
      secret: true,
      image: bootstrap.image,
      argv: bootstrap.argv,
      inputs,
      labels,
      pod: podSpec(cx.spec, bootstrap, config, labels, { initContainers: [copier] }),
    });
  },
});

/** Trusts that ended or were given up: Heat makes one for every stack. */
const cleaning = row('HousekeepingReady', {
  needs: { config, schema },
  aside: true,
  run: (cx, { config: { sync, copier, files } }) => {
    const flush = 'keystone-manage trust_flush --date "$(date --date "$days days ago" +%d-%m-%Y)"';
    return clean(cx, cleaningScript('keystone', [flush]), sync, files, cx.spec, { initContainers: [copier] });
  },
});

const expose = row('ExposeReady', {
  run: async cx => {
    await applyService(cx, {
      name: `${cx.name}-api`,
      ports: { api: PORT },
      selector: podLabels('Keystone', cx.name, 'api'),
    });
    cx.report({ endpoints: { internal: internalUrl(cx, cx.object), public: publicUrl(cx, cx.object) } });
    await publish(cx, { service: `${cx.name}-api` });
  },
});

const pods = row('WorkloadsReady', {
  needs: { config, schema, bootstrapped },
  run: async (cx, { config: { api, earlier, copier, config } }) => {
    const exists = cx.get(Deployment, `${cx.name}-api`) !== undefined;
    const cached = cx.spec.memcachedServers ? undefined : cx.get(Memcached, cx.spec.memcachedInstance);
    // An edge gates the first start only: an edit must not wait for a cache that is being restarted (rule 9).
    if (!exists && cached) assertReady(cached);
    const labels = podLabels('Keystone', cx.name, 'api');
    await budget(cx, `${cx.name}-api`, labels, cx.spec.replicas);
    const body = (process: Process, initContainers: readonly Container[]) => ({
      metadata: { name: `${cx.name}-api` },
      spec: {
        replicas: cx.spec.replicas,
        revisionHistoryLimit: 3,
        selector: { matchLabels: labels },
        template: podTemplate(cx.spec, process, config, labels, {
          graceSeconds: 90,
          initContainers,
          override: overrideOf(cx, 'podTemplate'),
        }),
      },
    });
    const live = await cx.workload(Deployment, body(api, [copier]), body(earlier, []));
    cx.report({
      replicas: cx.spec.replicas,
      readyReplicas: (live.status as { readyReplicas?: number }).readyReplicas ?? 0,
    });
  },
});

/** As administrator. Bootstrap would reset the password, but whoever changed it may have had a reason: it asks first. */
async function asAdmin<T>(cx: Cx<KeystoneObject>, use: (identity: Identity) => Promise<T>): Promise<T> {
  try {
    return await use(cx.cloud.identity(await adminAddress(cx, cx.object)));
  } catch (error) {
    if (!(error instanceof CloudError && error.fault === 'refused')) throw error;
    throw stall({
      ...error.called,
      reason: 'AccessDenied',
      what: error.message,
      who: 'User',
      next: `or annotate Keystone ${cx.name} with ${RETRY_ANNOTATION}=<anything new> to reset it to what the Secret holds`,
      // Passwords inside Keystone change without a watch telling.
      after: 60_000,
    });
  }
}

/** Bootstrap wrote the catalog once; this finds and repairs what was changed by hand since. */
const endpoints = row('EndpointsReady', {
  needs: { pods, expose },
  run: cx =>
    asAdmin(cx, async identity => {
      await identity.ensureProject('service');
      const entry = {
        name: 'keystone',
        type: 'identity',
        endpoints: { public: publicUrl(cx, cx.object), internal: internalUrl(cx, cx.object) },
      };
      // Bootstrap wrote it, without a mark. The whole catalog is in the database of this very object.
      await identity.ensureService(entry, { owner: await cx.owner(), adopt: entry.type });
    }),
});

const answering = row('Answering', {
  needs: { pods },
  run: cx => asAdmin(cx, identity => identity.check()),
});

/** For people: `OS_CLIENT_CONFIG_FILE` and off they go. */
const clouds = row('ClientConfigReady', {
  needs: { input },
  run: async (cx, { input }) => {
    const text = stringify(
      {
        clouds: {
          default: {
            auth: {
              auth_url: publicUrl(cx, cx.object),
              username: cx.spec.adminUser,
              password: input.password,
              project_name: cx.spec.adminProject,
              user_domain_name: 'Default',
              project_domain_name: 'Default',
            },
            region_name: cx.spec.region,
            identity_api_version: 3,
          },
        },
      },
      { version: '1.1' },
    );
    const name = cx.name === 'keystone' ? 'openstack-clouds' : `${cx.name}-clouds`;
    await cx.apply(Secret, {
      metadata: { name },
      type: 'Opaque',
      data: { 'clouds.yaml': Buffer.from(text).toString('base64') },
    });
  },
});

const rotating = rotation<KeystoneObject>(cx => accountsOf(cx, { database: true, bus: false, identity: false }), {
  db,
});
const hosts = hostsCanReach<KeystoneObject>(cx => ({
  service: `${cx.name}-api`,
  port: PORT,
  selector: podLabels('Keystone', cx.name, 'api'),
}));
const network = isolation<KeystoneObject>(() => [open([PORT])]);

export const keystone = plan(
  Keystone,
  {
    input,
    keys,
    db,
    user,
    own,
    config,
    schema,
    bootstrapped,
    cleaning,
    expose,
    pods,
    endpoints,
    answering,
    clouds,
    hosts,
    network,
    rotating,
  },
  {
    manages: [
      NetworkPolicy,
      Secret,
      Service,
      Deployment,
      PodDisruptionBudget,
      Job,
      CronJob,
      ...PUBLISHING_MANAGES,
      ...MANAGES,
    ],
    reads: [...USERS, ReplicaSet, ...PUBLISHING_READS, ...READS, ...usersWith('keystoneInstance')],
    users: usersBy(REFERENCES.Keystone),
    external: true,
  },
);
