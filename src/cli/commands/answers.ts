import packageJson from '../../../package.json' with { type: 'json' };
import { settingsOf } from '../../insight/config/settings.ts';
import { detailOf } from '../../insight/status/detail.ts';
import { hidden } from '../../insight/view/hide.ts';
import { isOurs, type Live } from '../../insight/view/view.ts';
import { overviewOf } from '../../insight/why/overview.ts';
import { type PageAnswers, type PageRef, Refused } from '../../server/page/wire.ts';
import type { Clock } from '../../world/clock.ts';
import { parseObjects, UsageError } from '../input/yaml.ts';
import type { Depth, Snapshot, Source } from '../source/source.ts';
import { toldWhy } from './why.ts';

/** One look serves all questions of about the same moment. */
const FRESH_MS = 900;

/** What the page asks, answered from looks at a source by the same functions that the terminal has. */
export function answersOf(source: Source, clock: Clock, { plans = true } = {}): PageAnswers {
  const looks = new Map<Depth, { readonly at: number; readonly snapshot: Promise<Snapshot> }>();
  const look = (depth: Depth): Promise<Snapshot> => {
    const last = looks.get(depth);
    if (last && (!source.live || clock.now() - last.at < FRESH_MS)) return last.snapshot;
    const snapshot = source.read(depth);
    looks.set(depth, { at: clock.now(), snapshot });
    snapshot.catch(() => looks.delete(depth));
    return snapshot;
  };
  const find = ({ view }: Snapshot, { kind, namespace, name }: PageRef): Live | undefined => {
    const object = view.get(kind, namespace, name);
    return object && isOurs(object) ? object : undefined;
  };
  return {
    async overview() {
      const snapshot = await look('look');
      const { view, where, notes } = snapshot;
      return hidden(snapshot.hide, {
        ...overviewOf(view),
        now: view.now,
        live: source.live,
        where,
        notes,
        version: packageJson.version,
        can: { plan: plans },
      });
    },
    async detail(ref) {
      const snapshot = await look('look');
      const object = find(snapshot, ref);
      return (
        object && hidden(snapshot.hide, { ...detailOf(snapshot.view, object), why: await toldWhy(snapshot, object) })
      );
    },
    async settings(ref) {
      const snapshot = await look('config');
      const object = find(snapshot, ref);
      return object && hidden(snapshot.hide, { settings: settingsOf(snapshot.view, object), notes: snapshot.notes });
    },
    ...(plans && { plan: text => refusing(() => planned(source, text)) }),
  };
}

async function planned(source: Source, text: string): Promise<{ plan: unknown; outside: readonly string[] }> {
  const edit = parseObjects(text, 'line');
  if (edit.length === 0) throw new UsageError('there is no object in this text');
  const wanted = [...new Set(edit.flatMap(object => object.metadata.namespace ?? []))];
  if (wanted.length > 1) throw new UsageError(`a plan is about one namespace, not ${wanted.join(' and ')}`);
  const { effectText, planOf } = await import('./plan.ts');
  const snapshot = await source.read('whole', ...wanted);
  const { data } = await planOf(snapshot, edit, {});
  return { plan: data, outside: data.effects.map(effectText) };
}

async function refusing<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof UsageError) throw new Refused(error.message);
    throw error;
  }
}
