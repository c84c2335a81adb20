import { ageOf } from '../src/insight/age.ts';
import type { Setting, Settings } from '../src/insight/config/settings.ts';
import type { Setter } from '../src/insight/config/trace.ts';
import type { TreeNode } from '../src/insight/status/tree.ts';
import type { PageDetail, PageSettings } from '../src/server/page/wire.ts';
import { causesView, movingView } from './causes.ts';
import { type Child, h } from './dom.ts';
import { type Asked, TABS, type TabName } from './state.ts';
import { pill, titleOf } from './topology.ts';

const NAMES: Readonly<Record<TabName, string>> = { why: 'Why', config: 'Config', pods: 'Pods', events: 'Events' };

export interface DrawerInput {
  readonly object: string;
  readonly tab: TabName;
  readonly detail?: Asked<PageDetail>;
  readonly settings?: Asked<PageSettings>;
  readonly search: string;
  readonly now: number;
}

/** What one service says: its conditions and causes, its config by layer, its pods, what happened. */
export function drawerView(input: DrawerInput): HTMLElement {
  const { object, tab, detail } = input;
  const [kind = '', name = ''] = object.split('/');
  const data = detail?.key === object ? detail.data : undefined;
  const error = detail?.key === object ? detail.error : undefined;
  return h(
    'aside',
    { class: 'drawer', key: 'drawer', role: 'dialog', 'aria-label': titleOf({ kind, name }), tabindex: -1 },
    h(
      'header',
      {},
      h('h2', {}, titleOf({ kind, name })),
      data && pill(data.state),
      h('span', { class: 'grow' }),
      h('button', { class: 'close', 'data-act': 'close', title: 'Close (Esc)', 'aria-label': 'Close' }, '×'),
    ),
    h(
      'div',
      { class: 'tabs', role: 'tablist' },
      TABS.map(one =>
        h(
          'button',
          {
            role: 'tab',
            'data-act': 'tab',
            'data-id': one,
            'aria-selected': one === tab ? 'true' : 'false',
            tabindex: one === tab ? 0 : -1,
          },
          NAMES[one],
        ),
      ),
    ),
    error && h('p', { class: 'trouble' }, error),
    h(
      'div',
      { class: 'body', key: `body ${object} ${tab}`, role: 'tabpanel' },
      !data && !error && h('p', { class: 'empty' }, 'Looking…'),
      data && tab === 'why' && whyTab(data, input.now),
      data && tab === 'pods' && podsTab(data.tree),
      data && tab === 'events' && eventsTab(data, input.now),
      tab === 'config' && configTab(input),
    ),
  );
}

const whyTab = (data: PageDetail, now: number): Child => [
  causesView(data.why),
  movingView(data.why, 'Nothing is wrong with it.'),
  h('h3', {}, 'Conditions'),
  h(
    'ul',
    { class: 'conditions' },
    data.conditions.map(c =>
      h(
        'li',
        { key: c.type, class: c.status },
        h(
          'span',
          { class: 'sign', 'aria-label': c.status },
          c.status === 'True' ? '✓' : c.status === 'False' ? '!' : '?',
        ),
        h('b', {}, c.type),
        ' ',
        h('span', { class: 'reason' }, c.reason),
        h('span', { class: 'age' }, c.lastTransitionTime ? ageOf(now - Date.parse(c.lastTransitionTime)) : ''),
        c.message && h('p', {}, c.message),
      ),
    ),
  ),
];

const podsTab = (tree: TreeNode): Child =>
  tree.children.length === 0
    ? h('p', { class: 'empty' }, 'Nothing is below it.')
    : h('ul', { class: 'tree' }, tree.children.map(branch));

const branch = (node: TreeNode): HTMLElement =>
  h(
    'li',
    { key: `${node.kind} ${node.name}` },
    pill(node.state, ''),
    h('b', {}, node.kind),
    ` ${node.name} `,
    h('span', { class: 'says' }, node.text),
    node.children.length > 0 && h('ul', {}, node.children.map(branch)),
  );

const eventsTab = ({ events }: PageDetail, now: number): Child =>
  events.length === 0
    ? h('p', { class: 'empty' }, 'No events.')
    : h(
        'ul',
        { class: 'events' },
        [...events]
          .reverse()
          .map(event =>
            h(
              'li',
              { class: event.warning ? 'warning' : '' },
              h('span', { class: 'age' }, ageOf(now - Date.parse(event.at))),
              event.warning && h('b', {}, 'Warning '),
              h('b', {}, event.reason),
              ` ${event.kind} ${event.name}`,
              h('p', {}, event.text),
            ),
          ),
      );

/** Every word must be somewhere in the option, its value, its layer or its place. */
export function matches(setting: Setting, search: string): boolean {
  const text = [
    `[${setting.section}] ${setting.key}`,
    ...setting.values,
    ...[...setting.setters, ...setting.overrides].flatMap(setter => [setter.layer, setter.object ?? '', setter.file]),
  ]
    .join(' ')
    .toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every(word => text.includes(word));
}

const configTab = ({ object, settings, search }: DrawerInput): Child => [
  h('input', {
    key: 'search',
    class: 'search',
    type: 'search',
    'data-act': 'search',
    placeholder: 'option, value, layer or object ( / )',
    'aria-label': 'Search the config',
    autocomplete: 'off',
    spellcheck: 'false',
  }),
  configList(settings?.key === object ? settings : undefined, search),
];

function configList(asked: Asked<PageSettings> | undefined, search: string): Child {
  if (asked?.error) return h('p', { class: 'trouble' }, asked.error);
  if (!asked?.data) return h('p', { class: 'empty' }, 'Reading its config…');
  const { settings: all, notes } = asked.data;
  if (all.length === 0) return h('p', { class: 'empty' }, 'It has no config in the language of oslo.');
  const shown = all.map(one => ({ ...one, options: one.options.filter(option => matches(option, search)) }));
  const count = (list: readonly Settings[]): number => list.reduce((sum, one) => sum + one.options.length, 0);
  return [
    h('p', { class: 'small', role: 'status' }, `${count(shown)} of ${count(all)} options`),
    notes.map(note => h('p', { class: 'small' }, note)),
    shown.filter(one => one.options.length > 0).map(configOf),
  ];
}

const configOf = ({ of, secret, pods, options }: Settings): HTMLElement =>
  h(
    'details',
    { key: secret, open: true, class: 'config' },
    h(
      'summary',
      {},
      h('b', {}, of),
      h('span', { class: 'small' }, ` Secret ${secret}, ${pods} ${pods === 1 ? 'pod reads' : 'pods read'} it`),
    ),
    h('ul', {}, options.map(optionOf)),
  );

const placeOf = (setter: Setter): string =>
  setter.object
    ? `${setter.object} ${setter.field ?? ''}${setter.line ? ` line ${setter.line}` : ''}`
    : `${setter.file} line ${setter.fileLine}`;

const optionOf = (option: Setting): HTMLElement =>
  h(
    'li',
    { key: `[${option.section}] ${option.key}`, class: option.masked ? 'masked' : '' },
    h(
      'code',
      {},
      h('span', { class: 'section' }, `[${option.section}]`),
      ` ${option.key} = `,
      h('b', {}, option.values.join(', ')),
    ),
    option.setters.map(setter =>
      h('p', {}, h('span', { class: `layer ${setter.layer}` }, setter.layer), ' ', placeOf(setter)),
    ),
    [...option.overrides]
      .reverse()
      .map(setter =>
        h(
          'p',
          { class: 'lost' },
          h('s', {}, setter.value),
          ' ',
          h('span', { class: 'layer' }, setter.layer),
          ' ',
          placeOf(setter),
        ),
      ),
    option.elsewhere.length > 0 &&
      h('p', { class: 'elsewhere' }, `Not run by ${option.elsewhere.map(({ pod }) => pod).join(', ')}`),
  );
