import type { Clock } from '../world/clock.ts';
import { ApiError, isExpired, isStatus } from './errors.ts';
import { type AnyObject, type KubeObject, keyOf, type Ref, refOf } from './object.ts';
import { pathOf, type Resource, resourceName, withType } from './resource.ts';
import { type ClientOptions, createSender, type RequestInfo, type Sender } from './sender.ts';
import { METADATA, NoAnswer, type Request, type Response, type Transport } from './transport.ts';

export * from './errors.ts';
export type { ClientOptions, RequestInfo } from './sender.ts';

export interface ListOptions {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Stop after this many. */
  readonly limit?: number;
  /** Names, labels and versions; no content. */
  readonly metadataOnly?: boolean;
}

export interface WriteOptions {
  /** Field manager. */
  readonly manager?: string;
  readonly subresource?: string;
  readonly dryRun?: boolean;
}

export interface ApplyOptions extends WriteOptions {
  readonly manager: string;
  readonly force?: boolean;
}

export interface PatchOptions extends WriteOptions {
  /** merge: RFC 7386 (arrays are replaced). json: RFC 6902 (a list of operations). */
  readonly type: 'merge' | 'json';
}

export interface DeleteOptions {
  /** Mandatory: names are reused, uids are not. */
  readonly uid: string;
  readonly resourceVersion?: string;
  /** Background unless said. */
  readonly propagation?: 'Background' | 'Foreground' | 'Orphan';
  readonly gracePeriodSeconds?: number;
  readonly dryRun?: boolean;
}

/** Every read is live. Reads from memory are the cache's. */
export interface Client {
  /** undefined: there is none. */
  get<T extends KubeObject = AnyObject>(resource: Resource, ref: Ref): Promise<T | undefined>;
  /** Pages by itself; a consistent snapshot. */
  list<T extends KubeObject = AnyObject>(
    resource: Resource,
    options?: ListOptions,
  ): Promise<{ items: T[]; resourceVersion: string }>;
  /** Server-side apply: the body holds our opinions and nothing else. */
  apply<T extends KubeObject = AnyObject>(resource: Resource, object: T, options: ApplyOptions): Promise<T>;
  create<T extends KubeObject = AnyObject>(resource: Resource, object: T, options?: WriteOptions): Promise<T>;
  replace<T extends KubeObject = AnyObject>(resource: Resource, object: T, options?: WriteOptions): Promise<T>;
  patch<T extends KubeObject = AnyObject>(
    resource: Resource,
    ref: Ref,
    body: unknown,
    options: PatchOptions,
  ): Promise<T>;
  /**
   * The object while finalizers or grace hold it (its resourceVersion feeds the read-your-writes gate); undefined when
   * it is gone. Absent, or replaced by another object of that name, counts as gone.
   */
  delete(resource: Resource, ref: Ref, options: DeleteOptions): Promise<AnyObject | undefined>;
  /** The API server's wall clock in ms. */
  serverTime(): number;
  /** The same client, each of its calls ended by `signal`. */
  withSignal(signal: AbortSignal): Client;
}

export function createClient(transport: Transport, clock: Clock, options: ClientOptions = {}): Client {
  return clientOver(createSender(transport, clock, options), undefined);
}

/** etcd answers a page of this size in milliseconds, and parsing it blocks the loop for 40 ms (measured). */
const PAGE = 500;

const CONTENT_TYPES = {
  apply: 'application/apply-patch+yaml', // JSON is YAML
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
} as const;

function clientOver(sender: Sender, signal: AbortSignal | undefined): Client {
  async function call(verb: RequestInfo['verb'], resource: Resource, target: Target, request: Partial<Request>) {
    const { namespace, name, subresource } = target;
    const path = pathOf(resource, namespace, name, subresource);
    const full: Request = { method: METHODS[verb], path, ...request };
    return sender.send({ verb, resource: resourceName(resource), subresource, request: full }, signal);
  }

  /** Fails with the request in words: this text ends up in conditions. */
  async function demand<T>(
    verb: RequestInfo['verb'],
    resource: Resource,
    target: Target,
    request: Partial<Request>,
  ): Promise<T> {
    const response = await call(verb, resource, target, request);
    if (response.status < 200 || response.status > 299) throw new ApiError(inWords(verb, resource, target), response);
    if (!isApiBody(response.body)) throw strange(inWords(verb, resource, target), response);
    return response.body as T;
  }

  async function get<T extends KubeObject = AnyObject>(resource: Resource, ref: Ref): Promise<T | undefined> {
    const response = await call('get', resource, ref, {});
    if (isPage(response)) throw strange(inWords('get', resource, ref), response);
    if (response.status === 404) return undefined;
    if (response.status !== 200) throw new ApiError(inWords('get', resource, ref), response);
    // JSON of somebody else must not read as an object without content.
    if (!isApiBody(response.body) || (response.body as KubeObject).metadata.name !== ref.name)
      throw strange(inWords('get', resource, ref), response);
    return response.body as T;
  }

  async function list<T extends KubeObject = AnyObject>(resource: Resource, options: ListOptions = {}) {
    const { namespace = '', labelSelector, fieldSelector, limit = Number.POSITIVE_INFINITY, metadataOnly } = options;
    const target = { namespace, name: '' };
    const query = { ...(labelSelector && { labelSelector }), ...(fieldSelector && { fieldSelector }) };
    const fetchPage = async (page: Record<string, string>) => {
      const found = await demand<ListBody<T>>('list', resource, target, {
        query: { ...query, ...page },
        ...(metadataOnly && { accept: METADATA.list }),
      });
      // Go writes an empty list as null; one that is missing is no list, and must not read as `nothing there`.
      if (found.items !== null && !Array.isArray(found.items))
        throw strange(inWords('list', resource, target), { status: 200, headers: {}, body: found });
      return found;
    };

    const first = await fetchPage({ limit: String(Math.min(PAGE, limit)) });
    const items = [...(first.items ?? [])];
    let next = first.metadata.continue;
    while (next && items.length < limit) {
      try {
        const page = await fetchPage({ limit: String(PAGE), continue: next });
        items.push(...(page.items ?? []));
        next = page.metadata.continue;
      } catch (error) {
        if (!isExpired(error)) throw error;
        // The snapshot behind the continue token was compacted: only one unpaged answer is consistent again.
        const whole = await fetchPage({});
        return finish(whole.items ?? [], whole.metadata.resourceVersion);
      }
    }
    return finish(items, first.metadata.resourceVersion);

    function finish(found: T[], resourceVersion: string) {
      return { items: found.slice(0, limit).map(item => withType(resource, item)), resourceVersion };
    }
  }

  return {
    get,
    list,
    apply: (resource, object, options) =>
      demand('apply', resource, targetOf(object, options), {
        query: { ...writeQuery(options), ...(options.force && { force: 'true' }) },
        body: withType(resource, object),
        contentType: CONTENT_TYPES.apply,
      }),
    create: (resource, object, options = {}) =>
      // The name is in the body; a create addresses the collection, or a subresource of an existing object.
      demand(
        'create',
        resource,
        options.subresource ? targetOf(object, options) : { namespace: object.metadata.namespace ?? '', name: '' },
        { query: writeQuery(options), body: withType(resource, object) },
      ),
    replace: (resource, object, options = {}) =>
      demand('update', resource, targetOf(object, options), {
        query: writeQuery(options),
        body: withType(resource, object),
      }),
    patch: (resource, ref, body, options) =>
      demand(
        'patch',
        resource,
        { ...ref, subresource: options.subresource },
        { query: writeQuery(options), body, contentType: CONTENT_TYPES[options.type] },
      ),
    async delete(resource, ref, options) {
      const { uid, resourceVersion, propagation = 'Background', gracePeriodSeconds, dryRun } = options;
      const response = await call('delete', resource, ref, {
        query: dryRun ? { dryRun: 'All' } : {},
        body: {
          apiVersion: 'v1',
          kind: 'DeleteOptions',
          preconditions: { uid, ...(resourceVersion !== undefined && { resourceVersion }) },
          propagationPolicy: propagation,
          ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
        },
      });
      if (isPage(response)) throw strange(inWords('delete', resource, ref), response);
      if (response.status === 404) return undefined;
      if (response.status === 409) {
        // Which precondition failed stands only in the text of the answer; only the object itself is proof.
        const now = await get(resource, ref);
        if (now === undefined || now.metadata.uid !== uid) return undefined;
      }
      if (response.status < 200 || response.status > 299)
        throw new ApiError(inWords('delete', resource, ref), response);
      if (isStatus(response.body)) return undefined;
      if (!isApiBody(response.body)) throw strange(inWords('delete', resource, ref), response);
      return response.body as AnyObject;
    },
    serverTime: sender.serverTime,
    withSignal: other => clientOver(sender, other),
  };
}

/** Every object and list of the API has metadata; the page of a proxy has none. */
const isApiBody = (body: unknown): boolean => {
  const { metadata } = (body ?? {}) as { metadata?: unknown };
  return typeof metadata === 'object' && metadata !== null;
};

/** A proxy that knows no way to the API server. The server itself says 404 as a Status, or in plain text where it has no such kind. */
const isPage = ({ status, headers }: Response): boolean =>
  status === 404 && (headers['content-type']?.includes('html') ?? false);

/** Success, or that there is nothing, said by somebody else. As with no answer, a write may or may not have happened. */
const strange = (what: string, { status, headers }: Response): NoAnswer =>
  new NoAnswer(
    `${what}: status ${status} (${headers['content-type'] ?? 'no content type'}) without an object of the API: check what the address of the API server, and any proxy on the way, leads to`,
  );

interface Target extends Ref {
  readonly subresource?: string;
}

interface ListBody<T> {
  readonly items: T[] | null;
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
}

const METHODS = {
  get: 'GET',
  list: 'GET',
  apply: 'PATCH',
  create: 'POST',
  update: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
} as const;

const targetOf = (object: KubeObject, options: WriteOptions): Target => ({
  ...refOf(object),
  subresource: options.subresource,
});

const inWords = (verb: string, resource: Resource, { namespace, name, subresource }: Target): string => {
  const what = subresource ? `${resourceName(resource)}/${subresource}` : resourceName(resource);
  return [verb, what, name === '' ? namespace && `in ${namespace}` : keyOf({ namespace, name })]
    .filter(Boolean)
    .join(' ');
};

const writeQuery = ({ manager, dryRun }: WriteOptions): Record<string, string> => ({
  ...(manager && { fieldManager: manager }),
  ...(dryRun && { dryRun: 'All' }),
});
