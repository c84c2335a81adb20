import { seededRandom } from '../../src/embedded/sim/random.ts';
import { createStore, type Store } from '../../src/embedded/store/store.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import type { Request, Response, WatchEvent } from '../../src/kube/transport.ts';
import { differences, normaliseEvents, normaliseResponse } from './compare.ts';
import type { Exchange, Journal } from './record.ts';

export interface Replay {
  readonly requests: number;
  /** Distinct requests: method, kind of path, query, type of the body and status. */
  readonly shapes: number;
  readonly alike: number;
  readonly differing: readonly { readonly shape: string; readonly lines: readonly string[] }[];
}

/**
 * Sends a recorded journal to a Store, in the order in which the real server committed, and compares every answer.
 * Uids, versions, generated names and addresses of the one world are translated into those of the other.
 */
export function replay(journal: Journal): Replay {
  const clock = { now: () => performance.now(), wall: () => Date.now(), timer: () => () => {} };
  const store = createStore({ clock, random: seededRandom(2), history: 1_000_000 });
  const names = new Translation();
  const shapes = new Map<string, string[] | undefined>();
  for (const exchange of inOrder(journal.exchanges.filter(e => !isStarting(e.response)))) {
    const shape = shapeOf(exchange);
    const lines = exchange.watch
      ? compareWatch(store, names, exchange, exchange.watch.initial)
      : compareAnswer(store, names, exchange);
    if (lines.length > 0) shapes.set(shape, [...(shapes.get(shape) ?? []), ...lines]);
    else if (!shapes.has(shape)) shapes.set(shape, undefined);
  }
  const differing = [...shapes].flatMap(([shape, lines]) => (lines ? [{ shape, lines }] : []));
  return { requests: journal.exchanges.length, shapes: shapes.size, alike: shapes.size - differing.length, differing };
}

/**
 * A real server that has just learned of a CRD asks to come back in a second, and shows the CRD as not yet established;
 * the Store needs no second.
 */
function isStarting({ status, body }: Response): boolean {
  const text = JSON.stringify(body) ?? '';
  return (
    (status === 429 && text.includes('storage is (re)initializing')) ||
    (/"kind":"CustomResourceDefinition(List)?"/.test(text) && text.includes('"reason":"Installing"'))
  );
}

function compareAnswer(store: Store, names: Translation, exchange: Exchange): string[] {
  const current = currentOf(store, names, exchange);
  const request = withServerTimes(names.request(exchange, versionOf(exchange, current)), current);
  const answer = JSON.parse(JSON.stringify(store.handle(request))) as Response;
  names.learn(exchange.response.body, answer.body);
  return differences(normaliseResponse(comparable(exchange.response)), normaliseResponse(comparable(answer)));
}

/** The object that a write is about, as the Store has it. */
function currentOf(store: Store, names: Translation, { request, response }: Exchange): AnyObject | undefined {
  if (request.method === 'GET') return undefined;
  const { path } = names.request({ user: '', request: { method: 'GET', path: request.path }, response });
  const object = /^(.*?)\/(?:status|scale|finalize|binding)$/.exec(path)?.[1] ?? path;
  const found = store.handle({ method: 'GET', path: object });
  return found.status === 200 ? (found.body as AnyObject) : undefined;
}

/**
 * Clients also learn versions from watch events, which are not replayed. A write that the real server took named the
 * current version, one that it refused as a conflict named an older one.
 */
const versionOf = ({ response }: Exchange, current: AnyObject | undefined): string =>
  (response.status === 409 ? undefined : current?.metadata?.resourceVersion) ?? '1';

/** The time at which a pod was bound is the server's own; whoever writes the pod's status hands it back unchanged. */
function withServerTimes(request: Request, current: AnyObject | undefined): Request {
  const bound = scheduled(current);
  const copy = bound && (JSON.parse(JSON.stringify(request)) as Request);
  const theirs = copy && scheduled(copy.body as AnyObject | undefined);
  if (bound && theirs) theirs.lastTransitionTime = bound.lastTransitionTime;
  return copy ?? request;
}

function scheduled(pod: AnyObject | undefined): Record<string, unknown> | undefined {
  const conditions = (pod?.status as { conditions?: Record<string, unknown>[] } | undefined)?.conditions;
  return pod?.kind === 'Pod' && Array.isArray(conditions) ? conditions.find(c => c.type === 'PodScheduled') : undefined;
}

/** Events race with other clients' writes; what must agree is acceptance and the bookmark that ends the initial ones. */
function compareWatch(store: Store, names: Translation, exchange: Exchange, initial: readonly WatchEvent[]): string[] {
  const events: WatchEvent[] = [];
  const opened = store.watch(
    names.request(exchange),
    e => events.push(JSON.parse(JSON.stringify(e)) as WatchEvent),
    () => {},
  );
  if ('close' in opened) opened.close();
  if (opened.status !== exchange.response.status)
    return [`watch: real ${exchange.response.status}, store ${opened.status}`];
  const mark = (list: readonly WatchEvent[]) => normaliseEvents(list.filter(e => e.type === 'BOOKMARK').slice(0, 1));
  return exchange.request.query?.sendInitialEvents === 'true' && initial.some(e => e.type === 'BOOKMARK')
    ? differences(mark(initial), mark(events))
    : [];
}

/** kube-apiserver makes some objects for itself; the Store has none of them. */
function comparable(response: Response): Response {
  const body = response.body as { items?: AnyObject[]; metadata?: { remainingItemCount?: number } } | undefined;
  if (!Array.isArray(body?.items)) return response;
  const own = (o: AnyObject) =>
    (o.metadata.namespace === 'kube-system' &&
      /^(apiserver-|extension-apiserver-authentication|kube-apiserver-legacy)/.test(o.metadata.name)) ||
    (o.metadata.namespace === 'default' && o.metadata.name === 'kubernetes') ||
    /^system(:|-)|^(admin|edit|view|cluster-admin)$/.test(o.metadata.name) ||
    o.metadata.labels?.['kubernetes.io/bootstrapping'] !== undefined;
  return { ...response, body: { ...body, items: body.items.filter(o => !own(o)) } };
}

class Translation {
  /** Uids, generated names and addresses. */
  readonly #texts = new Map<string, string>();
  readonly #versions = new Map<string, string>();
  #latest = '0';

  learn(real: unknown, store: unknown): void {
    if (Array.isArray(real) && Array.isArray(store)) {
      // Lists: by name, for the two may differ in length.
      for (const item of real as AnyObject[]) {
        const same = (store as AnyObject[]).find(
          o =>
            o?.metadata?.name === this.#text(item?.metadata?.name ?? '') &&
            o?.metadata?.namespace === item?.metadata?.namespace,
        );
        if (item?.metadata && same) this.learn(item, same);
      }
      return;
    }
    if (!isRecord(real) || !isRecord(store)) return;
    const [a, b] = [real.metadata, store.metadata];
    if (isRecord(a) && isRecord(b)) {
      this.#pair(a.uid, b.uid);
      if (typeof a.generateName === 'string') this.#pair(a.name, b.name);
      if (typeof a.resourceVersion === 'string' && typeof b.resourceVersion === 'string') {
        this.#versions.set(a.resourceVersion, b.resourceVersion);
        if (Number(b.resourceVersion) > Number(this.#latest)) this.#latest = b.resourceVersion;
      }
    }
    if (isRecord(real.spec) && isRecord(store.spec)) this.#pair(real.spec.clusterIP, store.spec.clusterIP);
    if (Array.isArray(real.items)) this.learn(real.items, store.items);
  }

  #pair(real: unknown, store: unknown): void {
    if (typeof real === 'string' && typeof store === 'string' && real !== store && real !== '')
      this.#texts.set(real, store);
  }

  #text(text: string): string {
    const whole = this.#texts.get(text);
    if (whole !== undefined) return whole;
    let out = text;
    // A path or a name may hold a generated name or a uid.
    if (/[0-9a-f]{8}-|[a-z0-9]{5}$|\//.test(text)) {
      for (const [real, store] of this.#texts) if (out.includes(real)) out = out.replaceAll(real, store);
    }
    return out;
  }

  #value(value: unknown, current: string, key = ''): unknown {
    if (typeof value === 'string') {
      if (key === 'resourceVersion') return this.#versions.get(value) ?? (Number(value) > 1 ? current : value);
      return this.#text(value);
    }
    if (Array.isArray(value)) return value.map(v => this.#value(v, current));
    if (!isRecord(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([k, v]) => [this.#text(k), this.#value(v, current, k)]));
  }

  /** `current`: what a version becomes that was never seen in an answer. */
  request({ request, user }: Exchange, current = this.#latest): Request {
    const write = request.method !== 'GET' && request.method !== 'DELETE';
    const query = { ...(this.#value(request.query ?? {}, this.#latest) as Record<string, string>) };
    // The real server took the manager from the User-Agent, which a Request does not carry.
    if (write && query.fieldManager === undefined) query.fieldManager = user;
    return {
      ...request,
      path: this.#text(request.path),
      query,
      ...(request.body === undefined ? {} : { body: this.#value(request.body, current) }),
    };
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** By the version that an answer shows; an answer without one stays where it arrived. The write that made a version comes before whoever saw it. */
function inOrder(exchanges: readonly Exchange[]): Exchange[] {
  let seen = 0;
  const produced = new Set<number>();
  return exchanges
    .map((exchange, arrived) => {
      const body = exchange.response.body as { metadata?: { resourceVersion?: string } } | undefined;
      const version =
        exchange.response.status < 300 && !exchange.watch ? Number(body?.metadata?.resourceVersion ?? 0) : 0;
      const key = version > 0 ? version : (conflicting(exchange, exchanges) ?? seen);
      const write = exchange.request.method !== 'GET';
      if (write) seen = Math.max(seen, version);
      // The first write that shows a version made it; a later one changed nothing, or removed the object.
      const made = write && version > 0 && !produced.has(version);
      if (made) produced.add(version);
      return { exchange, key, rank: made ? 0 : 1, arrived };
    })
    .sort((a, b) => a.key - b.key || a.rank - b.rank || a.arrived - b.arrived)
    .map(e => e.exchange);
}

const objectPath = (path: string) => path.replace(/\/(status|scale|finalize|binding)$/, '');

/** A conflict happened after the write that overtook it, whichever answer came first. */
function conflicting({ request, response }: Exchange, all: readonly Exchange[]): number | undefined {
  const asked = Number((request.body as Partial<AnyObject> | undefined)?.metadata?.resourceVersion ?? 0);
  if (response.status !== 409 || asked === 0) return undefined;
  const path = objectPath(request.path);
  const later = all
    .filter(e => e.request.method !== 'GET' && e.response.status < 300 && objectPath(e.request.path) === path)
    .map(e => Number((e.response.body as Partial<AnyObject> | undefined)?.metadata?.resourceVersion ?? 0))
    .filter(version => version > asked);
  return later.length > 0 ? Math.min(...later) : undefined;
}

function shapeOf({ request, response, watch }: Exchange): string {
  const path = request.path
    .replace(/(\/namespaces\/)[^/]+(?=\/)/, '$1*')
    .replace(/^(\/(?:api\/[^/]+|apis\/[^/]+\/[^/]+)(?:\/namespaces\/\*)?\/[^/]+\/)[^/]+/, '$1*');
  const query = Object.entries(request.query ?? {})
    .map(([k, v]) => (k === 'resourceVersion' || k === 'timeoutSeconds' || k === 'continue' ? k : `${k}=${v}`))
    .sort()
    .join('&');
  return [watch ? 'WATCH' : request.method, path, query, request.contentType ?? '', response.status]
    .join(' ')
    .replace(/ +/g, ' ');
}
