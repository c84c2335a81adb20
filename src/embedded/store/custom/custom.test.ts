import { describe, expect, it } from 'vitest';
import type { AnyObject } from '../../../kube/object.ts';
import type { CustomVersion } from '../common/resources.ts';
import { decodeCustom } from './decode.ts';
import type { Schema } from './schema.ts';
import { customCreateErrors, customUpdateErrors } from './validate.ts';

const version = (spec: Schema): CustomVersion => ({
  name: 'v1',
  schema: { type: 'object', properties: { spec } } as Record<string, unknown>,
  preserveUnknown: false,
  columns: [],
  selectable: [],
});
const object = (spec: unknown) =>
  ({ apiVersion: 'x/v1', kind: 'X', metadata: { name: 'x' }, spec }) as unknown as AnyObject;
const texts = (errors: { field: string; message: string }[]) => errors.map(e => `${e.field}: ${e.message}`);

describe('decodeCustom', () => {
  it('prunes, drops forbidden nulls and defaults, the nested ones too', () => {
    const v = version({
      type: 'object',
      properties: {
        a: { type: 'integer', default: 1 },
        b: { type: 'string' },
        c: { type: 'string', nullable: true },
        d: { type: 'object', default: {}, properties: { e: { type: 'integer', default: 2 } } },
        open: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      },
    });
    const unknown: string[] = [];
    const got = decodeCustom(
      v,
      { apiVersion: 'x/v1', kind: 'X', metadata: { name: 'x' }, spec: { b: null, c: null, z: 1, open: { any: 1 } } },
      unknown,
    );
    expect(unknown).toEqual(['spec.z']);
    expect(got.spec).toEqual({ a: 1, c: null, d: { e: 2 }, open: { any: 1 } });
  });
});

describe('rules', () => {
  const rule = (text: string, schema: Partial<Schema> = {}) =>
    version({
      type: 'object',
      properties: {
        n: { type: 'integer' },
        f: { type: 'number' },
        s: { type: 'string' },
        'x-y': { type: 'string' },
        l: { type: 'array', items: { type: 'string' } },
        m: { type: 'object', additionalProperties: { type: 'string' } },
      },
      'x-kubernetes-validations': [{ rule: text }],
      ...schema,
    });

  it.each([
    ['self.n + 1 > 2', { n: 2 }, true],
    ['self.f < 2.0', { f: 1 }, true],
    ['!has(self.s) || self.s.matches("^a+$")', { s: 'aab' }, false],
    ['size(self.l) == self.l.map(x, x).size()', { l: ['a'] }, true],
    ["self.l.all(x, x in ['a', 'b'])", { l: ['a', 'c'] }, false],
    ["self.m.all(k, k.startsWith('c'))", { m: { cell0: '' } }, true],
    ["self.m.exists(k, self.m[k] == 'on')", { m: { a: 'off' } }, false],
    ["self.x__dash__y == 'v'", { 'x-y': 'v' }, true],
    ["isQuantity('1Gi') && quantity('1Gi').isGreaterThan(quantity('1G'))", {}, true],
  ])('%s on %j holds: %s', (text, spec, expected) => {
    expect(customCreateErrors(rule(text), object(spec)).length === 0).toBe(expected);
  });

  it('a transition rule is not asked on creation, and judges an update', () => {
    const v = version({
      type: 'object',
      properties: {
        s: { type: 'string', 'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'fixed' }] },
      },
    });
    expect(customCreateErrors(v, object({ s: 'a' }))).toEqual([]);
    expect(texts(customUpdateErrors(v, object({ s: 'b' }), object({ s: 'a' })))).toEqual([
      'spec.s: Invalid value: "b": fixed',
    ]);
  });

  it('items of a list map meet their former selves by key', () => {
    const v = version({
      type: 'object',
      properties: {
        list: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
          items: {
            type: 'object',
            properties: {
              name: { type: 'string' },
              v: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self >= oldSelf' }] },
            },
          },
        },
      },
    });
    const before = object({
      list: [
        { name: 'a', v: 1 },
        { name: 'b', v: 5 },
      ],
    });
    expect(
      customUpdateErrors(
        v,
        object({
          list: [
            { name: 'b', v: 6 },
            { name: 'a', v: 1 },
          ],
        }),
        before,
      ),
    ).toEqual([]);
    expect(texts(customUpdateErrors(v, object({ list: [{ name: 'b', v: 4 }] }), before))).toEqual([
      'spec.list[0].v: Invalid value: 4: failed rule: self >= oldSelf',
    ]);
  });

  it('ratcheting: what an update leaves alone is not judged again', () => {
    const v = version({ type: 'object', properties: { a: { type: 'integer', maximum: 5 }, b: { type: 'integer' } } });
    expect(customUpdateErrors(v, object({ a: 9, b: 2 }), object({ a: 9, b: 1 }))).toEqual([]);
    expect(texts(customUpdateErrors(v, object({ a: 10, b: 2 }), object({ a: 9, b: 1 })))).toEqual([
      'spec.a: Invalid value: 10: spec.a in body should be less than or equal to 5',
    ]);
  });
});
