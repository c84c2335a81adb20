import type { DeepReadonly } from '../../kube/object.ts';
import { type Resource, resourceName } from '../../kube/resource.ts';
import type { Cx, EachCx } from './cx.ts';
import type { Managed } from './managed.ts';
import type { Unmet } from './unmet.ts';

/**
 * A row is a condition, what it needs, and what it does. Rows are values: a need is a variable, so a typo,
 * a cycle or a forward reference does not compile, and replacing a row is passing another one.
 */
export interface Row<O extends Managed, T> {
  /** The condition type, e.g. `DatabaseReady`. */
  readonly type: string;
  readonly needs: Needs<O>;
  /** Undone before these, though it may run without them. */
  readonly uses: readonly Row<O, unknown>[];
  /** False: the row is satisfied with `undefined`, objects that it made are pruned, its condition goes. Data stays. */
  readonly when: ((object: DeepReadonly<O>) => boolean) | undefined;
  /** Gives the value, or throws Unmet. Must be safe to run at any time, any number of times. */
  readonly run: (cx: Cx<O>, needed: never) => Promise<T>;
  /** For an object that is being deleted: takes back what `run` did outside of owned objects. Tolerates that it never ran. */
  readonly undo: ((cx: Cx<O>) => Promise<void>) | undefined;
  /** When `when` turned false: removes objects that can be made again. Never data: only a deletion deletes. */
  readonly off: ((cx: Cx<O>) => Promise<void>) | undefined;
  /** Its condition says something worth knowing, and Ready does not hang on it. */
  readonly aside: boolean;
  /** Resources it writes: RBAC and informers follow from this, and writing another one is a programmer's error. */
  readonly manages: readonly Resource[];
  /** Resources it only reads, beyond Secrets. */
  readonly reads: readonly Resource[];
  /** For things that the user counts: this row is many, one per key, and `run` and `undo` above are not used. */
  readonly each?: Each<O>;
}

/** What a row does for each of its keys (cells, backends): the one kind of row whose number is known at run time only. */
export interface Each<O extends Managed> {
  /** Names must be fit for a label: they become part of the row's mark on what it makes. */
  readonly over: (object: DeepReadonly<O>) => readonly Keyed[];
  /** The key that the others wait for, until its value can be used. */
  readonly first: string | undefined;
  /** The list of status in which each key has a line. */
  readonly status: string | undefined;
  readonly run: (cx: EachCx<O, never>, item: never, needed: never) => Promise<unknown>;
  /** Takes back what `run` did for a key that is no longer asked for. Must tolerate that it never ran. */
  readonly undo: ((cx: Cx<O>, name: string) => Promise<void>) | undefined;
}

export interface Keyed {
  readonly name: string;
}

type Needs<O extends Managed> = Readonly<Record<string, Row<O, unknown>>>;
type Values<N> = { readonly [K in keyof N]: N[K] extends Row<infer _O, infer T> ? T : never };

interface Declared {
  manages?: readonly Resource[];
  reads?: readonly Resource[];
}
interface Always<O extends Managed, N extends Needs<O>, T> extends Declared {
  needs?: N;
  uses?: readonly Row<O, unknown>[];
  run(cx: Cx<O>, needed: Values<N>): Promise<T>;
  undo?(cx: Cx<O>): Promise<void>;
  aside?: boolean;
}
interface Sometimes<O extends Managed, N extends Needs<O>, T> extends Always<O, N, T> {
  when(object: DeepReadonly<O>): boolean;
  off?(cx: Cx<O>): Promise<void>;
}

interface RowOf<O extends Managed> {
  // biome-ignore lint/complexity/noBannedTypes: the empty record of needs
  <T, N extends Needs<O> = {}>(type: string, row: Sometimes<O, N, T>): Row<O, T | undefined>;
  // biome-ignore lint/complexity/noBannedTypes: the empty record of needs
  <T, N extends Needs<O> = {}>(type: string, row: Always<O, N, T>): Row<O, T>;
  /**
   * One row per key. Its condition is the worst of them, and its value is what can be used so far: those who need it
   * go on with a part, once `first` is in it. One broken key holds nobody.
   */
  // biome-ignore lint/complexity/noBannedTypes: the empty record of needs
  each<I extends Keyed, T, N extends Needs<O> = {}>(
    type: string,
    row: PerKey<O, N, I, T>,
  ): Row<O, ReadonlyMap<string, T>>;
}

interface PerKey<O extends Managed, N extends Needs<O>, I extends Keyed, T> extends Declared {
  needs?: N;
  uses?: readonly Row<O, unknown>[];
  over(object: DeepReadonly<O>): readonly I[];
  first?: string;
  status?: string;
  run(cx: EachCx<O, T>, item: I, needed: Values<N>): Promise<T>;
  undo?(cx: Cx<O>, name: string): Promise<void>;
}

/** `row(type, {...})` and `row.each(type, {...})` for objects of one kind. */
export function rowsOf<O extends Managed>(): RowOf<O> {
  const one = (
    type: string,
    row: Always<O, Needs<O>, unknown> & Partial<Pick<Sometimes<O, Needs<O>, unknown>, 'when' | 'off'>>,
  ): Row<O, unknown> => ({
    type,
    needs: row.needs ?? {},
    uses: row.uses ?? [],
    when: row.when,
    run: row.run as Row<O, never>['run'],
    undo: row.undo,
    off: row.off,
    aside: row.aside ?? false,
    manages: row.manages ?? [],
    reads: row.reads ?? [],
  });
  const each = (type: string, row: PerKey<O, Needs<O>, never, unknown>): Row<O, unknown> => ({
    type,
    needs: row.needs ?? {},
    uses: row.uses ?? [],
    when: undefined,
    run: () => Promise.reject(new Error(`${type} runs key by key`)),
    undo: undefined,
    off: undefined,
    aside: false,
    manages: row.manages ?? [],
    reads: row.reads ?? [],
    each: { over: row.over, first: row.first, status: row.status, run: row.run as Each<O>['run'], undo: row.undo },
  });
  return Object.assign(one, { each }) as RowOf<O>;
}

/** What the variable of a row is called: its condition without `Ready`, `databaseSync` for DatabaseSyncReady. */
export const rowName = (type: string): string =>
  type.replace(/(?<=.)Ready$/, '').replace(/^[A-Z]+(?=[A-Z][a-z])|^[A-Z]+$|^[A-Z]/, capitals => capitals.toLowerCase());

export interface Plan<O extends Managed = Managed> {
  readonly kind: Resource;
  /** Each after everything it needs. */
  readonly rows: readonly Row<O, unknown>[];
  /** What its rows write. */
  readonly manages: readonly Resource[];
  /** What its rows read, and who names it. */
  readonly reads: readonly Resource[];
  /** Objects that name this one, as `Keystone keystone`: its deletion waits for them. */
  readonly users: ((cx: Cx<O>) => readonly string[]) | undefined;
  /** It has state outside of Kubernetes that no watch shows, so it looks again from time to time (rule 13). */
  readonly external: boolean;
  readonly version?: Version;
  readonly guard?: Guard;
}

/** What an object may not ask for, whatever its schema says. */
export interface Guard<O extends Managed = Managed> {
  /** The condition that tells of a refusal; there is none otherwise. */
  readonly type: string;
  /** Asked before any row: why none of them may run now. What runs stays as it is. */
  readonly refuse: (object: DeepReadonly<O>, env: Readonly<Record<string, string | undefined>>) => Unmet | undefined;
}

/** What an object may not become while it runs, and what it runs. */
export interface Version<O extends Managed = Managed> {
  /** The condition that tells of a refusal; there is none otherwise. */
  readonly type: string;
  /** What runs now; undefined while nothing does. */
  readonly running: (object: DeepReadonly<O>) => string | undefined;
  /**
   * Asked before any row: why none of them may run now. What runs stays as it is. `kept`: the version of the data that an
   * earlier object of this name left behind; only where nothing runs yet.
   */
  readonly refuse: (object: DeepReadonly<O>, kept: string | undefined) => Unmet | undefined;
  /** Whether its data stays when the object is deleted. */
  readonly keepsData: (object: DeepReadonly<O>) => boolean;
  /** The row that proves that what the spec asks for runs; where a plan has no such row, or it is off, all of them. */
  readonly proof: string;
  /** Fields of status, once that is proved. */
  readonly proved: (object: DeepReadonly<O>) => Readonly<Record<string, unknown>>;
}

/** Objects that name this one, and where to look for them. */
export interface Users<O extends Managed> {
  readonly reads: readonly Resource[];
  readonly list: (cx: Cx<O>) => readonly string[];
}

export interface PlanOptions<O extends Managed = Managed> {
  readonly users?: Users<O>;
  readonly external?: boolean;
}

/** Collects the rows and everything they need, in an order in which each comes after its needs. */
export function plan<O extends Managed>(
  kind: Resource,
  rows: Readonly<Record<string, Row<O, unknown>>>,
  options: PlanOptions<O> = {},
): Plan<O> {
  const ordered: Row<O, unknown>[] = [];
  const visit = (row: Row<O, unknown>): void => {
    if (ordered.includes(row)) return;
    for (const need of [...Object.values(row.needs), ...row.uses]) visit(need);
    const twin = ordered.find(other => other.type === row.type);
    if (twin) throw new Error(`Plan of ${kind.kind} has two rows of type ${row.type}`);
    ordered.push(row);
  };
  for (const row of Object.values(rows)) visit(row);
  return {
    kind,
    rows: ordered,
    manages: distinct(ordered.flatMap(row => row.manages)),
    reads: distinct([...ordered.flatMap(row => row.reads), ...(options.users?.reads ?? [])]),
    users: options.users?.list,
    external: options.external ?? false,
  };
}

const distinct = (resources: readonly Resource[]): readonly Resource[] => [
  ...new Map(resources.map(each => [resourceName(each), each])).values(),
];
