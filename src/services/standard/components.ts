import type { DeepReadonly } from '../../kube/object.ts';
import { Deployment, type Resource } from '../../kube/resource.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import { type Beside, type Exposed, prefixOf } from '../exposure/ingress.ts';
import type { Workload } from '../pods/workload.ts';
import { overTls } from '../tls/certificate.ts';
import type { CatalogLine, Service } from './table.ts';

/** What follows from a service's table alone. */

/** What is reached from outside of the pods, by its component. */
export type Reached = Partial<CatalogLine> & { readonly component: string };

/** The main one first. */
export const reachedOf = <O extends Managed, S, I>(service: Service<O, S, I>): readonly Reached[] => [
  ...(service.front ? [{ component: service.front.component }] : []),
  ...(service.catalog ? [{ ...service.catalog, component: 'api' }] : []),
  ...(service.alsoCatalog ?? []),
];

export const besideOf = (reached: readonly Reached[], { component, type = '' }: Reached): Beside | undefined =>
  component === reached[0]?.component ? undefined : { component, type };

/** The components that an object wants, as its TLS and its path ask for. */
export function wantedPods<O extends Managed, S, I>(
  cx: Cx<O>,
  service: Service<O, S, I>,
): readonly (readonly [string, Workload<S>])[] {
  const reached = reachedOf(service);
  return Object.entries(service.pods)
    .filter(([, w]) => w.when?.(cx.spec as DeepReadonly<S>) ?? true)
    .map(([component, w]) => [component, (overTls(cx.spec) && w.overTls?.()) || w] as const)
    .map(([component, w]) => {
      const line = reached.find(each => each.component === component && each.type !== undefined);
      const prefix = line === undefined ? '' : prefixOf(cx.spec as Exposed, besideOf(reached, line));
      return [component, (prefix !== '' && w.under?.(prefix)) || w] as const;
    });
}

/** Whether some component of it can serve over TLS. */
export const servesTls = <O extends Managed, S, I>({ pods }: Service<O, S, I>): boolean =>
  Object.values(pods).some(workload => workload.overTls);

/** Whether it has an address for people or in the catalog. */
export const isPublished = <O extends Managed, S, I>({ catalog, front }: Service<O, S, I>): boolean =>
  catalog !== undefined || front !== undefined;

/** By what its pods run. */
export const resourcesOf = <O extends Managed, S, I>({ pods }: Service<O, S, I>): readonly Resource[] =>
  Object.values(pods).map(workload => workload.as ?? Deployment);

/** The Jobs that make its schemas, by the name of the database. */
export const syncsOf = <O extends Managed, S, I>(
  service: Service<O, S, I>,
): readonly (readonly [string, readonly string[]])[] =>
  Object.entries(service.databases ?? {}).flatMap(([name, { sync }]) => (sync ? [[name, sync] as const] : []));

/** `db-sync` for the only database, `db-sync-api` where there are several. */
export const syncStep = <O extends Managed, S, I>(service: Service<O, S, I>, name: string): string =>
  syncsOf(service).length > 1 ? `db-sync-${name}` : 'db-sync';

/** All Jobs of the table, by their step. */
export const stepsOf = <O extends Managed, S, I>(
  service: Service<O, S, I>,
): Readonly<Record<string, readonly string[]>> => ({
  ...Object.fromEntries(syncsOf(service).map(([name, argv]) => [syncStep(service, name), argv])),
  ...service.jobs,
});
