import { ageOf } from '../src/insight/age.ts';
import type { CloudOverview } from '../src/insight/why/overview.ts';
import { causesView, movingView } from './causes.ts';
import { type Child, h } from './dom.ts';
import { drawerView } from './drawer.ts';
import type { Connection } from './feed.ts';
import { spoken } from './layout.ts';
import { planView } from './plan.ts';
import { cloudId, cloudOf, nowOf, type State, VIEWS, type ViewName } from './state.ts';
import { timelineView } from './timeline.ts';
import { pill, statusTable, topologyView } from './topology.ts';

const NAMES: Readonly<Record<ViewName, string>> = { topology: 'Topology', rollout: 'Roll-out', plan: 'Plan' };
const CONNECTIONS: Readonly<Record<Connection, string>> = {
  connecting: 'connecting',
  live: 'live',
  polling: 'live, by asking',
  lost: 'connection lost, trying again',
  recorded: 'recorded',
};

/** The whole page, from what is known now. */
export function appView(state: State, browser: number): HTMLElement {
  const { overview, route, connection, trouble } = state;
  const cloud = cloudOf(state);
  const now = nowOf(state, browser);
  // The drawer stands beside the picture where there is room for both.
  const beside = route.object !== undefined && state.width >= 1100;
  const room = Math.max(260, Math.min(1500, state.width - (beside ? 470 : 0)) - 32);
  return h(
    'div',
    { class: beside ? 'page beside' : 'page', key: 'page' },
    h(
      'header',
      { class: 'top', key: 'top' },
      h('h1', {}, cloud ? cloudName(state, cloud) : 'OpenStack'),
      cloud && pill(cloud.state),
      cloud && h('span', { class: 'facts' }, factsOf(cloud)),
      h('span', { class: 'grow' }),
      h('span', { class: `connection ${connection}`, role: 'status' }, CONNECTIONS[connection]),
      h('button', { 'data-act': 'theme', title: 'Dark or light (t)', 'aria-label': 'Dark or light' }, '◐'),
      h('button', { 'data-act': 'help', title: 'Keys (?)', 'aria-label': 'Keys' }, '?'),
    ),
    h(
      'nav',
      { class: 'tabs views', role: 'tablist', 'aria-label': 'Views', key: 'views' },
      VIEWS.map((view, index) =>
        h(
          'button',
          {
            role: 'tab',
            'data-act': 'view',
            'data-id': view,
            'aria-selected': view === route.view ? 'true' : 'false',
            title: `${NAMES[view]} (${index + 1})`,
          },
          NAMES[view],
        ),
      ),
    ),
    trouble &&
      h(
        'p',
        { class: 'trouble', role: 'alert', key: 'trouble' },
        trouble,
        overview && ` What you see is ${ageOf(browser - state.heardAt)} old.`,
      ),
    h('main', { key: 'main' }, mainView(state, cloud, now, room)),
    route.object &&
      drawerView({
        object: route.object,
        tab: route.tab,
        search: state.search,
        now,
        ...(state.detail && { detail: state.detail }),
        ...(state.settings && { settings: state.settings }),
      }),
    overview &&
      h(
        'footer',
        { key: 'footer' },
        `${overview.where} · openstack-operator ${overview.version} · read-only`,
        overview.notes.map(note => h('p', {}, `Note: ${note}`)),
      ),
    state.help && helpView(),
  );
}

function mainView(state: State, cloud: CloudOverview | undefined, now: number, room: number): Child {
  const { overview, route } = state;
  if (!overview) return h('p', { class: 'empty' }, 'Looking at the cluster…');
  if (route.view === 'plan') return planView(state.plan, overview.can.plan);
  if (!cloud) return h('p', { class: 'empty' }, `No cloud in ${overview.where}.`);
  const why = cloud.why ?? overview.why;
  const moving = movingView(why, 'Everything is ready.');
  // What is wrong comes first. What moves comes and goes, and must not push the picture up and down.
  if (route.view === 'rollout') return [causesView(why), timelineView(cloud, now, room, state.unfolded), moving];
  return [causesView(why), topologyView(cloud, room, state.near, route.object), moving, statusTable(cloud, now)];
}

function cloudName({ overview }: State, cloud: CloudOverview): Child {
  const name = (one: CloudOverview): string =>
    one.name ? `${one.namespace}/${one.name}` : `${one.namespace}, without a control plane`;
  if ((overview?.clouds.length ?? 0) < 2) return name(cloud);
  return h(
    'select',
    { 'data-act': 'cloud', 'aria-label': 'Cloud' },
    overview?.clouds.map(one =>
      h('option', { value: cloudId(one), selected: one === cloud }, `${name(one)} (${one.state})`),
    ),
  );
}

const factsOf = ({ phase, release, ready, wanted, eta }: CloudOverview): string =>
  [
    phase && phase !== 'Ready' && `phase ${spoken(phase)}`,
    release && `release ${release}`,
    `${ready} of ${wanted} services ready`,
    eta && (eta.seconds > 0 ? `about ${ageOf(eta.seconds * 1000)} left` : 'longer than the services before it'),
  ]
    .filter(Boolean)
    .join(' · ');

const KEYS: readonly (readonly [string, string])[] = [
  ['1 2 3', 'topology, roll-out, plan'],
  ['arrows', 'from service to service in the picture'],
  ['Enter', 'open the service; fold and unfold in the roll-out'],
  ['Esc', 'close'],
  ['w c p e', 'in a service: why, config, pods, events'],
  ['/', 'search the config'],
  ['t', 'dark or light'],
  ['?', 'this'],
];

const helpView = (): HTMLElement =>
  h(
    'div',
    { class: 'help', role: 'dialog', 'aria-label': 'Keys', key: 'help', 'data-act': 'help' },
    h(
      'dl',
      {},
      KEYS.map(([key, what]) => [h('dt', {}, key), h('dd', {}, what)]),
    ),
  );
