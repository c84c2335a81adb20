import { Keystone } from '../../../api/openstack/keystone.ts';
import type { ObjectOf } from '../../../api/schema/kind.ts';
import type { Identity } from '../../cloud/ports.ts';
import type { DeepReadonly } from '../../kube/object.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import { checkGiven } from '../backends/given.ts';
import * as keystone from '../backends/keystone.ts';
import { trustOf } from '../tls/trust.ts';
import { keep, namesOf } from './credentials.ts';
import { caIn } from './given.ts';
import { named, staying } from './server.ts';
import { type IdentitySpec, identityAccount, specOf } from './spec.ts';
import type { IdentityLink } from './types.ts';

const IDENTITY = ['url', 'user', 'password', 'project', 'region'] as const;

export async function readIdentity<O extends Managed>(cx: Cx<O>, secret: string, field: string): Promise<IdentityLink> {
  const data = await cx.secret(secret, IDENTITY, field);
  checkGiven(data, secret, field, ['user', 'password', 'project', 'region']);
  const { url, user, password, project, region, ...more } = data;
  const outside = (more as Readonly<Record<string, string | undefined>>)['hosts-url'];
  const link = { url, user, password, project, region, ...caIn(more, secret, field) };
  return outside === undefined ? link : { ...link, outside };
}

/** Where service users live. */
const SERVICE_PROJECT = 'service';

/** The service user in the Keystone that the spec names, or that of a hand-made Secret. Named after the object: two of a kind must not share one. */
export async function identityLink<O extends Managed>(cx: Cx<O>): Promise<IdentityLink> {
  const spec = specOf<IdentitySpec>(cx);
  if (spec.keystoneSecret) return readIdentity(cx, spec.keystoneSecret, 'spec.keystoneSecret');
  const server = named(cx, Keystone, spec.keystoneInstance, 'spec.keystoneInstance');
  const link = {
    url: keystone.internalUrl(cx, server),
    project: SERVICE_PROJECT,
    region: server.spec.region,
    ca: await trustOf(cx, server),
  };
  // Two users, not two passwords of one: a new password would end every token that the old one got.
  const { login, letGo } = await keep(cx, {
    ...identityAccount(cx),
    user: cx.name,
    ensure: login => ensureIdentity(cx, { ...link, ...login }),
    prove: login => cx.cloud.identity({ ...link, ...login }).check(),
    drop: async user => (await identityAdmin(cx))?.dropUser(user, await cx.owner()),
  });
  await letGo();
  return { ...link, user: login.user, password: login.password };
}

/** Creates the user, unless a Secret was given. */
export async function ensureIdentity<O extends Managed>(
  cx: Cx<O>,
  { user, password, project }: IdentityLink,
): Promise<void> {
  const admin = await identityAdmin(cx);
  if (!admin) return;
  await cx.effect('IdentityReady');
  // `service` beside `admin`: Nova and Cinder ask for it since 2025.2 (CVE-2023-2088).
  await admin.ensureUser(user, password, project, ['admin', 'service'], await cx.claim({ user, password }));
}

export async function dropIdentity<O extends Managed>(cx: Cx<O>): Promise<void> {
  if (!cx.acted()) return;
  const admin = await identityAdmin(cx, true);
  for (const user of namesOf(cx.name)) await admin?.dropUser(user, await cx.owner());
}

/** The Keystone that the spec names, which must be Ready; undefined where a Secret was given. */
export function keystoneServer<O extends Managed>(cx: Cx<O>): DeepReadonly<ObjectOf<typeof Keystone>> | undefined {
  const { keystoneSecret, keystoneInstance } = specOf<IdentitySpec>(cx);
  return keystoneSecret ? undefined : cx.ready(Keystone, keystoneInstance, 'spec.keystoneInstance');
}

/**
 * Keystone with the rights to write the catalog; undefined when the user brought a Secret, whose user may not.
 * `leaving`: also undefined when Keystone is gone or going, which takes users and catalog along (rule 17).
 */
export async function identityAdmin<O extends Managed>(cx: Cx<O>, leaving = false): Promise<Identity | undefined> {
  const { keystoneSecret, keystoneInstance } = specOf<IdentitySpec>(cx);
  if (leaving && keystoneSecret) return undefined;
  const found = leaving ? staying(cx, Keystone, keystoneInstance) : keystoneServer(cx);
  if (found === undefined) return undefined;
  return cx.cloud.identity(await keystone.adminAddress(cx, found));
}
