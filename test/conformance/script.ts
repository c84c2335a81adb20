import type { AnyObject } from '../../src/kube/object.ts';
import type { Request, Response } from '../../src/kube/transport.ts';

export const areas = ['core', 'apps', 'batch', 'rbac', 'CRD', 'apply', 'patch', 'watch', 'errors'] as const;
export type Area = (typeof areas)[number];

/** What a step may use of the answers its side gave before: versions and uids differ between the two. */
export interface Memory {
  /** The object last answered for this name of a step, or for this path. */
  of(key: string): AnyObject;
}

export type Build = Request | ((memory: Memory) => Request);

export interface Step {
  readonly area: Area;
  /** Unique; other steps refer to it. */
  readonly name: string;
  readonly request: Build;
  /** A watch: how many events are to come, and what is sent meanwhile. */
  readonly watch?: { readonly count: number; readonly during: readonly Build[] };
  /** Sent to both, not compared: a set-up, or waiting until a path answers 200. */
  readonly quiet?: boolean;
  readonly until?: (answer: Response) => boolean;
}

type Extra = Omit<Partial<Request>, 'method' | 'path'>;

/** Short forms, so that a script reads as a list of requests. */
export function scribe(area: Area) {
  const steps: Step[] = [];
  let n = 0;
  const add = (name: string | undefined, request: Build, more: Partial<Step> = {}) => {
    n++;
    steps.push({ area, name: name ?? `${area} ${n}`, request, ...more });
  };
  const simple =
    (method: Request['method']) =>
    (path: string, extra: Extra = {}, name?: string) =>
      add(name, { method, path, ...extra });
  const bodied =
    (method: Request['method'], contentType?: string) =>
    (path: string, body: unknown, query?: Record<string, string>, name?: string) =>
      add(name, { method, path, body, ...(query ? { query } : {}), ...(contentType ? { contentType } : {}) });
  return {
    steps,
    add,
    get: simple('GET'),
    del: (path: string, body?: unknown, query?: Record<string, string>) =>
      add(undefined, { method: 'DELETE', path, ...(body ? { body } : {}), ...(query ? { query } : {}) }),
    post: bodied('POST'),
    put: bodied('PUT'),
    merge: bodied('PATCH', 'application/merge-patch+json'),
    json: bodied('PATCH', 'application/json-patch+json'),
    strategic: bodied('PATCH', 'application/strategic-merge-patch+json'),
    apply: (path: string, body: unknown, query: Record<string, string> = {}, name?: string) =>
      add(name, {
        method: 'PATCH',
        path,
        body,
        contentType: 'application/apply-patch+yaml',
        query: { fieldManager: 'one', ...query },
      }),
    using: (build: (memory: Memory) => Request, name?: string) => add(name, build),
    watch: (
      path: string,
      query: Record<string, string>,
      count: number,
      during: readonly Build[] = [],
      extra: Extra = {},
    ) => add(undefined, { method: 'GET', path, query, ...extra }, { watch: { count, during } }),
    watching: (build: (memory: Memory) => Request, count: number, during: readonly Build[] = []) =>
      add(undefined, build, { watch: { count, during } }),
    quiet: (request: Build, until?: (answer: Response) => boolean) =>
      add(undefined, request, { quiet: true, ...(until ? { until } : {}) }),
  };
}
