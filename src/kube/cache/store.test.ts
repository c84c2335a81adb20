import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { configMap } from '../../../test/unit/kube.ts';
import { type AnyObject, keyOf, refOf } from '../object.ts';
import { Store } from './store.ts';

const make = (name: string, version: number, colours: string[], uid = 'u'): AnyObject => {
  const object = configMap(name, version, { colours });
  return { ...object, metadata: { ...object.metadata, uid: `${uid}-${name}` } };
};
const byKey = (objects: readonly AnyObject[]) => new Map(objects.map(object => [keyOf(refOf(object)), object]));
const colours = (object: AnyObject) => object.colours as string[];

describe('indexes', () => {
  it('16: an object that leaves an index value drops the empty set, and others stay', () => {
    const store = new Store();
    store.addIndex('colour', colours);
    store.put(make('a', 1, ['red', 'blue']));
    store.put(make('b', 2, ['red']));
    expect(store.indexSize('colour')).toBe(2);
    store.put(make('a', 3, ['red']));
    expect([store.indexSize('colour'), store.byIndex('colour', 'blue'), store.byIndex('colour', 'red').length]).toEqual(
      [1, [], 2],
    );
    store.remove(make('a', 4, []));
    store.remove(make('b', 5, []));
    expect([store.indexSize('colour'), store.indexSize('namespace'), store.size]).toEqual([0, 0, 0]);
  });

  it('always agree with a search through all objects', () => {
    const colour = fc.subarray(['red', 'green', 'blue']);
    const name = fc.constantFrom('a', 'b', 'c', 'd');
    const put = fc.record({ is: fc.constant('put' as const), name, colour, uid: fc.constantFrom('u', 'v') });
    const remove = fc.record({ is: fc.constant('remove' as const), name, uid: fc.constantFrom('u', 'v') });
    const replace = fc.record({ is: fc.constant('replace' as const), names: fc.uniqueArray(name), colour });
    fc.assert(
      fc.property(fc.array(fc.oneof(put, remove, replace), { maxLength: 40 }), fc.nat(40), (actions, late) => {
        const store = new Store();
        /** What a listener knows from the changes alone. */
        const believed = new Map<string, AnyObject>();
        actions.forEach((action, i) => {
          if (i === late) store.addIndex('colour', colours);
          const changes =
            action.is === 'put'
              ? store.put(make(action.name, i + 1, action.colour, action.uid))
              : action.is === 'remove'
                ? store.remove(make(action.name, i + 1, [], action.uid))
                : store.replace(byKey(action.names.map(name => make(name, i + 1, action.colour))));
          for (const change of changes) {
            const object = change.is === 'updated' ? change.after : change.object;
            const key = keyOf(refOf(object));
            if (change.is === 'added') expect(believed.has(key)).toBe(false);
            else expect(believed.get(key)?.metadata.uid).toBe(object.metadata.uid);
            if (change.is === 'deleted') believed.delete(key);
            else believed.set(key, object);
          }
        });
        if (late >= actions.length) store.addIndex('colour', colours);
        expect(new Map(store.all().map(object => [keyOf(refOf(object)), object]))).toEqual(believed);
        for (const value of ['red', 'green', 'blue']) {
          const expected = store.all().filter(object => colours(object).includes(value));
          expect(new Set(store.byIndex('colour', value))).toEqual(new Set(expected));
        }
        const inUse = new Set(store.all().flatMap(colours));
        expect(store.indexSize('colour')).toBe(inUse.size);
      }),
    );
  });

  it('a first list is taken over without asking any object for its key again', () => {
    const store = new Store();
    store.addIndex('colour', colours);
    // An object whose name can't be read: what makes a key of it, or sweeps, throws.
    const sealed = (object: AnyObject): AnyObject => ({
      ...object,
      metadata: Object.defineProperty({ ...object.metadata }, 'name', {
        get: () => {
          throw new Error('the key was made again');
        },
      }),
    });
    const first = new Map([
      ['default/a', sealed(make('a', 1, ['red']))],
      ['default/b', sealed(make('b', 2, ['blue']))],
    ]);
    expect(store.replace(first).map(change => change.is)).toEqual(['added', 'added']);
    expect([store.size, store.byIndex('colour', 'red').length, store.inNamespace('default').length]).toEqual([2, 1, 2]);
  });

  it('a second list of one namespace removes what it lacks there, and nothing elsewhere', () => {
    const store = new Store();
    const elsewhere = { ...make('a', 3, []), metadata: { ...make('a', 3, []).metadata, namespace: 'other' } };
    store.replace(byKey([make('a', 1, []), make('b', 2, []), elsewhere]));
    const changes = store.replace(byKey([make('b', 4, []), make('c', 5, [])]), 'default');
    expect(changes.map(change => change.is)).toEqual(['updated', 'added', 'deleted']);
    expect(
      store
        .all()
        .map(object => keyOf(refOf(object)))
        .sort(),
    ).toEqual(['default/b', 'default/c', 'other/a']);
  });

  it('a late deletion of the former object does not remove its successor', () => {
    const store = new Store();
    store.put(make('a', 5, [], 'new'));
    expect(store.remove(make('a', 4, [], 'old'))).toEqual([]);
    expect(store.size).toBe(1);
  });
});
