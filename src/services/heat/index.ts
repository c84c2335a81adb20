import type { ObjectOf } from '../../../api/kind.ts';
import { Heat } from '../../../api/openstack/heat.ts';
import { Secret } from '../../kube/resource.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import { stall } from '../../runtime/plan/unmet.ts';
import { password } from '../../world/world.ts';
import { endpointsOf } from '../expose.ts';
import { identityAdmin } from '../links.ts';
import { openstackService } from '../service.ts';
import { daemon, uwsgi } from '../workload.ts';
import { type HeatInput, heatConf, STACK_USER } from './config.ts';

type Context = Cx<ObjectOf<typeof Heat>>;

const CFN_PORT = 8000;
/** heat-engine refuses to start with another length, or cuts it (openstack-facts 12). */
const KEY_LENGTHS = [16, 24, 32];

const keySecret = (cx: Context): string => `${cx.name}-encryption-key`;
const trusteeSecret = (cx: Context): string => `${cx.name}-trustee`;

async function encryptionKey(cx: Context): Promise<string> {
  const given = cx.spec.encryptionKeySecret;
  const { auth_encryption_key: key } = given
    ? await cx.secret(given, ['auth_encryption_key'], 'spec.encryptionKeySecret')
    : await cx.generate(keySecret(cx), () => ({ auth_encryption_key: password(cx.random) }), { retain: true });
  if (!KEY_LENGTHS.includes(key.length))
    throw stall({
      reason: 'SecretInvalid',
      what: `Secret ${given ?? keySecret(cx)}, key auth_encryption_key has ${key.length} characters`,
      who: 'User',
      next: 'make it 32 characters long; one that is in use must not change',
    });
  return key;
}

/** Users that stacks make for their servers live in a domain of their own, which Heat's administrator of it fills. */
async function domainKeeper(cx: Context): Promise<HeatInput['keeper']> {
  const { stackDomain, stackDomainAdminSecret: given } = cx.spec;
  if (given) return cx.secret(given, ['user', 'password'], 'spec.stackDomainAdminSecret');
  const admin = await identityAdmin(cx);
  if (admin === undefined)
    throw stall({
      reason: 'FieldMissing',
      what: `spec.keystoneSecret is set and spec.stackDomainAdminSecret is not: nobody can make domain ${stackDomain}`,
      who: 'User',
      next: `make the domain, the role ${STACK_USER} and an administrator of the domain, and name his Secret there`,
    });
  const keeper = await cx.generate(`${cx.name}-stack-domain`, () => ({
    user: `${cx.name}_domain_admin`,
    password: password(cx.random),
  }));
  await admin.ensureRole(STACK_USER);
  await admin.ensureDomain(stackDomain, keeper.user, keeper.password);
  return keeper;
}

/**
 * As whom it acts with the trusts that owners of stacks give it. A trust names its trustee for ever, so this user is not
 * the service's own, which is replaced from time to time.
 */
async function trustee(cx: Context): Promise<HeatInput['trustee']> {
  const admin = await identityAdmin(cx);
  if (admin === undefined) return undefined;
  const made = () => ({ user: `${cx.name}_trustee`, password: password(cx.random) });
  const login = await cx.generate(trusteeSecret(cx), made, { retain: true });
  await admin.ensureUser(login.user, login.password, 'service', ['service']);
  return login;
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
  input: async cx => {
    const [key, keeper, trusted] = await cx.all([encryptionKey(cx), domainKeeper(cx), trustee(cx)]);
    return { key, keeper, trustee: trusted, cfn: endpointsOf(cx, 'cfn', CFN_PORT).outside('') };
  },
  leave: async cx => {
    // Stacks that stay in the database need their users, and the key that opens what is written there.
    if (cx.spec.deletionPolicy !== 'Delete') return;
    await cx.all([cx.remove(Secret, keySecret(cx)), cx.remove(Secret, trusteeSecret(cx))]);
    await (await identityAdmin(cx, true))?.dropUser(`${cx.name}_trustee`);
    if (!cx.spec.stackDomainAdminSecret) await (await identityAdmin(cx, true))?.dropDomain(cx.spec.stackDomain);
  },
  pods: {
    api: uwsgi(
      { service: 'heat', port: 8004, module: 'heat.wsgi.api:application', health: '/healthcheck' },
      { template: 'apiServiceTemplate' },
    ),
    cfn: uwsgi(
      {
        service: 'heat-cfn',
        key: 'uwsgi-cfn.ini',
        port: CFN_PORT,
        module: 'heat.wsgi.cfn:application',
        health: '/healthcheck',
      },
      { image: 'heat-api-cfn', template: 'cfnServiceTemplate' },
    ),
    // A last engine that stops strands stacks that are being made, so it gets time.
    engine: daemon('heat-engine', { image: 'heat-engine', template: 'engineServiceTemplate', graceSeconds: 90 }),
  },
  config: heatConf,
});
