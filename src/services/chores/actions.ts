import type { Cx } from '../../runtime/plan/cx.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import { iso } from '../schedule.ts';

/** Things that a user asks for once (spec.actions), and what became of them (status.actions). */

export interface Action {
  readonly name: string;
  readonly id: string;
  readonly target?: string;
}

interface Result {
  readonly name: string;
  readonly id: string;
  readonly state: 'Running' | 'Done' | 'Failed';
  readonly message?: string;
  readonly completionTime?: string;
}

const asked = <O extends Managed>(cx: Cx<O>): readonly Action[] =>
  (cx.spec as { actions?: readonly Action[] }).actions ?? [];
const told = <O extends Managed>(cx: Cx<O>): readonly Result[] =>
  (cx.status as { actions?: readonly Result[] }).actions ?? [];
const ended = <O extends Managed>(cx: Cx<O>, { name, id }: Action): Result | undefined =>
  told(cx).find(result => result.name === name && result.id === id && result.state !== 'Running');

/** The last order of that name about this target that is not carried out yet. */
export function orderFor<O extends Managed>(cx: Cx<O>, name: string, target: string): Action | undefined {
  return asked(cx)
    .filter(action => action.name === name && (action.target === undefined || action.target === target))
    .filter(action => ended(cx, action) === undefined)
    .at(-1);
}

interface Able {
  readonly targets: readonly string[];
  /** `since`: its id and those of later ones of that name, which do its work too. */
  readonly done: (action: Action, since: readonly string[]) => boolean;
}

/** Writes one line per action that is asked for; the line of one that is no longer asked for goes with it. */
export function tellActions<O extends Managed>(cx: Cx<O>, able: Readonly<Record<string, Able>>): void {
  const actions = asked(cx);
  if (actions.length === 0 && told(cx).length === 0) return;
  const end = (action: Action, state: 'Done' | 'Failed', message?: string): Result => ({
    name: action.name,
    id: action.id,
    state,
    ...(message !== undefined && { message }),
    completionTime: iso(cx.serverTime()),
  });
  const results = actions.map((action, index): Result => {
    const before = ended(cx, action);
    if (before) return before;
    const can = able[action.name];
    if (can === undefined)
      return end(action, 'Failed', `${cx.object.kind} can't do this; it can: ${Object.keys(able).sort().join(', ')}`);
    if (action.target !== undefined && !can.targets.includes(action.target))
      return end(
        action,
        'Failed',
        `there is no ${action.target} here; there is: ${can.targets.join(', ') || 'nothing'}`,
      );
    const since = actions.slice(index).flatMap(later => (later.name === action.name ? [later.id] : []));
    if (can.done(action, since)) return end(action, 'Done');
    return { name: action.name, id: action.id, state: 'Running' };
  });
  cx.report({ actions: results } as never);
}
