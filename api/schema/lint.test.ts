import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { cel, list, listMap, map, open, quantity, text, textOrMap } from './helpers.ts';
import { lint } from './lint.ts';
import { type StructuralSchema, structural } from './structural.ts';

const object = (properties: Record<string, StructuralSchema>): StructuralSchema => ({ type: 'object', properties });
const untyped = (schema: object) => schema as StructuralSchema;

describe('lint finds what the API server refuses', () => {
  const cases: [string, StructuralSchema, RegExp][] = [
    ['a missing type', object({ a: {} }), /\.a: type undefined/],
    ['a list of types', object({ a: untyped({ type: ['string', 'null'] }) }), /\.a: type/],
    ['a reference', object({ a: untyped({ type: 'string', $ref: '#/x' }) }), /\$ref is not structural/],
    ['a union', structural(z.strictObject({ a: z.union([z.string(), z.boolean()]) })), /anyOf is not structural/],
    ['a number as exclusive bound', structural(z.strictObject({ a: z.number().gt(1) })), /exclusiveMinimum/],
    ['a list without a list-type', object({ a: { type: 'array', items: { type: 'string' } } }), /say the list-type/],
    ['a list without items', object({ a: { type: 'array', 'x-kubernetes-list-type': 'atomic' } }), /without items/],
    [
      'a map list whose key is optional',
      structural(z.strictObject({ a: listMap(z.strictObject({ name: z.string().optional() }), ['name'], 'A.') })),
      /neither required nor defaulted/,
    ],
    [
      'a map list whose key does not exist',
      structural(z.strictObject({ a: listMap(z.strictObject({ name: z.string() }), ['id'], 'A.') })),
      /no field of the item/,
    ],
    [
      'properties beside additionalProperties',
      { ...object({ a: { type: 'string' } }), additionalProperties: { type: 'string' } },
      /exclude each other/,
    ],
    ['a required field that is not there', { ...object({}), required: ['b'] }, /requires b/],
    [
      'a rule that walks an unbounded map',
      {
        type: 'object',
        additionalProperties: { type: 'string' },
        'x-kubernetes-validations': [{ rule: 'self.all(k, true)', message: 'm' }],
      },
      /unbounded/,
    ],
  ];
  it.each(cases)('%s', (_, schema, message) => {
    expect(lint(schema).join('\n')).toMatch(message);
  });
});

describe('helpers give structural schemas', () => {
  it('for everything that zod itself does not', () => {
    const schema = structural(
      z.strictObject({
        amount: quantity('Amount.').optional(),
        anything: open('Anything.').optional(),
        vars: textOrMap('Variables.').default({}),
        labels: cel(map(z.string(), 'Labels.'), "self.all(k, k != '')", 'no empty keys').optional(),
        when: z.iso.datetime().optional(),
        names: list(text('Name.'), 'Names.').optional(),
      }),
    );
    expect(lint(schema)).toEqual([]);
    expect(schema.properties).toMatchObject({
      amount: { 'x-kubernetes-int-or-string': true, description: 'Amount.' },
      anything: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      labels: { type: 'object', additionalProperties: { type: 'string' }, maxProperties: 256 },
      when: { type: 'string', format: 'date-time' },
    });
    expect(schema.properties?.vars).toEqual({
      description: 'Variables.',
      default: {},
      'x-kubernetes-preserve-unknown-fields': true,
    });
  });
});
