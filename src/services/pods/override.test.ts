import { describe, expect, it } from 'vitest';
import { merged, overriddenPod, overriddenService } from './override.ts';

describe('merged', () => {
  const cases: readonly [what: string, base: unknown, patch: unknown, result: unknown][] = [
    ['nothing', { a: 1 }, {}, { a: 1 }],
    ['a value', { a: 1, b: 2 }, { a: 3 }, { a: 3, b: 2 }],
    ['maps, deep', { a: { b: { c: 1, d: 2 } } }, { a: { b: { c: 3 } } }, { a: { b: { c: 3, d: 2 } } }],
    ['null deletes a key', { a: { b: 1, c: 2 } }, { a: { b: null } }, { a: { c: 2 } }],
    ['null of what is not there', { a: 1 }, { b: null, c: { d: null } }, { a: 1, c: {} }],
    ['false and 0 are values', { a: true, b: 1 }, { a: false, b: 0 }, { a: false, b: 0 }],
    ['a map over a value', { a: 'text' }, { a: { b: 1 } }, { a: { b: 1 } }],
    ['a value over a map', { a: { b: 1 } }, { a: 'text' }, { a: 'text' }],
    ['other lists are replaced', { args: ['a', 'b'] }, { args: ['c'] }, { args: ['c'] }],
    ['a list to none', { args: ['a'] }, { args: [] }, { args: [] }],
    [
      'containers by name, in our order',
      { containers: [{ name: 'a', image: 'x' }, { name: 'b' }] },
      { containers: [{ name: 'b', tty: true }] },
      {
        containers: [
          { name: 'a', image: 'x' },
          { name: 'b', tty: true },
        ],
      },
    ],
    [
      'new entries come last, in their order',
      { initContainers: [{ name: 'a' }] },
      { initContainers: [{ name: 'c' }, { name: 'b', image: null }, { name: 'a', tty: true }] },
      { initContainers: [{ name: 'a', tty: true }, { name: 'c' }, { name: 'b' }] },
    ],
    [
      'volumes by name',
      { volumes: [{ name: 'tmp', emptyDir: {} }] },
      { volumes: [{ name: 'tmp', emptyDir: { medium: 'Memory' } }] },
      { volumes: [{ name: 'tmp', emptyDir: { medium: 'Memory' } }] },
    ],
    [
      'env by name, in containers',
      { containers: [{ name: 'a', env: [{ name: 'X', value: '1' }] }] },
      { containers: [{ name: 'a', env: [{ name: 'X', value: null, valueFrom: { fieldRef: {} } }, { name: 'Y' }] }] },
      { containers: [{ name: 'a', env: [{ name: 'X', valueFrom: { fieldRef: {} } }, { name: 'Y' }] }] },
    ],
    [
      'ports by name',
      { ports: [{ name: 'api', port: 1 }] },
      { ports: [{ name: 'api', port: 2 }] },
      { ports: [{ name: 'api', port: 2 }] },
    ],
    [
      'ports by number',
      { ports: [{ name: 'api', containerPort: 1 }] },
      { ports: [{ containerPort: 1, hostPort: 2 }] },
      { ports: [{ name: 'api', containerPort: 1, hostPort: 2 }] },
    ],
    [
      'mounts by path, so that a volume can be mounted twice',
      { volumeMounts: [{ name: 'v', mountPath: '/a', readOnly: true }] },
      {
        volumeMounts: [
          { mountPath: '/a', readOnly: false },
          { name: 'v', mountPath: '/b' },
        ],
      },
      {
        volumeMounts: [
          { name: 'v', mountPath: '/a', readOnly: false },
          { name: 'v', mountPath: '/b' },
        ],
      },
    ],
    [
      'tolerations are added',
      { tolerations: [{ key: 'a' }] },
      { tolerations: [{ key: 'a', effect: 'NoExecute' }] },
      { tolerations: [{ key: 'a' }, { key: 'a', effect: 'NoExecute' }] },
    ],
    [
      'amounts become texts, as the server makes them',
      { resources: { requests: { cpu: '10m', memory: '1Gi' } } },
      { resources: { requests: { cpu: 1 }, limits: { cpu: 2 } } },
      { resources: { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '2' } } },
    ],
  ];
  it.each(cases)('%s', (_what, base, patch, result) => {
    const before = structuredClone([base, patch]);
    expect(merged(base, patch)).toEqual(result);
    expect([base, patch]).toEqual(before);
  });
});

describe('a pod', () => {
  const pod = { spec: { containers: [{ name: 'api' }], initContainers: [{ name: 'prepare' }] } };
  const over = (spec: object, peers?: readonly string[]) =>
    overriddenPod(
      pod,
      { path: 'spec.override', field: 'spec.override.podTemplate of Toy toy', patch: { spec } },
      peers,
    );

  it('leaves out what is about containers of other pods', () => {
    expect(over({ containers: [{ name: 'other', tty: true }] }, ['api', 'other'])).toEqual(pod);
  });
  it('takes a container that brings its image', () => {
    const more = { name: 'more', image: 'example.org/more:1' };
    expect(over({ containers: [more], initContainers: [more] }).spec).toEqual({
      containers: [{ name: 'api' }, more],
      initContainers: [{ name: 'prepare' }, more],
    });
  });
  it.each([
    [{ containers: [{ name: 'apy' }] }, 'has apy in containers, where the pods have api, other'],
    [{ containers: [{ tty: true }] }, 'has a nameless entry in containers'],
    [{ initContainers: [{ name: 'api' }] }, 'has api in initContainers, where the pods have prepare'],
    // Those of other pods are no init containers of this one.
    [{ initContainers: [{ name: 'other' }] }, 'has other in initContainers, where the pods have prepare'],
  ])('refuses %j', (spec, words) => {
    expect(() => over(spec, ['api', 'other'])).toThrow(`spec.override.podTemplate of Toy toy ${words}`);
  });
});

describe('a Service', () => {
  const service = { metadata: { name: 'toy' }, spec: { selector: { a: 'b' }, ports: [{ name: 'api', port: 80 }] } };
  const over = (spec: object) =>
    overriddenService(service, { path: 'spec.override', field: 'spec.override.service of Toy toy', patch: { spec } });

  it('may have another port under the same name', () => {
    expect(over({ ports: [{ name: 'api', port: 8080, nodePort: 30080 }] }).spec.ports).toEqual([
      { name: 'api', port: 8080, nodePort: 30080 },
    ]);
  });
  it.each([
    [{ selector: { c: 'd' } }, 'sets spec.selector'],
    [{ selector: null }, 'sets spec.selector'],
    [{ ports: [{ name: 'more', port: 81 }] }, 'makes the names of ports api, more'],
    [{ ports: [{ name: 'http', port: 80 }] }, 'makes the names of ports http'],
    [{ ports: null }, 'makes the names of ports none'],
  ])('refuses %j', (spec, words) => {
    expect(() => over(spec)).toThrow(words);
  });
});
