import { Horizon } from '../../../api/openstack/horizon.ts';
import { Keystone } from '../../../api/openstack/keystone.ts';
import type { ObjectOf } from '../../../api/schema/kind.ts';
import { Deployment } from '../../kube/resource.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import { password } from '../../world/clock.ts';
import { internalUrl } from '../backends/keystone.ts';
import { plainTexts } from '../config/config.ts';
import { endpointsOf } from '../exposure/expose.ts';
import { noRotationRow } from '../links/credentials.ts';
import { workloadName } from '../names.ts';
import { uwsgi } from '../pods/workload.ts';
import { linkedService } from '../standard/service.ts';
import { trustOf } from '../tls/trust.ts';
import { type HorizonInput, STATIC, settingsText } from './settings.ts';

type Context = Cx<ObjectOf<typeof Horizon>>;

const COMPONENT = 'horizon';
const PORT = 8080;
const LOGIN = '/auth/login/';
const MANAGE = '/var/lib/kolla/venv/bin/python /var/lib/kolla/venv/bin/manage.py';

/** The first start waits for Keystone; later ones only need to know where it is (rule 9). */
async function keystoneAt(cx: Context): Promise<{ readonly keystone: string; readonly ca: string | undefined }> {
  const { keystoneSecret, keystoneInstance } = cx.spec;
  if (keystoneSecret) {
    const { url, ...more } = await cx.secret(keystoneSecret, ['url'], 'spec.keystoneSecret');
    return { keystone: url, ca: (more as Readonly<Record<string, string | undefined>>)['ca.crt'] };
  }
  const started = cx.get(Deployment, workloadName(cx.name, COMPONENT)) && cx.get(Keystone, keystoneInstance);
  const server = started ?? cx.ready(Keystone, keystoneInstance, 'spec.keystoneInstance');
  return { keystone: internalUrl(cx, server), ca: await trustOf(cx, server) };
}

/** One for all pods: each signs what the others must be able to read. */
const secretKey = (cx: Context): Promise<{ 'secret-key': string }> =>
  cx.spec.secret
    ? cx.secret(cx.spec.secret, ['secret-key'], 'spec.secret')
    : cx.generate(`${cx.name}-secret-key`, () => ({ 'secret-key': password(cx.random, 64) }));

export const horizon = linkedService<typeof Horizon, HorizonInput>(
  Horizon,
  {
    name: 'horizon',
    user: 42420,
    image: 'horizon',
    front: { component: COMPONENT, page: LOGIN },
    overwrites: [],
    input: async cx => {
      const { internal, outside } = endpointsOf(cx, COMPONENT, PORT);
      return {
        ...(await keystoneAt(cx)),
        secretKey: (await secretKey(cx))['secret-key'],
        urls: [internal, outside('')],
        text: (await plainTexts(cx)).map(({ text }) => text),
      };
    },
    trusts: ({ ca }) => [ca],
    pods: {
      [COMPONENT]: uwsgi(
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
      ),
    },
    files: ({ input, cache, spec, tls }) => [
      {
        key: 'local_settings.py',
        path: '/etc/openstack-dashboard/local_settings.py',
        text: settingsText(input, cache, spec.region, tls),
      },
    ],
  },
  {},
  () => ({ rotation: noRotationRow() }),
);
