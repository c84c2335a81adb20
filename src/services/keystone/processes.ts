import type { Container } from 'kubernetes-types/core/v1.d.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import { literal } from '../../world/quote/kubelet.ts';
import { adminSecret, internalUrl, type KeystoneObject, PORT, publicUrl } from '../backends/keystone.ts';
import { type Exposed, prefixOf } from '../exposure/ingress.ts';
import { imageOf } from '../images.ts';
import { type Process, UNTIL_HEARD } from '../pods/pod.ts';
import { tlsVolumes } from '../pods/tls-volumes.ts';
import { uwsgiArgv, uwsgiLoaded, uwsgiProbes } from '../pods/uwsgi.ts';
import { overTls, type Shown } from '../tls/certificate.ts';
import type { Trust } from '../tls/trust.ts';
import { earlierVolumes, KEEP_KEYS, type KeySecrets, keyCopier, keyVolumes } from './repository.ts';

/** What Keystone's pods and Jobs run. */
export interface Processes {
  readonly api: Process;
  /** As an earlier version mounted the keys. */
  readonly earlier: Process;
  readonly copier: Container;
  readonly sync: Process;
  readonly bootstrap: Process;
}

export const appOf = (cx: Cx<KeystoneObject>) => ({
  service: 'keystone',
  port: PORT,
  module: 'keystone.wsgi.api:application',
  tls: overTls(cx.spec),
  under: prefixOf(cx.spec as Exposed),
  health: '/healthcheck',
});

export function processesOf(
  cx: Cx<KeystoneObject>,
  keys: KeySecrets,
  trusted: Trust | undefined,
  certificate: Shown | undefined,
): Processes {
  const app = appOf(cx);
  const base = {
    image: imageOf('keystone', cx.spec, cx.env),
    user: 42425,
    userName: 'keystone',
    // More than an idle one uses: when all of a cloud starts on a busy node, the rest waits for this.
    requests: { cpu: '100m', memory: '256Mi' },
    volumes: [...keyVolumes(keys), ...tlsVolumes(trusted)],
  };
  const api: Process = {
    ...base,
    name: 'keystone',
    argv: uwsgiArgv('keystone'),
    ports: { api: PORT },
    volumes: [...base.volumes, ...tlsVolumes(undefined, certificate)],
    beside: KEEP_KEYS,
    drain: { seconds: UNTIL_HEARD, until: uwsgiLoaded(app) },
    ...uwsgiProbes(app),
  };
  const { beside: _keys, ...plain } = api;
  const earlier: Process = {
    ...plain,
    volumes: [...earlierVolumes(keys), ...tlsVolumes(trusted), ...tlsVolumes(undefined, certificate)],
  };
  const sync: Process = { ...base, name: 'db-sync', argv: ['keystone-manage', 'db_sync'] };
  const argv = ['keystone-manage', 'bootstrap'];
  const bootstrap: Process = { ...base, name: 'bootstrap', argv, env: bootstrapEnv(cx) };
  return { api, earlier, copier: keyCopier(base.image, keys), sync, bootstrap };
}

const bootstrapEnv = (cx: Cx<KeystoneObject>) => [
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
];
