import type { PlanData } from '../src/cli/commands/plan.ts';
import type { CloudOverview } from '../src/insight/why/overview.ts';
import type { PageDetail, PageOverview, PagePlan, PageRef, PageSettings } from '../src/server/page/wire.ts';
import type { Connection } from './feed.ts';

export const VIEWS = ['topology', 'rollout', 'plan'] as const;
export type ViewName = (typeof VIEWS)[number];
export const TABS = ['why', 'config', 'pods', 'events'] as const;
export type TabName = (typeof TABS)[number];

/** What the address says: it can be kept, sent and gone back from. */
export interface Route {
  /** `namespace/name`; the first cloud unless said. */
  readonly cloud?: string;
  readonly view: ViewName;
  /** `Keystone/keystone` in the namespace of the cloud. */
  readonly object?: string;
  readonly tab: TabName;
}

/** Something that was asked for: on its way, there, or refused. */
export interface Asked<T> {
  readonly key: string;
  readonly data?: T;
  readonly error?: string;
}

export interface State {
  route: Route;
  connection: Connection;
  overview?: PageOverview;
  /** Milliseconds of the browser's clock when the overview came. */
  heardAt: number;
  trouble?: string;
  detail?: Asked<PageDetail>;
  settings?: Asked<PageSettings>;
  search: string;
  /** The service whose lines are drawn boldly. */
  near?: string;
  /** Services of the roll-out whose steps are shown. */
  readonly unfolded: Set<string>;
  plan: { readonly busy: boolean; readonly result?: PagePlan<PlanData>; readonly error?: string };
  width: number;
  help: boolean;
}

export const cloudId = (cloud: Pick<CloudOverview, 'namespace' | 'name'>): string =>
  `${cloud.namespace}/${cloud.name ?? ''}`;

export const cloudOf = ({ overview, route }: Pick<State, 'overview' | 'route'>): CloudOverview | undefined =>
  overview?.clouds.find(cloud => cloudId(cloud) === route.cloud) ?? overview?.clouds[0];

/** By the clock of the cluster. What is from a file stands still. */
export const nowOf = ({ overview, heardAt }: Pick<State, 'overview' | 'heardAt'>, browser: number): number =>
  overview === undefined ? browser : overview.live ? overview.now + Math.max(0, browser - heardAt) : overview.now;

export function refOf(cloud: Pick<CloudOverview, 'namespace'>, object: string): PageRef {
  const [kind = '', name = ''] = object.split('/');
  return { kind, namespace: cloud.namespace, name };
}

const isOne = <T extends string>(list: readonly T[], text: string | null): text is T =>
  text !== null && (list as readonly string[]).includes(text);

export function routeIn(hash: string): Route {
  const fields = new URLSearchParams(hash.replace(/^#/, ''));
  const [cloud, view, object, tab] = ['cloud', 'view', 'object', 'tab'].map(name => fields.get(name));
  return {
    view: isOne(VIEWS, view ?? null) ? (view as ViewName) : 'topology',
    tab: isOne(TABS, tab ?? null) ? (tab as TabName) : 'why',
    ...(cloud && { cloud }),
    ...(object && /^\w+\/[a-z0-9.-]+$/.test(object) && { object }),
  };
}

export function hashOf({ cloud, view, object, tab }: Route): string {
  const fields = [
    cloud && `cloud=${cloud}`,
    view !== 'topology' && `view=${view}`,
    object && `object=${object}`,
    object && tab !== 'why' && `tab=${tab}`,
  ].filter(Boolean);
  return fields.length > 0 ? `#${fields.join('&')}` : '#';
}
