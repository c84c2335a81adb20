import type { TypeNode } from '../../../src/embedded/apply/types.ts';

export type Json = Record<string, unknown>;

/** mulberry32: small, seeded, good enough to spread cases. */
export class Random {
  private state: number;
  constructor(seed: number) {
    this.state = seed >>> 0;
  }
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let t = this.state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }
  below(n: number): number {
    return Math.floor(this.next() * n);
  }
  chance(p: number): boolean {
    return this.next() < p;
  }
  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!;
  }
}

const isMap = (v: unknown): v is Json => typeof v === 'object' && v !== null && !Array.isArray(v);

// Few values, so that managers meet: equal values, conflicts and list keys must all be frequent.
const STRINGS = ['a', 'b', 'c', 'd'];
const ODD_STRINGS = ['', '<&>', 'x y', 'ä', '"q"', '1'];
const NUMBERS = [0, 1, 2, 80, 443];
// Below a million: larger ones as list keys are the one known difference (see pathText).
const ODD_NUMBERS = [-1, 1.5, 65535];

/** Draws values of one type; each generator keeps to a few fields per object type, so that its values overlap. */
export class Generator {
  private readonly palette = new Map<TypeNode, string[]>();
  private readonly random: Random;
  constructor(random: Random) {
    this.random = random;
  }

  scalar(type: TypeNode): unknown {
    const { random } = this;
    switch (type.scalar) {
      case 'string':
        return random.pick(random.chance(0.05) ? ODD_STRINGS : STRINGS);
      case 'numeric':
        return random.pick(random.chance(0.05) ? ODD_NUMBERS : NUMBERS);
      case 'boolean':
        return random.chance(0.5);
      default:
        return random.pick<unknown>([...STRINGS, ...NUMBERS, true]);
    }
  }

  value(type: TypeNode, depth = 0): unknown {
    const { random } = this;
    if (random.chance(0.02)) return null;
    const shapes = (['scalar', 'list', 'map'] as const).filter(shape => type[shape] !== undefined);
    const shape = random.pick(shapes);
    if (shape === 'map') return this.map(type, depth);
    if (shape === 'list') return this.list(type, depth);
    return this.scalar(type);
  }

  map(type: TypeNode, depth: number): Json {
    const { random } = this;
    const map = type.map!;
    const out: Json = {};
    if (random.chance(0.05) || depth > 9) return out;
    for (const name of this.fields(type)) {
      const inner = map.fields.get(name)?.type ?? map.rest;
      if (inner !== undefined && random.chance(depth < 2 ? 0.8 : 0.55)) out[name] = this.value(inner, depth + 1);
    }
    return out;
  }

  private fields(type: TypeNode): string[] {
    const known = this.palette.get(type);
    if (known !== undefined) return known;
    const { random } = this;
    const map = type.map!;
    const names = [...map.fields.keys()];
    const chosen = new Set<string>();
    const wanted = 1 + random.below(5);
    for (let i = 0; i < wanted && names.length > 0; i++) chosen.add(random.pick(names));
    if (map.rest !== undefined) for (let i = 0; i < 3; i++) chosen.add(random.pick(['x', 'y', 'z', 'w/v']));
    const out = [...chosen];
    this.palette.set(type, out);
    return out;
  }

  list(type: TypeNode, depth: number): unknown[] {
    const { random } = this;
    const list = type.list!;
    const out: unknown[] = [];
    const length = random.chance(0.1) || depth > 9 ? 0 : random.below(4);
    const seen = new Set<string>();
    for (let i = 0; i < length; i++) {
      const item = this.item(type, depth);
      const key = list.kind === 'map' && isMap(item) ? keyOf(type, item) : JSON.stringify(item);
      if (list.kind !== 'atomic' && seen.has(key)) continue;
      seen.add(key);
      out.push(item);
    }
    return out;
  }

  item(type: TypeNode, depth: number): unknown {
    const { random } = this;
    const list = type.list!;
    if (list.kind === 'set') return this.scalar(list.items);
    if (list.kind === 'atomic') return this.value(list.items, depth + 1);
    const item = this.map(list.items, depth + 1);
    for (const key of list.keys) {
      const field = list.items.map!.fields.get(key);
      // Keys with a default may be left out; without one, at least some key is needed.
      if (field?.default !== undefined && random.chance(0.3)) delete item[key];
      else if (list.keys.length > 1 && field?.default === undefined && random.chance(0.05)) delete item[key];
      else item[key] = this.scalar(field?.type ?? { scalar: 'string' });
    }
    if (list.keys.every(key => item[key] === undefined && list.items.map!.fields.get(key)?.default === undefined))
      item[list.keys[0]!] = this.scalar(list.items.map!.fields.get(list.keys[0]!)!.type);
    return item;
  }

  /** A near relative: some fields dropped, some drawn again, lists shuffled. */
  mutate(value: unknown, type: TypeNode, depth = 0): unknown {
    const { random } = this;
    if (random.chance(0.06)) return this.value(type, depth);
    if (isMap(value) && type.map) {
      const out: Json = {};
      for (const [name, item] of Object.entries(value)) {
        const inner = type.map.fields.get(name)?.type ?? type.map.rest;
        if (inner === undefined || random.chance(0.12)) continue;
        out[name] = this.mutate(item, inner, depth + 1);
      }
      if (random.chance(0.3)) {
        const name = random.pick(this.fields(type));
        const inner = type.map.fields.get(name)?.type ?? type.map.rest;
        if (inner !== undefined) out[name] = this.value(inner, depth + 1);
      }
      return out;
    }
    if (Array.isArray(value) && type.list) {
      const out: unknown[] = [];
      for (const item of value)
        if (!random.chance(0.15)) out.push(type.list.kind === 'set' ? item : this.mutateItem(item, type, depth));
      if (random.chance(0.3)) out.splice(random.below(out.length + 1), 0, this.item(type, depth));
      if (out.length > 1 && random.chance(0.25)) out.push(out.shift());
      return type.list.kind === 'atomic' ? out : unique(out, type);
    }
    return random.chance(0.2) ? this.value(type, depth) : value;
  }

  private mutateItem(item: unknown, type: TypeNode, depth: number): unknown {
    const mutated = this.mutate(item, type.list!.items, depth + 1);
    if (type.list!.kind !== 'map' || !isMap(item)) return mutated;
    const out = isMap(mutated) ? mutated : {};
    for (const key of type.list!.keys) {
      if (item[key] === undefined) delete out[key];
      else out[key] = item[key];
    }
    return out;
  }
}

const keyOf = (type: TypeNode, item: Json): string =>
  JSON.stringify(type.list!.keys.map(key => item[key] ?? type.list!.items.map!.fields.get(key)?.default));

function unique(items: unknown[], type: TypeNode): unknown[] {
  const seen = new Set<string>();
  return items.filter(item => {
    const key = type.list!.kind === 'map' && isMap(item) ? keyOf(type, item) : JSON.stringify(item);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}
