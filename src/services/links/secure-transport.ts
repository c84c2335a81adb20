import { KINDS } from '../../../api/kinds.ts';
import { MariaDB } from '../../../api/openstack/mariadb.ts';
import type { AnyKind } from '../../../api/schema/kind.ts';
import { CloudError } from '../../cloud/ports.ts';
import type { AnyObject, DeepReadonly } from '../../kube/object.ts';
import { Secret, StatefulSet } from '../../kube/resource.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import { isReady } from '../../runtime/plan/ready.ts';
import { type Cause, subjectOf, Unmet, wait } from '../../runtime/plan/unmet.ts';
import { adminAddress, isAt, type MariaDBObject } from '../backends/mariadb.ts';
import { overTls } from '../tls/certificate.ts';
import { DATABASE_FIELDS, DATABASE_SECRETS, REFERENCES, usersOf, valuesOf } from '../users.ts';
import { whoMounts } from './credentials.ts';

/*
 * Whether the server refuses connections without TLS. Clients and server do not change in the same second, so this is
 * switched on after the last client speaks TLS, and off before the first one, or the server, goes back to plain:
 *
 *   on   status.secureTransport becomes true while it is still off. From then on a client without TLS waits (takesPlain).
 *        The next pass looks again at the Secrets that clients were given, and only then switches it on.
 *   off  in the first row of the pass that sees the edit, before config and pods; status says so at its end. Objects that
 *        name the server wait until it is Ready at its new generation (cx.ready), others for the status. A server that
 *        can't be reconfigured is left to its restart (startsAnew).
 */

type ServerCx = Cx<MariaDBObject>;

/** What a plan must read for this, beside pods, workloads and Jobs. */
export const CLIENTS: readonly AnyKind[] = KINDS.filter(kind =>
  DATABASE_FIELDS.some(field => kind.specFields.includes(field)),
);

interface External {
  readonly hostname?: string;
  readonly adminSecret?: string;
}

/** Who opens the server by a Secret that has no CA; another MariaDB may name it as a server that is not its own. */
async function plainClient(cx: ServerCx): Promise<Cause | undefined> {
  for (const kind of [...CLIENTS, MariaDB])
    for (const { spec, metadata } of cx.wishes(kind)) {
      const { external } = spec as { readonly external?: External };
      const secrets = valuesOf(spec, DATABASE_SECRETS);
      for (const secret of external?.adminSecret === undefined ? secrets : [external.adminSecret]) {
        const { hostname = external?.hostname, 'ca.crt': ca } = (await cx.secretIfAny(secret)) ?? {};
        if (hostname === undefined || ca !== undefined || !isAt(cx.object, hostname)) continue;
        // Its maker follows when it is Ready.
        if (cx.get(Secret, secret) !== undefined)
          return {
            reason: 'NotReady',
            about: subjectOf(Secret, secret),
            what: `${kind.kind} ${metadata.name} opens this server without TLS until Secret ${secret} has its CA, so such connections are taken too`,
            who: 'Operator',
            next: 'write it there',
          };
        return {
          reason: 'SecretIncomplete',
          about: subjectOf(Secret, secret),
          keys: ['ca.crt'],
          what: `${kind.kind} ${metadata.name} opens this server by Secret ${secret}, which has no key ca.crt, so connections without TLS are taken too`,
          who: 'User',
          next: `put the CA of this server into key ca.crt of Secret ${secret}`,
        };
      }
    }
  return undefined;
}

const URLS = /\bmysql[\w+]*:\/\/[^\s@]*@(\[[^\]]*\]|[^\s:/?]+)\S*/g;
const opensPlainly = (text: string, server: DeepReadonly<MariaDBObject>): boolean =>
  [...text.matchAll(URLS)].some(([url, host = '']) => !/[?&]ssl/.test(url) && isAt(server, host));

/** Who has not changed to TLS yet, or may be about to open what it remembers. */
async function laggard(cx: ServerCx): Promise<Cause | undefined> {
  for (const { kind, name } of usersOf(cx, REFERENCES.MariaDB)) {
    const live = cx.get(kind, name) as DeepReadonly<AnyObject> | undefined;
    if (live === undefined || isReady(live)) continue;
    return {
      reason: 'NotReady',
      about: subjectOf(kind, name),
      waitsFor: subjectOf(kind, name),
      what: `Waiting for ${kind.kind} ${name}: until it is Ready connections without TLS are taken too`,
      who: 'Operator',
    };
  }
  const who = whoMounts(cx, data => Object.values(data).some(text => opensPlainly(text, cx.object)));
  if (who === undefined) return undefined;
  return {
    reason: 'NotReady',
    what: `${who} is configured to open this server without TLS, so such connections are taken too`,
    who: 'Operator',
    next: 'configure it anew; a URL in customServiceConfig needs ssl_ca',
  };
}

/**
 * Whether plain connections are to be refused from now on, also after a restart. Where they no longer are, the server is
 * told before anybody acts on it.
 */
export async function stepBack(cx: ServerCx): Promise<boolean> {
  if (cx.status.secureTransport !== true) return false;
  const off = !overTls(cx.spec);
  if (!off && (await plainClient(cx)) === undefined) return true;
  try {
    await cx.cloud.sql(await adminAddress(cx, cx.object)).ensureSecureTransport('OFF');
  } catch (error) {
    // Clients that wait for a plain connection go on waiting; a certificate or password that must be fixed can't wait for this.
    if (!off) {
      cx.again(TRY_AGAIN_MS);
      return true;
    }
    if (startsAnew(cx, error)) return false;
    throw error;
  }
  // Of a server that is to be plain, only when it is: until then its clients wait for it to be Ready.
  if (!off) cx.report({ secureTransport: false });
  return false;
}

const TRY_AGAIN_MS = 15_000;

/**
 * Whether a server that is to be plain can be left to its restart, from which on it takes plain connections: it can't be
 * told before, because it is down, does not know our password any more, or shows a certificate that nobody accepts.
 */
function startsAnew(cx: ServerCx, error: unknown): boolean {
  if (error instanceof Unmet) return error.reason === 'SecretNotFound' || error.reason === 'SecretIncomplete';
  if (!(error instanceof CloudError)) return false;
  const { readyReplicas = 0 } = (cx.get(StatefulSet, cx.name)?.status ?? {}) as { readonly readyReplicas?: number };
  return error.fault === 'refused' || (error.fault === 'unreachable' && (error.untrusted || readyReplicas === 0));
}

/** Who looks at its own status is run again when that is written: what it announces is acted upon in the next pass. */
const goOnWhenWritten = (cx: ServerCx): void => void cx.get(MariaDB, cx.name);

/** When the server answers: makes it as it is meant to be, and tells. `required` is what stepBack said in this pass. */
export async function settle(cx: ServerCx, required: boolean): Promise<void> {
  const sql = cx.cloud.sql(await adminAddress(cx, cx.object));
  await sql.ensureSecureTransport(required ? 'ON' : 'OFF');
  if (required) {
    cx.report({ secureTransport: true });
    cx.note('Connections over the network without TLS are refused');
    return;
  }
  if (!overTls(cx.spec)) {
    cx.clear('secureTransport');
    goOnWhenWritten(cx);
    return;
  }
  const open = (await plainClient(cx)) ?? (await laggard(cx));
  cx.report({ secureTransport: open === undefined });
  if (open) throw wait(open);
  goOnWhenWritten(cx);
  cx.note('Connections over the network without TLS will be refused in a moment');
}

/** Before a plain way is written into anybody's config. */
export const refusesPlain = (server: DeepReadonly<MariaDBObject>, host: string): boolean =>
  isAt(server, host) && server.status?.secureTransport === true;
