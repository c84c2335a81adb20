/**
 * Sets of field paths as managedFields stores them (structured-merge-diff, package fieldpath).
 * A path element is its serialised form: `f:name`, `k:{"name":"x"}`, `v:"x"`, `i:0`; equal elements have equal strings.
 */

type Json = Record<string, unknown>;

/** A member is a path of the set itself; children are longer paths. A node without either does not exist. */
interface Node {
  member: boolean;
  children: FieldSet | undefined;
}

/** Go's encoding/json escapes what HTML could misread, also inside the keys of fieldsV1. */
const HTML = /[<>&\u2028\u2029]/g;
const escapeHtml = (text: string): string =>
  text.search(HTML) < 0 ? text : text.replace(HTML, c => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** JSON as Go writes it: keys sorted by the caller, HTML escaped. */
export const goJson = (value: unknown): string => escapeHtml(JSON.stringify(value));

export const fieldElement = (name: string): string => `f:${name}`;
export const valueElement = (value: unknown): string => `v:${goJson(value)}`;
export function keyElement(keys: [string, unknown][]): string {
  keys.sort((a, b) => compareText(a[0], b[0]));
  return `k:{${keys.map(([name, value]) => `${goJson(name)}:${goJson(value)}`).join(',')}}`;
}

export class FieldSet {
  readonly nodes = new Map<string, Node>();

  static of(...paths: readonly (readonly string[])[]): FieldSet {
    const set = new FieldSet();
    for (const path of paths) set.insert(path);
    return set;
  }

  get empty(): boolean {
    return this.nodes.size === 0;
  }

  /** Only for sets under construction: finished sets share their children. */
  insert(path: readonly string[]): void {
    let set: FieldSet = this;
    for (const [i, element] of path.entries()) {
      let node = set.nodes.get(element);
      if (node === undefined) {
        node = { member: false, children: undefined };
        set.nodes.set(element, node);
      }
      if (i === path.length - 1) node.member = true;
      else {
        node.children ??= new FieldSet();
        set = node.children;
      }
    }
  }

  /** Only for sets under construction. A node that is nothing is left out. */
  put(element: string, member: boolean, children: FieldSet | undefined): void {
    const kept = children?.empty === false ? children : undefined;
    if (member || kept !== undefined) this.nodes.set(element, { member, children: kept });
  }

  has(element: string): boolean {
    return this.nodes.get(element)?.member === true;
  }

  under(element: string): FieldSet | undefined {
    return this.nodes.get(element)?.children;
  }

  union(other: FieldSet): FieldSet {
    if (other.empty) return this;
    if (this.empty) return other;
    const out = new FieldSet();
    for (const [element, a] of this.nodes) {
      const b = other.nodes.get(element);
      const children = b?.children === undefined ? a.children : (a.children?.union(b.children) ?? b.children);
      out.put(element, a.member || b?.member === true, children);
    }
    for (const [element, b] of other.nodes) if (!this.nodes.has(element)) out.nodes.set(element, b);
    return out;
  }

  intersection(other: FieldSet): FieldSet {
    const out = new FieldSet();
    for (const [element, a] of this.nodes) {
      const b = other.nodes.get(element);
      if (b === undefined) continue;
      const children = a.children && b.children ? a.children.intersection(b.children) : undefined;
      out.put(element, a.member && b.member, children);
    }
    return out;
  }

  difference(other: FieldSet): FieldSet {
    if (other.empty) return this;
    const out = new FieldSet();
    for (const [element, a] of this.nodes) {
      const b = other.nodes.get(element);
      const children = b?.children === undefined ? a.children : a.children?.difference(b.children);
      out.put(element, a.member && b?.member !== true, children);
    }
    return out;
  }

  /** Removes the members of `other` together with everything below them. */
  without(other: FieldSet): FieldSet {
    if (other.empty) return this;
    const out = new FieldSet();
    for (const [element, a] of this.nodes) {
      const b = other.nodes.get(element);
      if (b?.member === true) continue;
      out.put(element, a.member, b?.children === undefined ? a.children : a.children?.without(b.children));
    }
    return out;
  }

  /** Paths in upstream's order: the members of a level before what is below them. */
  *paths(prefix: readonly string[] = []): Generator<readonly string[]> {
    const sorted = [...this.nodes.keys()].sort(compareElements);
    for (const element of sorted) if (this.has(element)) yield [...prefix, element];
    for (const element of sorted) yield* this.under(element)?.paths([...prefix, element]) ?? [];
  }

  toFieldsV1(self = false): Json {
    const out: Json = self ? { '.': {} } : {};
    for (const element of [...this.nodes.keys()].sort(compareElements)) {
      const node = this.nodes.get(element)!;
      out[element] = node.children === undefined ? {} : node.children.toFieldsV1(node.member);
    }
    return out;
  }

  static fromFieldsV1(fields: unknown): FieldSet {
    return read(fields).set ?? new FieldSet();
  }
}

function read(fields: unknown): { set: FieldSet | undefined; member: boolean } {
  if (fields === null || fields === undefined) return { set: undefined, member: true };
  if (typeof fields !== 'object' || Array.isArray(fields)) throw new Error('expected an object of fields');
  let set: FieldSet | undefined;
  let member = false;
  for (const [key, value] of Object.entries(fields)) {
    if (key === '.') {
      member = true;
      continue;
    }
    const element = parseElement(key);
    if (element === undefined) continue;
    const below = read(value);
    set ??= new FieldSet();
    set.nodes.set(element, { member: below.member, children: below.set });
  }
  return { set, member: member || set === undefined };
}

/** undefined: a kind of element this version does not know, which upstream ignores. */
function parseElement(key: string): string | undefined {
  if (key.length < 2) throw new Error('key must be 2 characters long:');
  if (key[1] !== ':') throw new Error(`missing colon: ${key}`);
  const text = key.slice(2);
  switch (key[0]) {
    case 'f':
      return key;
    case 'v':
      return valueElement(JSON.parse(text));
    case 'k':
      return keyElement(Object.entries(JSON.parse(text) as Json));
    case 'i':
      if (!/^[+-]?\d+$/.test(text)) throw new Error(`parsing ${JSON.stringify(text)}: invalid syntax`);
      return `i:${Number(text)}`;
    default:
      return undefined;
  }
}

/**
 * Human form of a path, as conflicts and validation errors show it: `.spec.containers[name="a"].image`.
 * Limit: keys of a million and more, read back from managedFields, are floats upstream and shown as 1e+06.
 */
export const pathText = (path: readonly string[]): string => path.map(elementText).join('');

export function elementText(element: string): string {
  const text = element.slice(2);
  if (element.startsWith('f:')) return `.${text}`;
  if (element.startsWith('v:')) return `[=${JSON.stringify(JSON.parse(text))}]`;
  if (element.startsWith('i:')) return `[${text}]`;
  return `[${Object.entries(JSON.parse(text) as Json)
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(',')}]`;
}

/** UTF-16 order; it differs from Go's byte order only between surrogate pairs and U+E000-U+FFFF. */
export const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const KINDS = 'fkvi';

export function compareElements(a: string, b: string): number {
  if (a === b) return 0;
  if (a[0] !== b[0]) return KINDS.indexOf(a[0]!) - KINDS.indexOf(b[0]!);
  const [x, y] = [a.slice(2), b.slice(2)];
  if (a.startsWith('f:')) return compareText(x, y);
  if (a.startsWith('i:')) return Number(x) - Number(y);
  if (a.startsWith('v:')) return compareScalars(JSON.parse(x), JSON.parse(y));
  const [p, q] = [Object.entries(JSON.parse(x) as Json), Object.entries(JSON.parse(y) as Json)];
  for (let i = 0; i < p.length && i < q.length; i++) {
    const order = compareText(p[i]![0], q[i]![0]) || compareScalars(p[i]![1], q[i]![1]);
    if (order !== 0) return order;
  }
  return p.length - q.length;
}

const RANK = ['number', 'string', 'boolean', 'object'];

function compareScalars(a: unknown, b: unknown): number {
  if (typeof a !== typeof b) return RANK.indexOf(typeof a) - RANK.indexOf(typeof b);
  if (typeof a === 'number' || typeof a === 'boolean') return Number(a) - Number(b);
  return compareText(goJson(a), goJson(b));
}
