import { resetFieldsOf, resetFieldsOfCustom } from '../../../src/embedded/apply/apply.ts';
import { type TypeNode, typeOfBuiltin, typeOfCrd } from '../../../src/embedded/apply/types.ts';
import { Generator, type Json, type Random } from './generate.ts';
import type { Answer, Request } from './oracle.ts';
import { builtinKinds, customKinds } from './schemas.ts';

export const kinds = [...builtinKinds, ...Object.keys(customKinds), ...Object.keys(customKinds)];

const types = new Map<string, TypeNode>();

export function typeOf(kind: string): TypeNode {
  let type = types.get(kind);
  if (type === undefined) {
    const { apiVersion, name } = split(kind);
    const schema = customKinds[kind];
    type = schema ? typeOfCrd(schema) : typeOfBuiltin(apiVersion, name);
    if (type === undefined) throw new Error(`${kind} is not in builtins.json`);
    types.set(kind, type);
  }
  return type;
}

function split(kind: string): { apiVersion: string; name: string } {
  const slash = kind.lastIndexOf('/');
  return { apiVersion: kind.slice(0, slash), name: kind.slice(slash + 1) };
}

/** No server ever writes ownership of these, and upstream fails in its own way when it meets it. */
const UNOWNED = ['apiVersion', 'kind', 'managedFields'];
const ANNOTATION = 'kubectl.kubernetes.io/last-applied-configuration';
const isMap = (v: unknown): v is Json => typeof v === 'object' && v !== null && !Array.isArray(v);

/** The life of one object under several managers: each step is a request on what the step before left. */
export class Story {
  readonly kind: string;
  private readonly random: Random;
  private readonly draw: Generator;
  private readonly type: TypeNode;
  private readonly bodies = new Map<string, Json>();
  /** Many updaters, more than managedFields keeps. */
  private readonly busy: boolean;
  private live: Json | null = null;
  private now = 1_700_000_000;

  constructor(kind: string, random: Random) {
    this.kind = kind;
    this.random = random;
    this.draw = new Generator(random);
    this.type = typeOf(kind);
    this.busy = random.chance(0.15);
  }

  next(): Request {
    const { random, kind } = this;
    const { apiVersion, name } = split(kind);
    this.now += random.pick([0, 0, 1, 5]);
    if (this.live !== null && random.chance(0.06)) this.live = this.disturb(this.live);
    const op = random.chance(this.busy ? 0.2 : 0.62) ? 'apply' : 'update';
    const subresource = this.live !== null && random.chance(0.25) ? 'status' : '';
    const reset = customKinds[kind]
      ? resetFieldsOfCustom(subresource, random.chance(0.8))
      : resetFieldsOf(apiVersion, name, subresource);
    const manager =
      op === 'apply'
        ? random.pick(['m1', 'm1', 'm2', 'm3', random.chance(0.3) ? 'kubectl' : 'm2', random.chance(0.2) ? '' : 'm3'])
        : random.chance(this.busy ? 0.9 : 0.3)
          ? `u${random.below(15)}`
          : random.pick(['u1', 'u2', 'm1', 'kubectl']);
    const body = op === 'apply' ? this.applied(manager + subresource) : this.updated();
    return {
      op,
      kind,
      live: this.live,
      new: body,
      manager,
      force: op === 'apply' && random.chance(0.45),
      subresource,
      reset,
      time: new Date(this.now * 1000).toISOString().replace('.000Z', 'Z'),
    };
  }

  settle(request: Request, answer: Answer): void {
    if (answer.object === undefined) return;
    if (request.op === 'apply') this.bodies.set(request.manager + request.subresource, request.new);
    const metadata = { ...(answer.object.metadata as Json), uid: 'uid-1', resourceVersion: String(this.now) };
    this.live = { ...answer.object, metadata };
  }

  private applied(who: string): Json {
    const { random } = this;
    const last = this.bodies.get(who);
    if (last !== undefined && random.chance(0.15)) return last;
    const body = last !== undefined && random.chance(0.6) ? this.relative(last) : this.fresh();
    return random.chance(0.04) ? this.spoil(body) : body;
  }

  private updated(): Json {
    const { random } = this;
    if (this.live === null) return this.fresh();
    // Small and apart from each other, so that all of them stay owners.
    if (this.busy && random.chance(0.85)) return { ...this.live, metadata: this.labelled(this.live.metadata as Json) };
    const body = random.chance(0.9) ? this.relative(this.live) : this.fresh();
    const metadata = { ...(body.metadata as Json) };
    const kept = (this.live.metadata as Json).managedFields;
    const choice = random.below(40);
    if (choice === 0) metadata.managedFields = [];
    else if (choice === 1) metadata.managedFields = [{}];
    else if (choice === 2) metadata.managedFields = [{ manager: 'x', operation: 'Nonsense', apiVersion: 'v1' }];
    else if (choice === 3) metadata.managedFields = [this.entry()];
    else if (choice < 8) delete metadata.managedFields;
    else if (kept !== undefined) metadata.managedFields = kept;
    if (body.spec !== undefined && random.chance(0.08)) body.spec = this.duplicated(body.spec);
    return { ...body, metadata };
  }

  private labelled(metadata: Json): Json {
    const labels = isMap(metadata.labels) ? metadata.labels : {};
    return { ...metadata, labels: { ...labels, [`k${this.random.below(40)}`]: 'v' } };
  }

  private get bodyTypes(): [string, TypeNode][] {
    const out: [string, TypeNode][] = [];
    for (const [name, field] of this.type.map!.fields)
      if (name !== 'apiVersion' && name !== 'kind' && name !== 'metadata') out.push([name, field.type]);
    if (this.type.map!.rest) out.push(['other', this.type.map!.rest]);
    return out;
  }

  private fresh(): Json {
    const { apiVersion, name } = split(this.kind);
    const out: Json = { apiVersion, kind: name, metadata: this.metadata() };
    for (const [field, type] of this.bodyTypes) if (this.random.chance(0.75)) out[field] = this.draw.value(type, 1);
    return out;
  }

  private relative(body: Json): Json {
    const out: Json = { ...body };
    for (const [field, type] of this.bodyTypes) {
      if (out[field] !== undefined) out[field] = this.draw.mutate(out[field], type, 1);
      else if (this.random.chance(0.2)) out[field] = this.draw.value(type, 1);
      if (this.random.chance(0.04)) delete out[field];
    }
    if (this.random.chance(0.3)) {
      const { labels, annotations, finalizers, ownerReferences, ...rest } = out.metadata as Json;
      out.metadata = { ...rest, ...this.metadata() };
    }
    return out;
  }

  private metadata(): Json {
    const { random, draw } = this;
    const meta = this.type.map!.fields.get('metadata')!.type.map!;
    const out: Json = { name: 'x', namespace: 'ns' };
    for (const name of ['labels', 'annotations', 'finalizers', 'ownerReferences'])
      if (random.chance(0.35)) out[name] = draw.value(meta.fields.get(name)!.type, 1);
    if (random.chance(0.05)) {
      const config = JSON.stringify({ ...(this.live ?? {}), metadata: { name: 'x', namespace: 'ns' } });
      out.annotations = { ...(isMap(out.annotations) ? out.annotations : {}), [ANNOTATION]: config };
    }
    return out;
  }

  /** One mistake a client can make. */
  private spoil(body: Json): Json {
    const { random } = this;
    const metadata = body.metadata as Json;
    switch (random.below(11)) {
      case 0:
        return { ...body, kind: 'Other' };
      case 1:
        return { ...body, apiVersion: random.pick(['v9', 'a/b/c', 'other.org/v1']) };
      case 2:
        return { ...body, metadata: { ...metadata, managedFields: random.pick<unknown>([[], [{}], null]) } };
      case 3:
        return { ...body, metadata: { ...metadata, noSuchField: random.pick<unknown>([1, 'a', {}]) } };
      case 4:
        return {
          ...body,
          metadata: { ...metadata, finalizers: random.pick<unknown>([['a', 'a'], [1], [null], [{}], 'a']) },
        };
      case 5:
        return {
          ...body,
          metadata: {
            ...metadata,
            ownerReferences: random.pick<unknown>([
              [{ uid: 'a' }, { uid: 'a' }],
              [{ name: 'a' }],
              [null],
              ['a'],
              { a: [1, 'b'] },
            ]),
          },
        };
      case 6:
        return {
          ...body,
          metadata: {
            ...metadata,
            labels: random.pick<unknown>([{ a: 1 }, { a: true }, { a: { b: [1.5, null] } }, [1], 'a']),
          },
        };
      case 8:
      case 9:
      case 10:
        return this.stranger(body) as Json;
      default:
        return { ...body, metadata: { ...metadata, generation: random.pick<unknown>(['a', true, {}, []]) } };
    }
  }

  /** One field that no schema names, somewhere. */
  private stranger(value: unknown, depth = 0): unknown {
    if (!isMap(value)) return value;
    const below = Object.keys(value).filter(name => isMap(value[name]) && name !== 'metadata');
    if (depth > 0 && (below.length === 0 || this.random.chance(0.4))) return { ...value, stranger: 1 };
    if (below.length === 0) return value;
    const name = this.random.pick(below);
    return { ...value, [name]: this.stranger(value[name], depth + 1) };
  }

  private duplicated(value: unknown): unknown {
    if (Array.isArray(value))
      return value.length > 0 && this.random.chance(0.5) ? [...value, value[0]] : value.map(v => this.duplicated(v));
    if (!isMap(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, this.duplicated(item)]));
  }

  /** What other writers, older servers and older schemas leave behind. */
  private disturb(live: Json): Json {
    const metadata = { ...(live.metadata as Json) };
    const entries = [...((metadata.managedFields as Json[] | undefined) ?? [])];
    switch (this.random.below(5)) {
      case 0:
        delete metadata.managedFields;
        return { ...live, metadata };
      case 1:
        entries.push(this.entry());
        break;
      case 2:
        entries.push({ ...this.entry(), apiVersion: 'elsewhere.org/v1' });
        break;
      case 3:
        entries.push({ ...this.entry(), time: undefined });
        break;
      default:
        return live.spec === undefined ? live : { ...live, spec: this.duplicated(live.spec) };
    }
    return { ...live, metadata: { ...metadata, managedFields: entries } };
  }

  private entry(): Json {
    const { random } = this;
    return {
      manager: random.pick(['m1', 'm2', 'old', 'u3']),
      operation: random.pick(['Apply', 'Update']),
      apiVersion: split(this.kind).apiVersion,
      time: '2023-11-14T22:13:19Z',
      fieldsType: 'FieldsV1',
      fieldsV1: random.chance(0.1) ? {} : this.fieldsV1(this.live ?? {}, 0),
      ...(random.chance(0.2) ? { subresource: 'status' } : {}),
    };
  }

  /** Ownership of existing and of vanished things, without regard to what is atomic. */
  private fieldsV1(value: unknown, depth: number): Json {
    const { random } = this;
    const out: Json = random.chance(0.3) && depth > 0 ? { '.': {} } : {};
    if (isMap(value))
      for (const [name, item] of Object.entries(value))
        if (!UNOWNED.includes(name) && random.chance(0.6)) out[`f:${name}`] = this.fieldsV1(item, depth + 1);
    if (Array.isArray(value))
      for (const [i, item] of value.entries()) {
        if (isMap(item) && typeof item.name === 'string')
          out[`k:{"name":${JSON.stringify(item.name)}}`] = this.fieldsV1(item, depth + 1);
        else if (!isMap(item) && item !== null && !Array.isArray(item) && random.chance(0.5))
          out[`v:${JSON.stringify(item)}`] = {};
        else if (random.chance(0.2)) out[`i:${i}`] = {};
      }
    if (random.chance(0.05)) out['f:gone'] = {};
    if (random.chance(0.02)) out['x:unknown'] = {};
    return out;
  }
}
