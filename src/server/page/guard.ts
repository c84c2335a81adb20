import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Transport } from '../../kube/transport.ts';
import type { Clock } from '../../world/clock.ts';
import { Lru } from '../../world/lru.ts';

/** What an answer shows: the state of objects, or also the config that the operator keeps in Secrets (never its secrets). */
export type Need = 'look' | 'secrets';

export interface Verdict {
  /** 503: there is none at the moment. */
  readonly status: 200 | 401 | 403 | 503;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Who may see what. */
export type Guard = (headers: IncomingHttpHeaders, need: Need) => Promise<Verdict>;

const OK: Verdict = { status: 200, message: '' };

/** Another site in the same browser may send requests, but must get no answers. */
const foreign = (headers: IncomingHttpHeaders): Verdict | undefined =>
  headers['sec-fetch-site'] !== undefined && !['same-origin', 'none'].includes(String(headers['sec-fetch-site']))
    ? { status: 403, message: 'only this page itself may ask' }
    : undefined;

/**
 * For a server on 127.0.0.1: its clients are on this machine, or came through `kubectl port-forward`. A name in
 * `Host` that is none of this machine's is a name server's trick (DNS rebinding): a web page that asks for itself.
 */
export const loopbackGuard: Guard = async headers => {
  const host = (headers.host ?? '').replace(/:\d+$/, '');
  if (!['127.0.0.1', 'localhost', '[::1]'].includes(host))
    return { status: 403, message: `this page is at 127.0.0.1, not at ${host || 'a server without a name'}` };
  return foreign(headers) ?? OK;
};

export interface TokenGuardOptions {
  /** Of its own: who floods it with tokens must not take a connection from the passes. */
  readonly transport: Transport;
  readonly clock: Clock;
  /** Those that the operator serves; empty: all. */
  readonly namespaces: readonly string[];
}

/** A verdict holds this long: a token that was withdrawn is good for no longer. */
const REMEMBER_MS = 30_000;
/** Of each, good tokens and bad ones: a client that sends many bad ones must not push out the good. */
const MOST_REMEMBERED = 1000;
/** Tokens that are checked at the same time; a check is a few calls of milliseconds. */
const MOST_CHECKED = 4;
/** Those that wait for it. Beyond that it is no crowd of people but a flood. */
const MOST_WAITING = 32;

const NEEDS: Readonly<Record<Need, readonly { group: string; resource: string }[]>> = {
  look: [{ group: 'openstack.k8s.io', resource: 'openstackcontrolplanes' }],
  secrets: [
    { group: 'openstack.k8s.io', resource: 'openstackcontrolplanes' },
    { group: '', resource: 'secrets' },
  ],
};

async function ask(
  transport: TokenGuardOptions['transport'],
  path: string,
  body: object,
): Promise<Readonly<Record<string, unknown>>> {
  const answer = await transport.send({ method: 'POST', path, body, timeout: 10_000 });
  if (answer.status >= 300)
    throw new Error(
      answer.status === 403
        ? 'the operator may not check tokens: bind its service account to the ClusterRole system:auth-delegator'
        : `the API server answered ${answer.status} when a token was checked`,
    );
  const { status } = (answer.body ?? {}) as { status?: unknown };
  // A page of a proxy is no verdict: read as one, it would turn everybody away and end every open stream.
  if (typeof status !== 'object' || status === null || Array.isArray(status))
    throw new Error('the API server answered no verdict when a token was checked: look at any proxy before it');
  return status as Record<string, unknown>;
}

/** What the API server says of a token: whether it knows it, and whether its user may see what is asked for. */
const judgeFor =
  ({ transport, namespaces }: Pick<TokenGuardOptions, 'transport' | 'namespaces'>) =>
  async (token: string, need: Need): Promise<Verdict> => {
    const { authenticated, user } = (await ask(transport, '/apis/authentication.k8s.io/v1/tokenreviews', {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenReview',
      spec: { token },
    })) as { authenticated?: boolean; user?: User };
    if (!authenticated || !user?.username) return unknown('the API server does not know this token');
    for (const { group, resource } of NEEDS[need])
      for (const namespace of namespaces.length > 0 ? namespaces : [undefined]) {
        const { allowed } = await ask(transport, '/apis/authorization.k8s.io/v1/subjectaccessreviews', {
          apiVersion: 'authorization.k8s.io/v1',
          kind: 'SubjectAccessReview',
          spec: {
            user: user.username,
            groups: user.groups ?? [],
            ...(user.uid && { uid: user.uid }),
            ...(user.extra && { extra: user.extra }),
            resourceAttributes: { verb: 'list', group, resource, ...(namespace && { namespace }) },
          },
        });
        if (allowed !== true) {
          const where = namespace ? ` in ${namespace}` : ' in all namespaces';
          return {
            status: 403,
            message: `${user.username} may not list ${group ? `${resource}.${group}` : resource}${where}`,
          };
        }
      }
    return OK;
  };

/**
 * For a server that others can reach: the API server says whose token it is (TokenReview) and whether that user may list
 * what is shown (SubjectAccessReview). The token comes as `Bearer`, or as the password of the browser's own question.
 */
export function tokenGuard({ transport, clock, namespaces }: TokenGuardOptions): Guard {
  const [welcome, unwelcome] = [new Lru<string, Kept>(MOST_REMEMBERED), new Lru<string, Kept>(MOST_REMEMBERED)];
  /** Two questions about one token are one. At most as many as are checked and wait. */
  const asked = new Map<string, Promise<Verdict>>();
  const inLine = line(MOST_CHECKED, MOST_WAITING);
  const judge = judgeFor({ transport, namespaces });
  return async (headers, need) => {
    const token = tokenIn(headers.authorization);
    if (token === undefined) return unknown('a token of the cluster is needed: as Bearer, or as the password');
    const other = foreign(headers);
    if (other) return other;
    // The token itself is not kept.
    const key = `${need} ${createHash('sha256').update(token).digest('base64')}`;
    const before = welcome.get(key) ?? unwelcome.get(key);
    if (before && before.until > clock.now()) return before.verdict;
    const running = asked.get(key);
    if (running) return running;
    const place = inLine(() => judge(token, need));
    if (place === undefined) return CROWDED;
    // What went wrong is no verdict, and is not kept.
    const verdict = place
      .then(found => {
        const kept = { until: clock.now() + REMEMBER_MS, verdict: found };
        welcome.delete(key);
        unwelcome.delete(key);
        (found.status === 200 ? welcome : unwelcome).set(key, kept);
        return found;
      })
      .finally(() => asked.delete(key));
    asked.set(key, verdict);
    return verdict;
  };
}

interface Kept {
  readonly until: number;
  readonly verdict: Verdict;
}

const CROWDED: Verdict = {
  status: 503,
  message: 'too many tokens are being checked: try again in a moment',
  headers: { 'retry-after': '5' },
};

/** Runs so many at once, lets so many wait, and takes no more: undefined then. */
function line(most: number, waiting: number): <T>(run: () => Promise<T>) => Promise<T> | undefined {
  let running = 0;
  const queue: (() => void)[] = [];
  return run => {
    if (running >= most && queue.length >= waiting) return undefined;
    const turn = running < most ? Promise.resolve() : new Promise<void>(resolve => queue.push(resolve));
    // A waiting request takes the place of the one that ends.
    if (running < most) running++;
    return turn.then(run).finally(() => {
      const next = queue.shift();
      if (next) next();
      else running--;
    });
  };
}

interface User {
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

const unknown = (message: string): Verdict => ({
  status: 401,
  message,
  headers: { 'www-authenticate': 'Basic realm="openstack-operator: any name, a token as password", charset="UTF-8"' },
});

function tokenIn(header: string | undefined): string | undefined {
  const [scheme = '', value = ''] = (header ?? '').split(' ');
  if (/^bearer$/i.test(scheme) && value !== '') return value;
  if (!/^basic$/i.test(scheme)) return undefined;
  const text = Buffer.from(value, 'base64').toString('utf8');
  const password = text.slice(text.indexOf(':') + 1);
  return text.includes(':') && password !== '' ? password : undefined;
}
