import { ageOf } from '../src/insight/age.ts';
import type { Span, TimelineRow } from '../src/insight/status/timeline.ts';
import type { CloudOverview } from '../src/insight/why/overview.ts';
import { h, s } from './dom.ts';
import { fitted } from './text.ts';
import { titleOf } from './topology.ts';

const ROW = 28;
const STEP = 20;
const HEAD = 26;

/** Whole numbers of a unit that people count in, at most eight of them. */
export function ticksOf(ms: number): readonly number[] {
  const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 43_200, 86_400].map(
    x => x * 1000,
  );
  const step = steps.find(one => ms / one <= 8) ?? ms;
  return Array.from({ length: Math.floor(ms / step) + 1 }, (_, index) => index * step);
}

const idTitle = (id: string): string => {
  const [kind = '', name = ''] = id.split('/');
  return titleOf({ kind, name });
};

/** One row per service: what it waited, what it worked; the critical path in bold. */
export function timelineView(
  cloud: CloudOverview,
  now: number,
  room: number,
  unfolded: ReadonlySet<string>,
): HTMLElement {
  const { timeline } = cloud;
  if (!timeline) return h('p', { class: 'empty' }, 'Nothing has begun yet.');
  const label = room < 600 ? 92 : 150;
  const to = timeline.open ? Math.max(now, timeline.to) : timeline.to;
  const length = Math.max(1000, to - timeline.from);
  const x = (at: number): number => label + ((Math.min(at, to) - timeline.from) / length) * (room - label - 46);
  const bar = (span: Span): { x: number; width: number } => ({
    x: x(span.from),
    width: Math.max(2, x(span.to ?? to) - x(span.from)),
  });
  const took = (span: Span): string => ageOf((span.to ?? to) - span.from);
  let y = HEAD;
  const tops = new Map<string, number>();
  const rows = timeline.rows.map(row => {
    const top = y;
    tops.set(row.id, top);
    y += ROW;
    const state = cloud.services.find(service => `${service.kind}/${service.name}` === row.id)?.state ?? 'unseen';
    const steps = unfolded.has(row.id) ? row.steps : [];
    const drawn = steps.map((step, index) => {
      const at = top + ROW + index * STEP;
      y += STEP;
      return s(
        'g',
        { class: 'step', key: step.what },
        s('title', {}, `${step.what}: ${took(step)}`),
        s(
          'text',
          { class: 'label', x: 12, y: at + 12 },
          fitted(step.what.replace(/^\w+ /, ''), label - 18, { size: 11 }),
        ),
        s('rect', { class: step.to === undefined ? 'open' : 'done', y: at + 4, height: 9, rx: 3, ...bar(step) }),
        s('text', { class: 'took', x: bar(step).x + bar(step).width + 4, y: at + 12 }, took(step)),
      );
    });
    return s(
      'g',
      { key: row.id, class: `row ${state}${row.critical ? ' critical' : ''}` },
      s(
        'g',
        {
          role: 'button',
          tabindex: 0,
          'data-act': 'unfold',
          'data-id': row.id,
          'aria-expanded': unfolded.has(row.id) ? 'true' : 'false',
          'aria-label': spokenRow(row, took),
        },
        s('rect', { class: 'hit', x: 0, y: top, width: room, height: ROW }),
        s(
          'text',
          { class: 'label', x: 2, y: top + 18 },
          `${row.steps.length > 0 ? (unfolded.has(row.id) ? '▾ ' : '▸ ') : '  '}${fitted(idTitle(row.id), label - 24, { size: 13, weight: row.critical ? 700 : 400 })}`,
        ),
        row.waits && s('rect', { class: 'waits', y: top + 13, height: 3, ...bar(row.waits) }),
        row.works &&
          s('rect', {
            class: row.works.to === undefined ? 'works open' : 'works',
            y: top + 7,
            height: 14,
            rx: 4,
            ...bar(row.works),
          }),
        row.works &&
          s('text', { class: 'took', x: bar(row.works).x + bar(row.works).width + 4, y: top + 18 }, took(row.works)),
        !row.works && s('text', { class: 'took', x: label, y: top + 18 }, 'took no part in the last roll-out'),
      ),
      drawn,
    );
  });
  const path = timeline.path.slice(1).map((id, index) => {
    const [before, after] = [
      timeline.rows.find(r => r.id === timeline.path[index]),
      timeline.rows.find(r => r.id === id),
    ];
    if (!before?.works || !after?.works) return undefined;
    const [x1, y1, y2] = [x(before.works.to ?? to), tops.get(before.id)! + 14, tops.get(id)! + 14];
    return s('path', {
      class: 'path',
      key: `path ${id}`,
      d: `M${x1} ${y1}V${y2}H${Math.max(x1, x(after.works.from))}`,
    });
  });
  const ticks = ticksOf(length).map(ms =>
    s(
      'g',
      { class: 'tick', key: `tick ${ms}` },
      s('line', { x1: x(timeline.from + ms), x2: x(timeline.from + ms), y1: HEAD - 6, y2: y }),
      s(
        'text',
        { x: x(timeline.from + ms), y: 14, 'text-anchor': ms === 0 ? 'start' : 'middle' },
        ms === 0 ? '0' : ageOf(ms),
      ),
    ),
  );
  const began = new Date(timeline.from).toISOString().replace('T', ' ').slice(0, 19);
  return h(
    'section',
    { class: 'timeline', key: 'timeline', 'aria-label': 'Roll-out' },
    h(
      'p',
      { class: 'lead' },
      timeline.open ? 'Under way since ' : 'Last roll-out: ',
      h('b', {}, timeline.open ? ageOf(length) : `${ageOf(length)}, from ${began} UTC`),
      timeline.path.length > 0 && [
        '. Its critical path: ',
        h('b', { class: 'critical-path' }, timeline.path.map(idTitle).join(' → ')),
      ],
    ),
    s(
      'svg',
      { viewBox: `0 0 ${room} ${y + 8}`, width: room, height: y + 8, role: 'group', 'aria-label': 'Time per service' },
      ticks,
      path,
      rows,
    ),
    h(
      'p',
      { class: 'key' },
      h('i', { class: 'waits' }),
      ' waits ',
      h('i', { class: 'works' }),
      ' works ',
      h('i', { class: 'works critical' }),
      ' on the critical path',
    ),
  );
}

const spokenRow = ({ id, works, critical }: TimelineRow, took: (span: Span) => string): string =>
  `${idTitle(id)}: ${works ? `${took(works)}${works.to === undefined ? ' so far' : ''}` : 'took no part'}${critical ? ', on the critical path' : ''}`;
