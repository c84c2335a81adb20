import { describe, expect, it } from 'vitest';
import type { AnyObject } from '../../kube/object.ts';
import { duration } from '../kubectl/columns.ts';
import { jsonPath } from '../kubectl/table.ts';
import { canonical } from './common/quantity.ts';
import { fieldSelector, labelSelector } from './common/selectors.ts';
import { DecodeError, decode } from './common/types.ts';
import { strategicMerge } from './strategic.ts';

const labelled = (labels: Record<string, string>) => ({ metadata: { name: 'a', labels } }) as AnyObject;

describe('labelSelector', () => {
  it.each([
    ['a=b', { a: 'b' }, true],
    ['a==b', { a: 'c' }, false],
    ['a!=b', {}, true],
    ['a in (b, c)', { a: 'c' }, true],
    ['a notin (b,c)', { a: 'b' }, false],
    ['a notin (b,c)', {}, true],
    ['a', { a: '' }, true],
    ['!a', { a: '' }, false],
    ['a=b,c in (d,e),!f', { a: 'b', c: 'e' }, true],
    ['a=b,c in (d,e),!f', { a: 'b', c: 'e', f: '' }, false],
    ['example.com/x=y', { 'example.com/x': 'y' }, true],
  ])('%s on %j is %s', (selector, labels, expected) => {
    expect(labelSelector(selector)?.(labelled(labels as Record<string, string>))).toBe(expected);
  });
});

describe('fieldSelector', () => {
  const pod = { metadata: { name: 'p' }, spec: { nodeName: 'n' } } as unknown as AnyObject;
  it.each([
    ['metadata.name=p', true],
    ['metadata.name!=p', false],
    ['spec.nodeName=n,metadata.name=p', true],
    ['spec.hostNetwork=false', true],
    ['status.phase=Running', false],
  ])('%s is %s', (selector, expected) => {
    expect(fieldSelector(selector, 'Pod', undefined)?.(pod)).toBe(expected);
  });
  it('refuses a field that the kind does not offer', () => {
    expect(() => fieldSelector('spec.replicas=1', 'Deployment', undefined)).toThrow('is not a known field selector');
  });
});

describe('canonical', () => {
  it.each([
    ['0.5', '500m'],
    ['1000m', '1'],
    ['1024Mi', '1Gi'],
    ['1500Mi', '1500Mi'],
    ['1.5Gi', '1536Mi'],
    ['100000k', '100M'],
    ['1e3', '1e3'],
    ['0', '0'],
    ['512', '512'],
    ['0.0001', '1m'],
    ['-2000m', '-2'],
  ])('%s is %s', (text, expected) => expect(canonical(text)).toBe(expected));
  it.each(['', 'lots', '1 Gi', '1Zi', '.'])('refuses %j', text => expect(() => canonical(text)).toThrow());
});

describe('decode', () => {
  it('drops and names unknown fields, leaves zero values out, keeps what Go always writes', () => {
    const unknown: string[] = [];
    const got = decode(
      'core/v1.Pod',
      {
        metadata: { labels: {} },
        spec: {
          hostNetwork: false,
          containers: [{ name: 'c', imge: 'x', resources: { limits: { cpu: '0.1' } } }],
          foo: 1,
        },
      },
      unknown,
    );
    expect(unknown.sort()).toEqual(['spec.containers[0].imge', 'spec.foo']);
    expect(got).toEqual({
      metadata: {},
      spec: { containers: [{ name: 'c', resources: { limits: { cpu: '100m' } } }] },
      status: {},
    });
  });
  it.each([
    [
      'apps/v1.Deployment',
      { spec: { replicas: 'two' } },
      'cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32',
    ],
    [
      'core/v1.ConfigMap',
      { data: { a: 1 } },
      'cannot unmarshal number into Go struct field ConfigMap.data of type string',
    ],
    ['core/v1.ConfigMap', { data: [] }, 'of type map[string]string'],
    ['core/v1.Secret', { data: { a: '*' } }, 'illegal base64 data at input byte 0'],
    ['coordination/v1.Lease', { spec: { renewTime: '2026-01-05T08:00:00Z' } }, 'parsing time "2026-01-05T08:00:00Z"'],
  ])('refuses %s %j', (struct, value, message) => {
    expect(() => decode(struct, value, [])).toThrow(DecodeError);
    expect(() => decode(struct, value, [])).toThrow(message);
  });
});

describe('strategicMerge', () => {
  const pod = (...containers: object[]) => ({ spec: { containers } });
  it('merges lists by key and obeys $patch', () => {
    const live = pod({ name: 'a', image: 'x', env: [{ name: 'A', value: '1' }] }, { name: 'b', image: 'y' });
    expect(
      strategicMerge(
        'core/v1.Pod',
        live,
        pod({ name: 'a', env: [{ name: 'B', value: '2' }] }, { name: 'b', $patch: 'delete' }),
      ),
    ).toEqual(
      pod({
        name: 'a',
        image: 'x',
        env: [
          { name: 'B', value: '2' },
          { name: 'A', value: '1' },
        ],
      }),
    );
  });
  it('replaces lists without a key, and null deletes', () => {
    const live = pod({ name: 'a', command: ['x', 'y'], image: 'i' });
    expect(strategicMerge('core/v1.Pod', live, pod({ name: 'a', command: ['z'], image: null }))).toEqual(
      pod({ name: 'a', command: ['z'] }),
    );
  });
});

describe('tables', () => {
  it.each([
    [59_000, '59s'],
    [125_000, '2m5s'],
    [600_000, '10m'],
    [3 * 3_600_000 + 60_000, '3h1m'],
    [50 * 3_600_000, '2d2h'],
    [400 * 86_400_000, '400d'],
  ])('%i ms are %s', (ms, text) => expect(duration(ms)).toBe(text));
  it.each([
    ['.spec.size', 3],
    [".status.conditions[?(@.type=='Ready')].status", 'True'],
    ['.status.conditions[0].type', 'Other'],
    ['.metadata.annotations.example\\.com/x', 'y'],
    ['.nothing.here', undefined],
  ])('%s is %s', (path, expected) => {
    const object = {
      metadata: { annotations: { 'example.com/x': 'y' } },
      spec: { size: 3 },
      status: { conditions: [{ type: 'Other' }, { type: 'Ready', status: 'True' }] },
    };
    expect(jsonPath(object, path)).toBe(expected);
  });
});
