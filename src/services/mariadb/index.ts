import { MariaDB } from '../../../api/openstack/mariadb.ts';
import { CronJob, Job, Secret } from '../../kube/resource.ts';
import { shortHash } from '../../runtime/plan/canonical.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import { plan, rowsOf } from '../../runtime/plan/row.ts';
import { endOf, fingerprint } from '../../world/x509.ts';
import { adminAddress, initSecret, type MariaDBObject, PORT, ROOT, rootSecret } from '../backends/mariadb.ts';
import {
  checkServer,
  deployed,
  serverCertificateRow,
  serverExposeRow,
  serverStart,
  serverWorkloadsRow,
} from '../backends/server.ts';
import { configSecret, plainText } from '../config/config.ts';
import { encoded } from '../encoded.ts';
import { networkPolicyRow } from '../exposure/network.ts';
import { imageOf } from '../images.ts';
import { type Account, keep, type Login, rotationRow, USERS } from '../links/credentials.ts';
import { CLIENTS, settle, stepBack } from '../links/secure-transport.ts';
import type { Place } from '../names.ts';
import { kollaStart, type Process } from '../pods/pod.ts';
import { tlsVolumes } from '../pods/tls-volumes.ts';
import { overTls, type Shown } from '../tls/certificate.ts';
import { REFERENCES, usersBy } from '../users.ts';
import { DATA, INIT, INSTALL_SCRIPT, initSql, mariadbFiles, PING, SERVER_ARGV } from './files.ts';

const row = rowsOf<MariaDBObject>();
const LOOK_AGAIN = 15_000;

const input = row('InputReady', {
  when: deployed,
  manages: [Secret],
  reads: USERS,
  run: async cx => {
    // Before anything that goes on without TLS, our own connections too.
    const requireTls = await stepBack(cx);
    checkServer(cx);
    if (cx.spec.secret) {
      const { password } = await cx.secret(cx.spec.secret, ['password'], 'spec.secret');
      return { root: { user: ROOT, password }, requireTls };
    }
    const { login, letGo } = await keep(cx, {
      ...rootAccount(cx),
      user: ROOT,
      ensure: async ({ user, password }) => cx.cloud.sql(await adminAddress(cx, cx.object)).ensureAdmin(user, password),
      prove: async login => cx.cloud.sql({ ...(await adminAddress(cx, cx.object)), ...login }).check(),
      drop: async user => cx.cloud.sql(await adminAddress(cx, cx.object)).dropUser(user, undefined),
      // Others of our passes may hold it still.
      lingerMs: 60_000,
      // Opens data that outlives us, so it outlives us too (rule 18).
      retain: true,
    });
    await letGo();
    return { root: login, requireTls };
  },
  undo: async cx => {
    if (cx.spec.deletionPolicy === 'Delete' && !cx.spec.secret) await cx.remove(Secret, rootSecret(cx.object));
  },
});

const certificate = serverCertificateRow<MariaDBObject>();

const config = row('ConfigReady', {
  needs: { input, certificate },
  when: deployed,
  manages: [Secret],
  run: async (cx, { input, certificate }) => {
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
      volumes: tlsVolumes(undefined, certificate),
    };
    const { root, requireTls } = input ?? { root: { user: ROOT, password: '' }, requireTls: false };
    const mark = await rootMark(cx, root, certificate, requireTls);
    const files = mariadbFiles(mark, await plainText(cx), certificate !== undefined);
    return { process, config: await configSecret(cx, [...files, kollaStart(process, files, serverStart(cx))]) };
  },
});

const rootAccount = (cx: Place): Account => ({ target: 'root', secret: `${cx.name}-root` });

/**
 * What the server sets root's password from at each start, mounted live: a login that we replaced is in the server already,
 * and no reason to restart it. One that somebody else wrote into the Secret is, because only a start can set it. So is a
 * certificate that comes after the end of the one before: no client could ask the server to read it, because none accepts
 * what it shows. That it refuses plain connections, also after a start, is no reason.
 */
async function rootMark(
  cx: Cx<MariaDBObject>,
  root: Login,
  own: Shown | undefined,
  requireTls: boolean,
): Promise<string> {
  const before = await cx.secretIfAny(initSecret(cx.object));
  const seen = shortHash(root.user, root.password);
  const ours = before !== undefined && (before.seen === seen || before.user !== root.user);
  const kept = ours ? (before.mark ?? seen) : seen;
  const end = own && endOf(own.crt);
  const late = Number(before?.[END] ?? end) < Math.min(cx.serverTime(), end ?? 0);
  const mark = late ? shortHash(seen, own?.crt) : kept;
  const data = {
    'init.sql': initSql(root, requireTls),
    user: root.user,
    seen,
    mark,
    ...(end !== undefined && { [END]: `${end}` }),
    ...(requireTls && own && { 'ca.crt': own.trust }),
  };
  await cx.apply(Secret, {
    metadata: { name: initSecret(cx.object) },
    type: 'Opaque',
    data: encoded(data),
  });
  return mark;
}

/** Key of the init Secret: when the certificate ends that the server was last given, in milliseconds. */
const END = 'certificate-end';

const expose = serverExposeRow<MariaDBObject>(() => ({ mysql: PORT }));

const workloads = serverWorkloadsRow<MariaDBObject>({ config, expose }, (cx, process) => {
  const { image, volumes = [] } = process;
  const init = {
    name: 'init',
    mountPath: INIT,
    readOnly: true,
    secret: { secretName: initSecret(cx.object), defaultMode: 0o440, items: [{ key: 'init.sql', path: 'init.sql' }] },
  };
  const volumeMounts = [{ name: 'data', mountPath: DATA }];
  return {
    process: { ...process, volumes: [init, ...volumes] },
    init: { name: 'install', image, command: ['sh', '-c', INSTALL_SCRIPT], volumeMounts },
    data: DATA,
    graceSeconds: 300,
  };
});

const answering = row('Answering', {
  needs: { workloads, certificate },
  run: async (cx, { certificate }) => {
    const sql = cx.cloud.sql(await adminAddress(cx, cx.object));
    await sql.check();
    // It reads its files on request, and the pod may get them a minute after us.
    if (certificate && (await sql.ensureCertificate(fingerprint(certificate.crt) ?? ''))) cx.again(LOOK_AGAIN);
  },
});

/** Beside Ready: a cloud whose database takes plain connections too works. */
const secureTransport = row('SecureTransport', {
  needs: { answering, input },
  reads: [...USERS, CronJob, Job, ...CLIENTS],
  aside: true,
  when: object => deployed(object) && (overTls(object.spec) || object.status?.secureTransport === true),
  run: (cx, { input }) => settle(cx, input?.requireTls ?? false),
});

const rotation = rotationRow<MariaDBObject>(cx => (cx.spec.secret || cx.spec.external ? [] : [rootAccount(cx)]), {
  input,
});
const networkPolicy = networkPolicyRow<MariaDBObject>(() => [
  // cinder-volume is on the network of its node when its disks are.
  { ports: [PORT], from: ['database', { nodesOf: 'database' }, 'operator'] },
]);

export const mariadb = plan(
  MariaDB,
  { input, certificate, config, expose, workloads, answering, secureTransport, networkPolicy, rotation },
  { users: usersBy(REFERENCES.MariaDB), external: true },
);
