/** Whether a value fits its type, in the words of structured-merge-diff: these reach users as error messages. */
import { elementText } from './fieldset.ts';
import { elementOf, isMap, isScalar, settle, shapeOf } from './shape.ts';
import { type Scalar, type TypeNode, typeOfField } from './types.ts';

/** Throws upstream's text for a value that does not fit its type. */
export function validate(value: unknown, type: TypeNode, allowDuplicates: boolean): void {
  // Upstream walks fields in order, which nobody sees of a value that fits: sorting waits until one does not.
  if (fits(value, type, allowDuplicates)) return;
  fail([...problems(value, type, allowDuplicates, '')]);
}

/** Whether problems() has nothing to say. */
function fits(v: unknown, type: TypeNode, allowDuplicates: boolean): boolean {
  if (v === null) return true;
  const shape = settle(type, shapeOf(type, v));
  if (shape === 'scalar') return scalarProblem(type.scalar!, v) === undefined;
  if (shape === 'map') {
    if (!isMap(v)) return false;
    for (const name of Object.keys(v)) {
      const inner = typeOfField(type.map!, name);
      if (inner === undefined || !fits(v[name], inner, allowDuplicates)) return false;
    }
    return true;
  }
  if (!Array.isArray(v)) return false;
  const list = type.list!;
  if (list.kind !== 'atomic') {
    try {
      const elements = new Set(v.map(item => elementOf(list, item)));
      if (elements.size < v.length && !allowDuplicates) return false;
    } catch {
      return false;
    }
  }
  return v.every(item => fits(item, list.items, allowDuplicates));
}

export function fail(texts: string[]): void {
  if (texts.length === 1) throw new Error(texts[0]);
  if (texts.length > 1) throw new Error(['errors:', ...texts.map(t => `  ${t}`)].join('\n'));
}

function* problems(v: unknown, type: TypeNode, allowDuplicates: boolean, path: string): Generator<string> {
  const at = path === '' ? '' : `${path}: `;
  const shape = settle(type, shapeOf(type, v));
  if (v === null) return;
  if (shape === 'scalar') {
    const wrong = scalarProblem(type.scalar!, v);
    if (wrong !== undefined) yield at + wrong;
  } else if (shape === 'map') {
    if (!isMap(v)) yield `${at}expected map, got &{${goPrint(v)}}`;
    else
      for (const name of Object.keys(v).sort()) {
        const inner = typeOfField(type.map!, name);
        if (inner !== undefined) yield* problems(v[name], inner, allowDuplicates, `${path}.${name}`);
        else return yield `${path}.${name}: field not declared in schema`;
      }
  } else if (!Array.isArray(v)) yield `${at}expected list, got &{${goPrint(v)}}`;
  else {
    const list = type.list!;
    const seen = new Set<string>();
    for (const [i, item] of v.entries()) {
      let element = `i:${i}`;
      if (list.kind !== 'atomic') {
        try {
          element = elementOf(list, item);
        } catch (error) {
          return yield `${at}element ${i}: ${(error as Error).message}`;
        }
        if (seen.has(element) && !allowDuplicates) yield `${at}duplicate entries for key ${elementText(element)}`;
        seen.add(element);
      }
      yield* problems(item, list.items, allowDuplicates, path + elementText(element));
    }
  }
}

function scalarProblem(scalar: Scalar, v: unknown): string | undefined {
  if (scalar === 'numeric' && typeof v !== 'number') return `expected numeric (int or float), got ${goType(v)}`;
  if (scalar === 'string' && typeof v !== 'string')
    return `expected string, got &value.valueUnstructured{Value:${goSyntax(v)}}`;
  if (scalar === 'boolean' && typeof v !== 'boolean') return `expected boolean, got &{${goPrint(v)}}`;
  if (scalar === 'untyped' && !isScalar(v)) return `expected any scalar, got &{${goPrint(v)}}`;
  return undefined;
}

/** Go's %v, %#v and %T of decoded JSON. */
function goPrint(v: unknown): string {
  if (v === null) return '<nil>';
  if (Array.isArray(v)) return `[${v.map(goPrint).join(' ')}]`;
  if (!isMap(v)) return String(v);
  const names = Object.keys(v).sort();
  return `map[${names.map(name => `${name}:${goPrint(v[name])}`).join(' ')}]`;
}

function goSyntax(v: unknown): string {
  if (v === null) return 'interface {}(nil)';
  if (Array.isArray(v)) return `[]interface {}{${v.map(goSyntax).join(', ')}}`;
  if (!isMap(v)) return JSON.stringify(v);
  const names = Object.keys(v).sort();
  return `map[string]interface {}{${names.map(name => `${JSON.stringify(name)}:${goSyntax(v[name])}`).join(', ')}}`;
}

function goType(v: unknown): string {
  if (Array.isArray(v)) return '[]interface {}';
  if (isMap(v)) return 'map[string]interface {}';
  return typeof v === 'boolean'
    ? 'bool'
    : typeof v === 'number'
      ? Number.isInteger(v)
        ? 'int64'
        : 'float64'
      : 'string';
}
