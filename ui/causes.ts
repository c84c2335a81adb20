import type { PageDetail } from '../src/server/page/wire.ts';
import { type Child, h } from './dom.ts';

type Told = PageDetail['why']['causes'][number];

export const command = (text: string): HTMLElement =>
  h(
    'div',
    { class: 'command' },
    h('code', {}, text),
    h('button', { 'data-act': 'copy', 'data-text': text, title: 'Copy this command' }, 'Copy'),
  );

export function causeView(cause: Told): HTMLElement {
  return h(
    'article',
    {
      class: 'cause',
      key: `${cause.reason} ${cause.root.kind} ${cause.root.namespace}/${cause.root.name} ${cause.what}`,
    },
    h('h3', {}, h('span', { class: 'reason' }, cause.reason), ' ', cause.what),
    h('p', {}, h('b', {}, `${cause.who}: `), cause.next),
    command(cause.command),
    cause.afterwards.map(text => [h('p', { class: 'small' }, 'Then:'), command(text)]),
    cause.consequences.length > 0 &&
      h('p', { class: 'small' }, 'Hence not ready either: ', cause.consequences.join(', ')),
    h(
      'details',
      {},
      h('summary', {}, 'Seen at'),
      h(
        'ol',
        { class: 'chain' },
        cause.chain.map(link => h('li', {}, h('b', {}, link.what), ' ', link.says)),
      ),
      cause.log && cause.log.length > 0 && h('pre', {}, cause.log.join('\n')),
    ),
  );
}

interface Why {
  readonly causes: readonly Told[];
  readonly moving: readonly string[];
}

export const causesView = ({ causes }: Why): Child =>
  causes.length > 0 &&
  h('section', { class: 'causes', key: 'causes', 'aria-label': 'What is wrong' }, causes.map(causeView));

/** What is on its way; where nothing is, and nothing is wrong either, `fine`. */
export function movingView({ causes, moving }: Why, fine: string): Child {
  if (moving.length === 0) return causes.length === 0 && h('p', { class: 'fine', key: 'fine' }, fine);
  return h(
    'section',
    { class: 'underway', key: 'underway', 'aria-label': 'On its way' },
    h('h3', {}, causes.length > 0 ? 'On its way' : 'Nothing is wrong; this is on its way'),
    h(
      'ul',
      {},
      moving.map(line => h('li', { key: line }, line)),
    ),
  );
}
