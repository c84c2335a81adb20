import type { ObjectOf } from '../../../api/kind.ts';
import { Horizon } from '../../../api/openstack/horizon.ts';
import { Keystone } from '../../../api/openstack/keystone.ts';
import {
  Deployment,
  Ingress,
  IngressClass,
  NetworkPolicy,
  Pod,
  PodDisruptionBudget,
  ReplicaSet,
  Secret,
  Service,
} from '../../kube/resource.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import { plan, rowsOf } from '../../runtime/plan/row.ts';
import { password } from '../../world/world.ts';
import { configSecret, plainTexts } from '../config.ts';
import { rotation } from '../credentials.ts';
import { applyService, endpointsOf } from '../expose.ts';
import { GATEWAY_MANAGES, GATEWAY_READS } from '../gateway.ts';
import { publish } from '../ingress.ts';
import { internalUrl } from '../keystone/address.ts';
import { cache } from '../links.ts';
import { podLabels, serviceHost, workloadName } from '../names.ts';
import { isolation, open } from '../network.ts';
import { kollaStart } from '../pod.ts';
import { certificate, MANAGES, overTls, READS } from '../tls/certificate.ts';
import { tlsVolumes, trust, trustOf } from '../tls/trust.ts';
import { processOf, runWorkload, uwsgi } from '../workload.ts';
import { SETTINGS, STATIC, settingsText } from './settings.ts';

type Context = Cx<ObjectOf<typeof Horizon>>;
const row = rowsOf<ObjectOf<typeof Horizon>>();

const COMPONENT = 'horizon';
const OWNER = { name: 'horizon', image: 'horizon', user: 42420 };
const PORT = 8080;
const LOGIN = '/auth/login/';
const MANAGE = '/var/lib/kolla/venv/bin/python /var/lib/kolla/venv/bin/manage.py';

const dashboard = uwsgi<object>(
  {
    service: COMPONENT,
    port: PORT,
    module: 'openstack_dashboard.wsgi:application',
    health: LOGIN,
    // It answers only to names it knows.
    host: 'localhost',
    settings: {
      // 5 s of CPU, seen with 25.5.2: no need for an image that has them baked in for one set of settings.
      'exec-asap': `${MANAGE} collectstatic --noinput --verbosity 0 && ${MANAGE} compress --force --verbosity 0`,
      'static-map': `/static=${STATIC}`,
    },
  },
  { volumes: () => [{ name: 'static', mountPath: STATIC, emptyDir: {} }] },
);

/** The first start waits for Keystone; later ones only need to know where it is (rule 9). */
async function keystoneAt(cx: Context): Promise<{ readonly url: string; readonly ca?: string | undefined }> {
  const { keystoneSecret, keystoneInstance } = cx.spec;
  if (keystoneSecret) {
    const { url, ...more } = await cx.secret(keystoneSecret, ['url'], 'spec.keystoneSecret');
    return { url, ca: (more as Readonly<Record<string, string | undefined>>)['ca.crt'] };
  }
  const started = cx.get(Deployment, workloadName(cx.name, COMPONENT)) && cx.get(Keystone, keystoneInstance);
  const server = started ?? cx.ready(Keystone, keystoneInstance, 'spec.keystoneInstance');
  return { url: internalUrl(cx, server), ca: await trustOf(cx, server) };
}

/** One for all pods: each signs what the others must be able to read. */
const secretKey = (cx: Context): Promise<{ 'secret-key': string }> =>
  cx.spec.secret
    ? cx.secret(cx.spec.secret, ['secret-key'], 'spec.secret')
    : cx.generate(`${cx.name}-secret-key`, () => ({ 'secret-key': password(cx.random, 64) }));

const expose = row('ExposeReady', {
  run: async cx => {
    const selector = podLabels('Horizon', cx.name, COMPONENT);
    await applyService(cx, { name: workloadName(cx.name, COMPONENT), ports: dashboard.ports ?? {}, selector });
    const { internal, outside } = endpointsOf(cx, COMPONENT, PORT, true);
    cx.report({ endpoints: { internal, public: outside('') }, release: cx.spec.release } as never);
    await publish(cx, workloadName(cx.name, COMPONENT));
    return [internal, outside('')] as const;
  },
});

const own = row('CertificateReady', {
  when: object => overTls(object.spec),
  run: cx => certificate(cx, { hosts: [serviceHost(cx, workloadName(cx.name, COMPONENT))] }),
});

const config = row('ConfigReady', {
  needs: { expose, own },
  run: async (cx, { expose: urls, own }) => {
    const { url, ca } = await keystoneAt(cx);
    const trusted = await trust(cx, ca, own?.trust);
    const settings = settingsText({
      secretKey: (await secretKey(cx))['secret-key'],
      keystone: url,
      tls: trusted !== undefined,
      region: cx.spec.region,
      cache: cache(cx),
      urls,
    });
    const text = [settings, ...(await plainTexts(cx))].join('\n');
    const workload = (own && dashboard.overTls?.()) || dashboard;
    const process = processOf(cx, OWNER, COMPONENT, workload, tlsVolumes(trusted, own));
    const files = [{ key: 'local_settings.py', path: SETTINGS, text }, ...(workload.files ?? [])];
    return { process, workload, trusted, config: await configSecret(cx, [...files, kollaStart(process, files)]) };
  },
});

const pods = row('WorkloadsReady', {
  needs: { config },
  run: async (cx, { config: { process, workload, config } }) => {
    const { wanted, ready } = await runWorkload(cx, COMPONENT, workload, process, config);
    cx.report({ replicas: wanted, readyReplicas: ready } as never);
  },
});

const answering = row('Answering', {
  needs: { pods, expose, config },
  run: (cx, { expose: [internal], config: { trusted } }) =>
    cx.cloud.page({ url: `${internal}${LOGIN}`, ...(trusted && { ca: trusted.text }) }),
});

const rotating = rotation<ObjectOf<typeof Horizon>>(() => [], {});
const network = isolation<ObjectOf<typeof Horizon>>(() => [open([PORT])]);

export const horizon = plan(
  Horizon,
  { own, config, expose, pods, answering, network, rotating },
  {
    manages: [NetworkPolicy, Secret, Service, Deployment, PodDisruptionBudget, Ingress, ...GATEWAY_MANAGES, ...MANAGES],
    reads: [Pod, ReplicaSet, IngressClass, ...GATEWAY_READS, ...READS],
    external: true,
  },
);
