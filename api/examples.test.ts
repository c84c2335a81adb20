import { describe, expect, it } from 'vitest';
import { examples, samples } from '../test/fixtures/objects.ts';
import { KINDS } from './kinds.ts';
import { validate } from './validate.ts';

describe('examples in published shapes', () => {
  const objects = examples();

  it('are all found', () => expect(objects).toHaveLength(8));

  for (const { source, object } of objects)
    it(`${source}: ${object.kind} ${object.metadata.name} passes the strict schema`, () => {
      expect(validate(object)).toEqual([]);
    });

  it('an empty customServiceConfig followed by a comment is empty text', () => {
    const compute = objects.find(({ object }) => object.kind === 'NovaExternalCompute');
    expect(compute?.object.spec).toMatchObject({ customServiceConfig: '' });
  });
});

describe('samples', () => {
  const objects = samples();

  it('exist for every kind', () => {
    const kinds = new Set(objects.map(({ object }) => object.kind));
    expect(KINDS.filter(kind => !kinds.has(kind.kind)).map(kind => kind.kind)).toEqual([]);
  });

  for (const { source, object } of objects)
    it(`${source} passes the strict schema`, () => {
      expect(validate(object)).toEqual([]);
    });
});

describe('validate', () => {
  const compute = (spec: object) =>
    validate({
      apiVersion: 'nova.openstack.org/v1beta1',
      kind: 'NovaExternalCompute',
      metadata: { name: 'compute-0' },
      spec,
    });

  it('refuses nodeSelector on NovaExternalCompute, because it has no pods', () => {
    expect(compute({ nodeSelector: { a: 'b' } })).toEqual([expect.stringContaining('nodeSelector')]);
  });

  it('names the path of a wrong value', () => {
    expect(compute({ deploy: 'yes' })).toEqual([expect.stringMatching(/^spec\.deploy: /)]);
  });

  it('refuses two members, an unknown release and an unknown section field', () => {
    const problems = validate({
      apiVersion: 'openstack.k8s.io/v1alpha1',
      kind: 'OpenStackControlPlane',
      metadata: { name: 'cloud' },
      spec: { release: '2024.1', mariadb: { replicas: 2 }, keystone: { replica: 1 } },
    });
    expect(problems.map(problem => problem.split(':')[0])).toEqual(
      expect.arrayContaining(['spec.release', 'spec.mariadb.replicas', 'spec.keystone']),
    );
    expect(problems).toHaveLength(3);
  });

  it('refuses a kind that is not ours', () => {
    expect(validate({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' } })).toHaveLength(1);
  });
});
