import { ageOf } from '../src/insight/age.ts';
import type { State as Health, ServiceStatus } from '../src/insight/status/status.ts';
import type { CloudOverview } from '../src/insight/why/overview.ts';
import { h, s } from './dom.ts';
import { layoutOf } from './layout.ts';
import { fitted } from './text.ts';

/** Colour is never the only sign. */
export const SIGNS: Readonly<Record<Health, string>> = {
  ready: '✓',
  moving: '↻',
  stuck: '!',
  paused: '‖',
  deleting: '×',
  unseen: '?',
};

export const pill = (state: Health, text: string = state): HTMLElement =>
  h('span', { class: `pill ${state}` }, h('span', { 'aria-hidden': true }, SIGNS[state]), ' ', text);

const serviceId = (service: ServiceStatus): string => `${service.kind}/${service.name}`;

/** `keystone`, or `Keystone other` where the name says less than the kind. */
export const titleOf = ({ kind, name }: { readonly kind: string; readonly name: string }): string =>
  kind.toLowerCase() === name ? name : `${kind} ${name}`;

const whatOf = (service: ServiceStatus): string =>
  [...service.doing, ...(service.state === 'ready' ? [] : [`${service.reason} ${service.message}`.trim()])].join('; ');

export function topologyView(
  cloud: CloudOverview,
  room: number,
  near: string | undefined,
  chosen: string | undefined,
): HTMLElement {
  const layout = layoutOf(cloud.topology, room);
  const services = new Map(cloud.services.map(service => [serviceId(service), service]));
  const stateOf = (id: string): Health => services.get(id)?.state ?? 'unseen';
  const lines = layout.lines.map(({ from, to, implied, path }) => {
    const isNear = near === from || near === to;
    // What is ready fades behind what waited for it: that is where the cloud is still moving.
    const flow = stateOf(from) === 'ready' && stateOf(to) === 'moving' ? ' flows' : '';
    return s('path', {
      key: `${from}>${to}`,
      d: path,
      class: `line ${stateOf(from)}${flow}${implied ? ' implied' : ''}${isNear ? ' near' : ''}`,
      'data-from': from,
      'data-to': to,
    });
  });
  const { width, height } = layout.box;
  const boxes = layout.boxes.map(({ id, x, y }) => {
    const service = services.get(id);
    const node = cloud.topology.nodes.find(one => one.id === id);
    const state = stateOf(id);
    const [kind = '', name = ''] = id.split('/');
    const title = titleOf({ kind, name });
    const pods = service?.pods ?? { wanted: 0, ready: 0 };
    const doing = service?.doing[0] ?? (state === 'ready' ? '' : (service?.reason ?? ''));
    const share = pods.wanted > 0 ? pods.ready / pods.wanted : 0;
    return s(
      'g',
      {
        key: id,
        class: `box ${state}${chosen === id ? ' chosen' : ''}`,
        transform: `translate(${x} ${y})`,
        role: 'button',
        tabindex: 0,
        'data-act': 'open',
        'data-id': id,
        'aria-label': `${title}, ${state}, ${pods.ready} of ${pods.wanted} pods${doing ? `, ${doing}` : ''}`,
      },
      service && whatOf(service) ? s('title', {}, whatOf(service)) : s('title', {}, `${title}: ${state}`),
      s('rect', { class: 'back', width, height, rx: 8 }),
      s('rect', { class: 'stripe', width: 5, height: height - 16, x: 0, y: 8, rx: 2 }),
      s('text', { class: 'name', x: 14, y: 20 }, fitted(title, width - 44, { size: 13, weight: 600 })),
      s('text', { class: 'sign', x: width - 14, y: 20, 'text-anchor': 'end' }, SIGNS[state]),
      s('text', { class: 'doing', x: 14, y: 36 }, fitted(doing || state, width - 26, { size: 11 })),
      pods.wanted > 0 && s('rect', { class: 'track', x: 14, y: 44, width: width - 74, height: 4, rx: 2 }),
      pods.wanted > 0 && s('rect', { class: 'share', x: 14, y: 44, width: (width - 74) * share, height: 4, rx: 2 }),
      s(
        'text',
        { class: 'pods', x: width - 14, y: 50, 'text-anchor': 'end' },
        pods.wanted > 0 ? `${pods.ready}/${pods.wanted}` : '',
      ),
      node && node.parts.length > 0 && partsOf(node.parts, width, height),
    );
  });
  return h(
    'div',
    { class: 'picture', key: 'picture' },
    s(
      'svg',
      {
        viewBox: `0 0 ${layout.width} ${layout.height}`,
        width: layout.width,
        height: layout.height,
        role: 'group',
        'aria-label': 'Services and what they wait for',
      },
      layout.bands.map(({ title, x, y }) => s('text', { class: 'band', x, y }, title)),
      s('g', { key: 'lines', 'aria-hidden': true }, lines),
      boxes,
    ),
  );
}

/** A dot for each cell and process below a service. */
function partsOf(
  parts: CloudOverview['topology']['nodes'][number]['parts'],
  width: number,
  height: number,
): SVGElement {
  const room = Math.floor((width - 20) / 9);
  return s(
    'g',
    { class: 'parts' },
    parts
      .slice(0, room)
      .map((part, index) =>
        s(
          'circle',
          { class: `part ${part.state}`, cx: 16 + index * 9, cy: height, r: 3.4 },
          s('title', {}, `${part.kind} ${part.name}: ${part.state}`),
        ),
      ),
  );
}

/** The same as `status` in the terminal. */
export function statusTable(cloud: CloudOverview, now: number): HTMLElement {
  return h(
    'div',
    { class: 'wide', key: 'table' },
    h(
      'table',
      { class: 'services' },
      h('caption', { class: 'hidden-visually' }, 'Services'),
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          ['Service', 'State', 'Pods', 'Since', 'What'].map(name => h('th', { scope: 'col' }, name)),
        ),
      ),
      h(
        'tbody',
        {},
        cloud.services.map(service =>
          h(
            'tr',
            { key: serviceId(service) },
            h(
              'td',
              {},
              h('button', { class: 'link', 'data-act': 'open', 'data-id': serviceId(service) }, titleOf(service)),
            ),
            h('td', {}, pill(service.state)),
            h('td', { class: 'number' }, `${service.pods.ready}/${service.pods.wanted}`),
            h('td', { class: 'number' }, service.since ? ageOf(now - Date.parse(service.since)) : ''),
            h('td', { class: 'what' }, whatOf(service)),
          ),
        ),
      ),
    ),
  );
}
