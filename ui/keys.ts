import { layoutOf, neighbour } from './layout.ts';
import { cloudOf, type Route, type State, TABS, type TabName, VIEWS } from './state.ts';

export interface Deeds {
  go(change: Partial<Route> & { object?: string | undefined }): void;
  /** What a click on that would do. */
  act(name: string, target: HTMLElement): void;
}

export const focusBox = (id: string): void =>
  document.querySelector<SVGElement>(`.box[data-id="${CSS.escape(id)}"]`)?.focus();

const TAB_KEYS: Readonly<Record<string, TabName>> = { w: 'why', c: 'config', p: 'pods', e: 'events' };

/** What each key does; the list for people is in app.ts. */
export function keysOf(state: State, { go, act }: Deeds): (event: KeyboardEvent) => void {
  return event => {
    const target = event.target as HTMLElement;
    const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(target.nodeName);
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && target.id === 'edit') return act('plan', target);
    if (event.key === 'Escape') {
      if (state.help) act('help', target);
      else if (typing) target.blur();
      else if (state.route.object) go({ object: undefined });
      return;
    }
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    if ((event.key === 'Enter' || event.key === ' ') && target.getAttribute('role') === 'button') {
      event.preventDefault();
      return act(target.dataset.act ?? '', target);
    }
    if (event.key.startsWith('Arrow')) return arrow(event, target);
    const view = VIEWS[Number(event.key) - 1];
    const tab = state.route.object ? TAB_KEYS[event.key] : undefined;
    if (view) go({ view, ...(view === 'plan' && { object: undefined }) });
    else if (tab) go({ tab });
    else if (event.key === 't') act('theme', target);
    else if (event.key === '?') act('help', target);
    else if (event.key === '/' && state.route.object) {
      event.preventDefault();
      go({ tab: 'config' });
      requestAnimationFrame(() => requestAnimationFrame(() => document.querySelector<HTMLElement>('.search')?.focus()));
    }
  };

  function arrow(event: KeyboardEvent, target: HTMLElement): void {
    if (target.getAttribute('role') === 'tab' && target.dataset.act === 'tab') {
      const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
      const next = TABS[(TABS.indexOf(state.route.tab) + step + TABS.length) % TABS.length];
      if (step !== 0) go({ tab: next! });
      requestAnimationFrame(() => document.querySelector<HTMLElement>('.drawer [aria-selected="true"]')?.focus());
      return;
    }
    const id = target.closest<SVGElement>('.box')?.dataset.id;
    const cloud = cloudOf(state);
    if (id === undefined || !cloud) return;
    const next = neighbour(
      layoutOf(cloud.topology, document.querySelector('.picture')?.clientWidth ?? state.width),
      id,
      event.key,
    );
    if (next === undefined) return;
    event.preventDefault();
    focusBox(next);
  }
}
