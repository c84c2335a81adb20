import { KINDS } from '../../api/kinds.ts';
import { crdOf } from '../../api/schema/crd.ts';
import type { AnyKind } from '../../api/schema/kind.ts';
import type { AnyObject, Condition, Status } from '../kube/object.ts';
import * as builtin from '../kube/resource.ts';
import { apiVersionOf, CustomResourceDefinition, Namespace, pathOf, type Resource } from '../kube/resource.ts';
import type { Request } from '../kube/transport.ts';
import type { Store } from './store/store.ts';

/** The hands of a user at the embedded cluster: what kubectl would do, at once and without a network. */
export interface Hands {
  /** Server-side apply as kubectl does it; throws what the server answers. */
  apply(object: AnyObject, manager?: string): AnyObject;
  get(resource: Resource, namespace: string, name: string): AnyObject | undefined;
  list(resource: Resource, namespace?: string): readonly AnyObject[];
  remove(resource: Resource, namespace: string, name: string): void;
  /** RFC 7386. */
  patch(resource: Resource, namespace: string, name: string, patch: object): AnyObject;
}

const BUILT_IN = Object.values(builtin).filter((value): value is Resource => typeof value === 'object');

/** `kinds`: beyond ours and the built-in ones. */
export function hands(store: Store, kinds: readonly AnyKind[] = []): Hands {
  const resources = new Map<string, Resource>(
    [...BUILT_IN, ...KINDS, ...kinds].map(r => [`${apiVersionOf(r)} ${r.kind}`, r]),
  );
  const resourceOf = (object: AnyObject): Resource => {
    const found = resources.get(`${object.apiVersion} ${object.kind}`);
    if (!found) throw new Error(`no kind ${object.kind} in ${object.apiVersion}`);
    return found;
  };
  const send = (request: Request): AnyObject => {
    const answer = store.handle(request, 'admin');
    if (answer.status >= 300) throw new Error((answer.body as Status).message ?? `status ${answer.status}`);
    return answer.body as AnyObject;
  };
  return {
    apply: (object, manager = 'kubectl') =>
      send({
        method: 'PATCH',
        path: pathOf(resourceOf(object), object.metadata.namespace ?? '', object.metadata.name),
        query: { fieldManager: manager, force: 'true', fieldValidation: 'Strict' },
        contentType: 'application/apply-patch+yaml',
        body: object,
      }),
    get: (resource, namespace, name) => {
      const answer = store.handle({ method: 'GET', path: pathOf(resource, namespace, name) }, 'admin');
      return answer.status === 200 ? (answer.body as AnyObject) : undefined;
    },
    list: (resource, namespace = '') => send({ method: 'GET', path: pathOf(resource, namespace) }).items as AnyObject[],
    remove: (resource, namespace, name) => void send({ method: 'DELETE', path: pathOf(resource, namespace, name) }),
    patch: (resource, namespace, name, patch) =>
      send({
        method: 'PATCH',
        path: pathOf(resource, namespace, name),
        contentType: 'application/merge-patch+json',
        body: patch,
      }),
  };
}

/** Puts our kinds, more kinds and a namespace into an empty store, as `make install` does with a real cluster. */
export function install(store: Store, namespace: string, kinds: readonly AnyKind[] = []): void {
  const put = (resource: Resource, object: object): void => {
    const answer = store.handle({ method: 'POST', path: pathOf(resource, ''), body: object }, 'admin');
    if (answer.status >= 300 && answer.status !== 409) throw new Error(JSON.stringify(answer.body));
  };
  for (const kind of [...KINDS, ...kinds]) put(CustomResourceDefinition, crdOf(kind));
  put(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
}

export const conditionsOf = (object: AnyObject | undefined): readonly Condition[] =>
  (object?.status as { conditions?: Condition[] } | undefined)?.conditions ?? [];
