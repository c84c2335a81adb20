import { Keystone } from '../../../api/openstack/keystone.ts';
import { Job, Secret } from '../../kube/resource.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import { rowsOf } from '../../runtime/plan/row.ts';
import { stall } from '../../runtime/plan/unmet.ts';
import { hostsUrl } from '../backends/keystone.ts';
import { encoded } from '../encoded.ts';
import { cache, cacheFields } from '../links/cache.ts';
import { USERS } from '../links/credentials.ts';
import { identityLink } from '../links/identity.ts';
import { identityRow } from '../standard/identity.ts';
import { messageBusRow } from '../standard/message-bus.ts';
import { trust as bundle } from '../tls/trust.ts';
import { cellCas, hasSchema } from './cells.ts';
import { names } from './mapped.ts';
import { type Shared, sharedBetween } from './metadata.ts';
import * as pack from './pack.ts';
import { packed, sharedSecret } from './secrets.ts';
import { CELL0, databaseOf, type NovaObject, problemOf } from './spec.ts';

/** Rows by which Nova registers itself: what the parts get is packed into Secrets. */

type NovaCx = Cx<NovaObject>;
const row = rowsOf<NovaObject>();

async function givenSecret(cx: NovaCx, name: string): Promise<Shared> {
  const secret = await sharedSecret(cx, name);
  return { name, secret, forAgents: { spare: false, secret }, spare: undefined };
}

export const input = row('InputReady', {
  manages: [Secret],
  reads: USERS,
  run: async cx => {
    const problem = problemOf(cx.spec);
    if (problem) throw stall({ ...problem, who: 'User' });
    const { metadataSecret: given } = cx.spec;
    const shared: Shared = given ? await givenSecret(cx, given) : await sharedBetween(cx, names(cx).metadata);
    return { metadata: shared.name, shared, cache: cacheFields(cx, await cache(cx)) };
  },
});

export const database = row('DatabaseReady', {
  needs: { input },
  manages: [Secret, Job],
  run: async cx => {
    const name = databaseOf(cx.name, 'api');
    const { databaseSecret, databaseInstance: instance } = cx.spec;
    if (databaseSecret) return pack.givenDatabase(cx, databaseSecret, 'spec.databaseSecret', name);
    const order = {
      secret: names(cx).apiDatabase,
      instance,
      field: 'spec.databaseInstance',
      user: pack.userOf(cx, 'api'),
      part: 'api',
      row: 'DatabaseReady',
    };
    const packed = await pack.packDatabase(cx, order, name, hasSchema(cx, CELL0));
    await packed.letGo();
    return packed;
  },
  undo: cx => pack.dropDatabase(cx, names(cx).apiDatabase, 'api', databaseOf(cx.name, 'api')),
});

const busOrder = (cx: NovaCx): pack.Order => ({
  secret: names(cx).bus,
  instance: cx.spec.messageBusInstance,
  field: 'spec.messageBusInstance',
  user: pack.userOf(cx, 'top'),
  part: 'top',
  row: 'MessageBusReady',
});

/** The ways to bus and Keystone, packed for the parts before bus and Keystone run: schemas need not wait for them. */
export const credentials = row('CredentialsReady', {
  needs: { input },
  manages: [Secret],
  run: async cx => {
    const { messageBusSecret, keystoneSecret } = cx.spec;
    const [bus, identity] = await cx.all([
      messageBusSecret ? pack.givenBus(cx, messageBusSecret, 'spec.messageBusSecret') : pack.packBus(cx, busOrder(cx)),
      identityLink(cx),
    ]);
    await bus.letGo();
    if (keystoneSecret) return { bus, identity, keystone: keystoneSecret };
    const { url, user, password, project, region, ca } = identity;
    const server = cx.get(Keystone, cx.spec.keystoneInstance);
    const outside = server && hostsUrl(cx, server);
    const data = encoded({
      url,
      user,
      password,
      project,
      region,
      ...packed(ca),
      ...(outside && { 'hosts-url': outside }),
    });
    await cx.apply(Secret, { metadata: { name: names(cx).keystone }, type: 'Opaque', data });
    return { bus, identity, keystone: names(cx).keystone };
  },
});

export const messageBus = messageBusRow(
  { credentials },
  {
    ensure: async (cx, { bus }) => {
      if (!cx.spec.messageBusSecret) await pack.registerBus(cx, busOrder(cx), bus.link);
    },
    drop: cx => pack.dropBus(cx, names(cx).bus, 'top'),
  },
);

export const identity = identityRow({ credentials });

/** For its own Jobs and for the operator's requests; parts make theirs from their Secrets. */
export const trust = row('TrustReady', {
  needs: { database, credentials },
  manages: [Secret],
  run: async (cx, { database, credentials: { bus, identity } }) =>
    bundle(cx, database.link.ca, bus.link.ca, identity.ca, ...(await cellCas(cx))),
});
