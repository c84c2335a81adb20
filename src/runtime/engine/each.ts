import type { DeepReadonly } from '../../kube/object.ts';
import type { Cx, EachCx } from '../plan/cx.ts';
import type { Managed } from '../plan/managed.ts';
import { outcomeOf, type Tried } from '../plan/outcome.ts';
import type { Each, Keyed, Row } from '../plan/row.ts';

/** What rows with keys need of a pass. */
export interface EachPass<O extends Managed> {
  cx(row: string): Cx<O>;
  prune(row: string): Promise<void>;
  /** Keys by which earlier passes marked what they made under this row. */
  marked(prefix: string): readonly string[];
  /** As it is written for people. */
  text(text: string): string;
  again(ms: number): void;
  readonly reported: Record<string, unknown>;
}

type EachRow<O extends Managed> = Row<O, unknown> & { readonly each: Each<O> };

export const isEach = <O extends Managed>(row: Row<O, unknown>): row is EachRow<O> => row.each !== undefined;

/** The mark of one key: the prune of a key then touches what that key made, and nothing else (rule 7). */
const markOf = (type: string, key: string): string => `${type}.${key}`;

/** Runs every key that is asked for and takes back every key that was, each on its own. */
export async function runEach<O extends Managed>(
  object: DeepReadonly<O>,
  pass: EachPass<O>,
  row: EachRow<O>,
  needed: Readonly<Record<string, unknown>>,
): Promise<Tried> {
  const { each, type } = row;
  const items = each.over(object);
  const values = new Map<string, unknown>();
  const lines = new Map<string, Line>();
  const head = items.find(item => item.name === each.first);

  const runKey = async (item: Keyed): Promise<Tried> => {
    try {
      const line = known(object, each, item.name);
      lines.set(item.name, line);
      const use = (value: unknown): void => void values.set(item.name, value);
      const cx: EachCx<O, never> = {
        ...pass.cx(markOf(type, item.name)),
        usable: use,
        line: fields => void Object.assign(line.extra, fields),
      };
      const value = await each.run(cx, item as never, needed as never);
      await pass.prune(markOf(type, item.name));
      use(value);
      return { is: 'ok', value };
    } catch (error) {
      return outcomeOf(error);
    }
  };
  const gone = vanished(object, pass, row, items);
  const [ran, undone] = await Promise.all([
    Promise.all(items.map(async item => [item.name, await runKey(item)] as const)),
    Promise.all(gone.map(async name => [name, await undoKey(pass, row, name)] as const)),
  ]);
  const left = undone.filter(([, outcome]) => outcome.is !== 'ok');
  const outcomes: readonly (readonly [string, Tried])[] = [...ran, ...left];
  if (each.status)
    pass.reported[each.status] = outcomes.map(([name, outcome]) =>
      lineOf(pass, name, outcome, lines.get(name) ?? known(object, each, name)),
    );
  for (const [, outcome] of outcomes)
    if ((outcome.is === 'wait' || outcome.is === 'stall') && outcome.after !== undefined) pass.again(outcome.after);
  return sumUp(outcomes, values, head === undefined || values.has(head.name));
}

/** Everything of every key, `first` last. For an object that is being deleted. */
export async function undoEach<O extends Managed>(
  object: DeepReadonly<O>,
  pass: EachPass<O>,
  row: EachRow<O>,
): Promise<Tried> {
  const names = [...new Set([...row.each.over(object).map(item => item.name), ...vanished(object, pass, row, [])])];
  const rest = names.filter(name => name !== row.each.first);
  const outcomes = await Promise.all(rest.map(async name => [name, await undoKey(pass, row, name, false)] as const));
  const open = sumUp(outcomes, new Map(), false);
  if (open.is !== 'ok' || row.each.first === undefined || !names.includes(row.each.first)) return open;
  return sumUp([[row.each.first, await undoKey(pass, row, row.each.first, false)]], new Map(), false);
}

/**
 * Keys of earlier passes that nobody asks for now. The lines of status know them, and so do the marks on what was made:
 * a crash may fall between an effect and the status that tells of it.
 */
function vanished<O extends Managed>(
  object: DeepReadonly<O>,
  pass: EachPass<O>,
  row: EachRow<O>,
  items: readonly Keyed[],
): readonly string[] {
  const listed = row.each.status ? linesOf(object, row.each.status).map(line => line.name) : [];
  const names = new Set([...listed, ...pass.marked(`${row.type}.`)]);
  for (const item of items) names.delete(item.name);
  return [...names].sort();
}

/** `prune`: an object that stays must let go of what the key made; one that is deleted takes its own along. */
async function undoKey<O extends Managed>(
  pass: EachPass<O>,
  row: EachRow<O>,
  name: string,
  prune = true,
): Promise<Tried> {
  try {
    await row.each.undo?.(pass.cx(markOf(row.type, name)), name);
    if (prune) await pass.prune(markOf(row.type, name));
    return { is: 'ok', value: undefined };
  } catch (error) {
    return outcomeOf(error);
  }
}

interface Line {
  readonly name: string;
  readonly extra: Record<string, unknown>;
}

type Written = Readonly<Record<string, unknown>> & Keyed;

const linesOf = (object: DeepReadonly<Managed>, field: string): readonly Written[] =>
  ((object.status ?? {}) as Readonly<Record<string, readonly Written[] | undefined>>)[field] ?? [];

/** What the key said of itself before: it holds until the key says otherwise. */
function known(object: DeepReadonly<Managed>, each: Pick<Each<never>, 'status'>, name: string): Line {
  const before: Partial<Written> = (each.status && linesOf(object, each.status).find(l => l.name === name)) || {};
  const { ready: _ready, reason: _reason, message: _message, ...extra } = before;
  return { name, extra };
}

function lineOf(
  pass: Pick<EachPass<never>, 'text'>,
  name: string,
  outcome: Tried,
  { extra }: Line,
): Record<string, unknown> {
  const said = outcome.is === 'ok' ? {} : { reason: outcome.reason, message: pass.text(outcome.message) };
  return { ...extra, name, ready: outcome.is === 'ok', ...said };
}

/** Errors come first because they ask for a retry, then what stands still, then what moves. */
const ORDER: readonly Tried['is'][] = ['error', 'stall', 'wait'];

function sumUp(
  outcomes: readonly (readonly [string, Tried])[],
  values: ReadonlyMap<string, unknown>,
  opened: boolean,
): Tried {
  const unmet = outcomes.flatMap(([name, outcome]) =>
    outcome.is === 'ok' ? [] : [{ ...outcome, message: `${name}: ${outcome.message}`, key: name, keys: outcomes }],
  );
  const worst = ORDER.map(is => unmet.find(outcome => outcome.is === is)).find(found => found !== undefined);
  if (worst === undefined) return { is: 'ok', value: values };
  return opened ? { ...worst, yields: { value: values } } : worst;
}
