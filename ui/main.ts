import { appView } from './app.ts';
import { asksOf } from './asks.ts';
import { h, morph } from './dom.ts';
import { follow } from './feed.ts';
import { focusBox, keysOf } from './keys.ts';
import { cloudOf, hashOf, type Route, routeIn, type State, type TabName, type ViewName } from './state.ts';

const app = document.getElementById('app')!;
const said = document.getElementById('said')!;

const state: State = {
  route: routeIn(location.hash),
  connection: 'connecting',
  heardAt: Date.now(),
  search: '',
  unfolded: new Set(),
  plan: { busy: false },
  width: document.documentElement.clientWidth,
  help: false,
};

let due = false;
function render(): void {
  if (due) return;
  due = true;
  requestAnimationFrame(() => {
    due = false;
    morph(app, h('div', {}, appView(state, Date.now())));
    const cloud = cloudOf(state);
    document.title = cloud ? `${cloud.state} · ${cloud.namespace}/${cloud.name ?? ''}` : 'OpenStack';
  });
}

const { ask, plan } = asksOf(state, render);

function go(change: Partial<Route> & { object?: string | undefined }): void {
  const { object, ...rest } = { ...state.route, ...change };
  const next: Route = { ...rest, ...(object !== undefined && { object }) };
  const opened = next.object !== undefined && next.object !== state.route.object;
  if (hashOf(next) !== hashOf(state.route)) history.pushState(null, '', hashOf(next));
  arrive(next, opened);
}

function arrive(next: Route, opened: boolean): void {
  const closed = state.route.object !== undefined && next.object === undefined ? state.route.object : undefined;
  state.route = next;
  if (opened) state.search = '';
  ask();
  render();
  requestAnimationFrame(() => {
    if (opened) document.querySelector<HTMLElement>('.drawer')?.focus({ preventScroll: true });
    else if (closed) focusBox(closed);
  });
}

function write(text: string): void {
  const field = document.querySelector<HTMLTextAreaElement>('#edit');
  if (!field) return;
  field.value = text;
  field.focus();
}

const THEMES: Readonly<Record<string, string>> = { dark: 'all', light: 'not all' };
const dark = document.getElementById('dark') as HTMLLinkElement;

/** The choice is kept in the browser; without one the system's counts. */
function choose(theme: string): void {
  dark.media = THEMES[theme] ?? dark.media;
  try {
    localStorage.setItem('theme', theme);
  } catch {
    // A browser that keeps nothing shows the choice until the page is closed.
  }
}

function chosen(): string {
  try {
    return localStorage.getItem('theme') ?? '';
  } catch {
    return '';
  }
}

const ACTS: Readonly<Record<string, (target: HTMLElement, id: string) => void>> = {
  open: (_target, id) => go({ object: id }),
  close: () => go({ object: undefined }),
  view: (_target, id) => go({ view: id as ViewName, ...(id === 'plan' && { object: undefined }) }),
  tab: (_target, id) => go({ tab: id as TabName }),
  theme: () => choose(matchMedia(dark.media).matches ? 'light' : 'dark'),
  plan: () => void plan(document.querySelector<HTMLTextAreaElement>('#edit')?.value ?? ''),
  help: () => {
    state.help = !state.help;
    render();
  },
  unfold: (_target, id) => {
    if (!state.unfolded.delete(id)) state.unfolded.add(id);
    render();
  },
  copy: target => {
    void navigator.clipboard?.writeText(target.dataset.text ?? '').then(() => {
      target.textContent = 'Copied';
      said.textContent = 'Copied';
      setTimeout(render, 1500);
    });
  },
};

const act = (name: string, target: HTMLElement): void => ACTS[name]?.(target, target.dataset.id ?? '');

app.addEventListener('click', event => {
  const target = (event.target as Element | null)?.closest<HTMLElement>('[data-act]');
  if (target) act(target.dataset.act ?? '', target);
});
document.addEventListener('keydown', keysOf(state, { go, act }));
app.addEventListener('change', event => {
  const target = event.target as HTMLElement;
  if (target instanceof HTMLSelectElement && target.dataset.act === 'cloud')
    go({ cloud: target.value, object: undefined });
  if (target instanceof HTMLInputElement && target.dataset.act === 'file') void target.files?.[0]?.text().then(write);
});
app.addEventListener('input', event => {
  const target = event.target as HTMLElement;
  if (!(target instanceof HTMLInputElement) || target.dataset.act !== 'search') return;
  state.search = target.value;
  render();
});
const nearing = (event: Event): void => {
  const id = (event.target as Element).closest<SVGElement>('.box')?.dataset.id;
  if (id === state.near) return;
  if (id === undefined) delete state.near;
  else state.near = id;
  render();
};
app.addEventListener('mouseover', nearing);
app.addEventListener('focusin', nearing);
app.addEventListener('dragover', event => event.preventDefault());
app.addEventListener('drop', event => {
  const file = event.dataTransfer?.files[0];
  if (!file) return;
  event.preventDefault();
  go({ view: 'plan', object: undefined });
  void file.text().then(text => requestAnimationFrame(() => write(text)));
});

window.addEventListener('popstate', () => {
  const next = routeIn(location.hash);
  arrive(next, next.object !== undefined && next.object !== state.route.object);
});
window.addEventListener('resize', () => {
  state.width = document.documentElement.clientWidth;
  render();
});
// Ages grow while nothing else happens.
setInterval(() => {
  if (!document.hidden && (state.overview?.live || state.trouble)) render();
}, 1000);

dark.media = THEMES[chosen()] ?? dark.media;

follow(
  {
    overview(overview) {
      const before = new Map(cloudOf(state)?.services.map(one => [one.name, one.state]));
      state.overview = overview;
      state.heardAt = Date.now();
      delete state.trouble;
      const news = (cloudOf(state)?.services ?? []).filter(
        one => before.size > 0 && before.get(one.name) !== one.state,
      );
      if (news.length > 0) said.textContent = news.map(one => `${one.name} is ${one.state}`).join(', ');
      ask();
      render();
    },
    trouble(message) {
      state.trouble = message;
      render();
    },
    connection(connection) {
      if (state.connection === connection) return;
      state.connection = connection;
      render();
    },
  },
  {
    ...(window.EventSource && { EventSource: window.EventSource }),
    fetch: (url, init) => fetch(url, init),
    timer: (ms, run) => {
      const handle = setTimeout(run, ms);
      return () => clearTimeout(handle);
    },
  },
);
render();
