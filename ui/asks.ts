import { type Asked, cloudOf, refOf, type State } from './state.ts';

const SETTINGS_MS = 2000;

export interface Asks {
  /** Asks for what the open service shows. What was there stays until the answer comes. */
  ask(): void;
  plan(text: string): Promise<void>;
}

/** What the page asks the server for besides the stream. */
export function asksOf(state: State, render: () => void): Asks {
  function ask(): void {
    const { object, tab } = state.route;
    const cloud = cloudOf(state);
    if (!object || !cloud) return;
    const { kind, namespace, name } = refOf(cloud, object);
    const query = new URLSearchParams({ kind, namespace, name });
    void fetched(`api/object?${query}`, object, state.detail, found => {
      state.detail = found;
    });
    if (tab !== 'config') return;
    const read = (): void =>
      void fetched(`api/settings?${query}`, object, state.settings, found => {
        state.settings = found;
      });
    if (state.settings?.key !== object) read();
    else if (!reading) {
      // Reading all config costs the server more than a look: not at every step of a roll-out.
      reading = true;
      setTimeout(() => {
        reading = false;
        if (state.route.object === object && state.route.tab === 'config') read();
      }, SETTINGS_MS);
    }
  }

  let reading = false;

  const asking = new Map<string, { again: boolean }>();

  /** One request per question at a time; a question that comes meanwhile is asked once more afterwards. */
  async function fetched<T>(
    url: string,
    key: string,
    before: Asked<T> | undefined,
    put: (found: Asked<T>) => void,
  ): Promise<void> {
    const under = asking.get(url);
    if (under) {
      under.again = true;
      return;
    }
    const mine = { again: false };
    asking.set(url, mine);
    let found: Asked<T>;
    try {
      const answer = await fetch(url);
      const body = (await answer.json()) as T & { message?: string };
      found = answer.ok ? { key, data: body } : { key, error: body.message ?? `the server answered ${answer.status}` };
    } catch {
      found = before?.key === key && before.data ? before : { key, error: 'the server did not answer' };
    }
    asking.delete(url);
    if (state.route.object === key) put(found);
    render();
    if (mine.again) ask();
  }

  async function plan(text: string): Promise<void> {
    if (state.plan.busy || text.trim() === '') return;
    state.plan = { ...state.plan, busy: true };
    render();
    try {
      const answer = await fetch('api/plan', {
        method: 'POST',
        headers: { 'content-type': 'application/yaml' },
        body: text,
      });
      const body = await answer.json();
      state.plan = answer.ok
        ? { busy: false, result: body }
        : { busy: false, error: (body as { message: string }).message };
    } catch {
      state.plan = { busy: false, error: 'the server did not answer' };
    }
    render();
  }

  return { ask, plan };
}
