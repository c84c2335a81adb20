import { Heat } from '../../../api/openstack/heat.ts';
import type { ObjectOf, SpecOf } from '../../../api/schema/kind.ts';
import { Secret } from '../../kube/resource.ts';
import { at, type Conf, conf } from '../../oslo/conf.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import { fieldMissing, stall, subjectOf } from '../../runtime/plan/unmet.ts';
import { password } from '../../world/clock.ts';
import { endpointsOf } from '../exposure/expose.ts';
import type { Login } from '../links/credentials.ts';
import { identityAdmin } from '../links/identity.ts';
import { authToken, caFile, loginSection, userSection } from '../links/sections.ts';
import { daemon, uwsgi } from '../pods/workload.ts';
import { openstackService } from '../standard/service.ts';
import type { ConfigInput } from '../standard/table.ts';

type Context = Cx<ObjectOf<typeof Heat>>;

const CFN_PORT = 8000;
/** heat-engine refuses to start with another length, or cuts it (openstack-facts 12). */
const KEY_LENGTHS = [16, 24, 32];
/** The role of the users that stacks make for their servers. */
const STACK_USER = 'heat_stack_user';

const keySecret = (cx: Context): string => `${cx.name}-encryption-key`;
const app = (name: string, port: number) => ({ port, module: `heat.wsgi.${name}:application`, health: '/healthcheck' });
const trusteeSecret = (cx: Context): string => `${cx.name}-trustee`;

/** Opens the parameters and passwords of every stack in the database: never to change. */
async function encryptionKey(cx: Context): Promise<string> {
  const given = cx.spec.encryptionKeySecret;
  const { auth_encryption_key: key } = given
    ? await cx.secret(given, ['auth_encryption_key'], 'spec.encryptionKeySecret')
    : await cx.generate(keySecret(cx), () => ({ auth_encryption_key: password(cx.random) }), { retain: true });
  if (!KEY_LENGTHS.includes(key.length))
    throw stall({
      reason: 'SecretInvalid',
      about: subjectOf(Secret, given ?? keySecret(cx)),
      what: `Secret ${given ?? keySecret(cx)}, key auth_encryption_key has ${key.length} characters`,
      who: 'User',
      next: 'make it 32 characters long; one that is in use must not change',
    });
  return key;
}

/** Users that stacks make for their servers live in a domain of their own, which Heat's administrator of it fills. */
async function domainKeeper(cx: Context): Promise<Login> {
  const { stackDomain, stackDomainAdminSecret: given } = cx.spec;
  if (given) return cx.secret(given, ['user', 'password'], 'spec.stackDomainAdminSecret');
  const admin = await identityAdmin(cx);
  if (admin === undefined)
    throw fieldMissing(
      'spec.stackDomainAdminSecret',
      `spec.keystoneSecret is set and spec.stackDomainAdminSecret is not: nobody can make domain ${stackDomain}`,
      `make the domain, the role ${STACK_USER} and an administrator of the domain, and name his Secret there`,
    );
  const made = () => ({ user: `${cx.name}_domain_admin`, password: password(cx.random) });
  const keeper = await cx.generate(`${cx.name}-stack-domain`, made);
  await cx.effect();
  await admin.ensureRole(STACK_USER);
  await admin.ensureDomain(stackDomain, keeper.user, keeper.password, await cx.claim(keeper));
  return keeper;
}

/** Acts with the trusts that owners of stacks give. A trust names its trustee for ever, so it is not the service user. */
async function trustee(cx: Context): Promise<Login | undefined> {
  const admin = await identityAdmin(cx);
  if (admin === undefined) return undefined;
  const made = () => ({ user: `${cx.name}_trustee`, password: password(cx.random) });
  const login = await cx.generate(trusteeSecret(cx), made, { retain: true });
  await cx.effect();
  await admin.ensureUser(login.user, login.password, 'service', ['service'], await cx.claim(login));
  return login;
}

async function inputs(cx: Context) {
  const [key, keeper, trusted] = await cx.all([encryptionKey(cx), domainKeeper(cx), trustee(cx)]);
  // Where servers signal that they are done.
  return { key, keeper, trusted, cfn: endpointsOf(cx, 'cfn', CFN_PORT, 'cloudformation').outside('') };
}

export function heatConf(x: ConfigInput<SpecOf<typeof Heat>, Awaited<ReturnType<typeof inputs>>>): Conf {
  const { key, keeper, trusted, cfn } = x.input;
  const { user, password } = keeper;
  return conf(
    'heat',
    {
      DEFAULT: {
        // By default one per core, whatever the node has.
        num_engine_workers: 2,
        stack_user_domain_name: x.spec.stackDomain,
        heat_stack_user_role: STACK_USER,
        server_keystone_endpoint_type: 'public',
      },
      paste_deploy: { api_paste_config: '/etc/heat/api-paste.ini' },
      oslo_middleware: { enable_proxy_headers_parsing: true },
      clients: { endpoint_type: 'internalURL' },
    },
    at('topology', {
      DEFAULT: {
        heat_metadata_server_url: cfn,
        heat_waitcondition_server_url: `${cfn}/v1/waitcondition`,
        region_name_for_services: x.identity.region,
      },
      // All of its clients ask this section for what their own does not say.
      clients: caFile(x.identity),
      clients_keystone: { auth_uri: x.identity.url },
      // It has a name of its own for the file, until 2026.1.
      ec2authtoken: { ...userSection(x.identity), ...(x.spec.release < '2026.1' && caFile(x.identity)) },
      // No project: trusts bring their own.
      trustee: loginSection({ ...x.identity, ...trusted }),
    }),
    at('security', {
      DEFAULT: { auth_encryption_key: key, stack_domain_admin: user, stack_domain_admin_password: password },
    }),
    authToken(x, 'orchestration'),
  );
}

export const heat = openstackService(Heat, {
  name: 'heat',
  user: 42418,
  image: 'heat-api',
  catalog: { type: 'orchestration', path: '/v1/%(project_id)s', check: '/stacks?limit=1' },
  alsoCatalog: [{ type: 'cloudformation', name: 'heat-cfn', path: '/v1', component: 'cfn' }],
  databases: { heat: { section: 'database', sync: ['heat-manage', 'db_sync'] } },
  bus: true,
  housekeeping: ['heat-manage purge_deleted -g days "$days"', 'heat-manage service clean'],
  overwrites: ['policy.yaml', 'api-paste.ini'],
  input: inputs,
  leave: async cx => {
    // Stacks that stay in the database need their users, and the key that opens what is written there.
    if (cx.spec.deletionPolicy !== 'Delete') return;
    await cx.all([cx.remove(Secret, keySecret(cx)), cx.remove(Secret, trusteeSecret(cx))]);
    const admin = cx.acted() ? await identityAdmin(cx, true) : undefined;
    const owner = await cx.owner();
    await admin?.dropUser(`${cx.name}_trustee`, owner);
    if (!cx.spec.stackDomainAdminSecret) await admin?.dropDomain(cx.spec.stackDomain, owner);
  },
  pods: {
    api: uwsgi({ service: 'heat', ...app('api', 8004) }, { template: 'apiServiceTemplate' }),
    cfn: uwsgi(
      { service: 'heat-cfn', key: 'uwsgi-cfn.ini', ...app('cfn', CFN_PORT) },
      { image: 'heat-api-cfn', template: 'cfnServiceTemplate' },
    ),
    // A last engine that stops strands stacks that are being made, so it gets time.
    engine: daemon('heat-engine', { image: 'heat-engine', template: 'engineServiceTemplate', graceSeconds: 90 }),
  },
  config: heatConf,
});
