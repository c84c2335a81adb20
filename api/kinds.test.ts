import { describe, expect, it } from 'vitest';
import { KINDS } from './kinds.ts';
import { CHILDREN, OpenStackControlPlane } from './openstack/controlplane.ts';
import { crdOf, objectSchema } from './schema/crd.ts';
import { fields } from './schema/leaves.ts';
import { lint } from './schema/lint.ts';
import { NOT_USED, PLANNED, plannedLeaves, specLeaves } from './schema/planned.ts';
import { structural } from './schema/structural.ts';

/** engine rule 23: client-side apply puts the object into an annotation, and fails at 256 KiB. */
const MAX_CRD_BYTES = 200 * 1024;

describe.each(KINDS.map(kind => [kind.kind, kind] as const))('%s', (_, kind) => {
  const schema = objectSchema(kind);

  it('has a structural schema', () => {
    expect(lint(schema)).toEqual([]);
  });

  it('describes every field', () => {
    const bare = fields(schema).filter(
      ({ path, schema: field }) => path !== 'metadata' && (field.description ?? '').trim().length < 4,
    );
    expect(bare.map(field => field.path)).toEqual([]);
  });

  it('stays small enough for client-side apply', () => {
    expect(JSON.stringify(crdOf(kind)).length).toBeLessThanOrEqual(MAX_CRD_BYTES);
  });

  it('needs no spec, and reads back complete', () => {
    expect(kind.specSchema.safeParse({}).success).toBe(true);
    expect(schema.properties?.spec?.default).toEqual({});
    expect(schema.properties?.spec?.required).toBeUndefined();
  });

  it('has conditions merged by type, so that two writers do not undo each other', () => {
    expect(schema.properties?.status?.properties?.conditions).toMatchObject({
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
    });
  });

  it('is marked as ours, approved where Kubernetes asks for it, and shows Ready and Age', () => {
    const crd = crdOf(kind);
    expect(crd.metadata.labels['app.kubernetes.io/managed-by']).toBe('openstack-operator');
    expect(crd.metadata.annotations?.['api-approved.kubernetes.io'] !== undefined).toBe(kind.group.endsWith('.k8s.io'));
    expect(crd.spec.names.categories).toEqual(['openstack']);
    expect(kind.columns.map(column => column.name)).toEqual(expect.arrayContaining(['Ready', 'Reason', 'Age']));
  });
});

describe('the kinds together', () => {
  it('share no name on the command line', () => {
    const names = KINDS.flatMap(kind => [...new Set([kind.plural, kind.singular, ...kind.shortNames])]);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  it('are those of the design: 30 in five groups', () => {
    const count = (group: string) => KINDS.filter(kind => kind.group === group).length;
    const groups = [...new Set(KINDS.map(kind => kind.group))];
    expect(Object.fromEntries(groups.map(group => [group, count(group)]))).toEqual({
      'openstack.k8s.io': 15,
      'nova.openstack.org': 8,
      'neutron.openstack.org': 1,
      'dataplane.openstack.org': 5,
      'ansibleee.openstack.org': 1,
    });
  });
});

describe('sections of the control plane', () => {
  const spec = structural(OpenStackControlPlane.specSchema);

  it('carry no default but enabled, because a parent writes only what its user set (engine rule 4)', () => {
    const defaulted = Object.keys(CHILDREN).flatMap(name =>
      fields({ properties: { [name]: spec.properties![name]! } })
        .filter(field => field.schema.default !== undefined)
        .map(field => field.path),
    );
    const expected = Object.keys(CHILDREN).flatMap(name => [name, `${name}.enabled`]);
    expect(defaulted).toEqual(expected);
  });

  it('have every field of their child but the cloud-wide ones', () => {
    const images = ['images', 'imageRegistry', 'imagePullSecrets'];
    const wide = ['release', 'region', ...images, 'actions', 'credentialRotation', 'networkPolicy', 'nodeNamespace'];
    for (const [name, child] of Object.entries(CHILDREN)) {
      const own = Object.keys(structural(child.specSchema).properties!).filter(field => !wide.includes(field));
      expect(Object.keys(spec.properties![name]!.properties!)).toEqual(['enabled', ...own]);
    }
  });

  it('are on for the core and off for the rest', () => {
    const read = OpenStackControlPlane.specSchema.parse({});
    const off = Object.keys(CHILDREN).filter(name => !read[name as keyof typeof CHILDREN].enabled);
    expect(off).toEqual(['ceph', 'cinder', 'heat', 'horizon']);
  });

  it('read back exactly what was written', () => {
    const { keystone } = OpenStackControlPlane.specSchema.parse({ keystone: { replicas: 2, fernetRotation: {} } });
    expect(keystone).toEqual({ enabled: true, replicas: 2, fernetRotation: {} });
  });

  it('guard immutable fields only while the service is on', () => {
    expect(spec.properties?.mariadb?.['x-kubernetes-validations']?.[0]?.rule).toMatch(/^!oldSelf\.enabled \|\| \(has/);
  });
});

describe('planned fields', () => {
  it('say in the CustomResourceDefinition that nobody reads them, and no others do', () => {
    for (const kind of KINDS) {
      const plans = PLANNED[kind.kind] ?? [];
      const wanted = (name: string) => plans.some(plan => plan.fields === 'all' || plan.fields.includes(name));
      const { spec } = objectSchema(kind).properties!;
      for (const [name, field] of Object.entries(spec?.properties ?? {}))
        expect([kind.kind, name, field.description?.startsWith(NOT_USED)]).toEqual([kind.kind, name, wanted(name)]);
    }
  });

  it('say so in the sections of the control plane too', () => {
    const { spec } = objectSchema(OpenStackControlPlane).properties!;
    for (const [section, child] of Object.entries(CHILDREN)) {
      const inSection = Object.entries(spec?.properties?.[section]?.properties ?? {});
      for (const [name, { description }] of inSection) {
        const { properties } = objectSchema(child).properties!.spec!;
        const own = properties?.[name]?.description?.startsWith(NOT_USED) ?? false;
        expect([section, name, description?.startsWith(NOT_USED)]).toEqual([section, name, own]);
      }
    }
  });

  it('name only kinds and fields that exist', () => {
    for (const [name, plans] of Object.entries(PLANNED)) {
      const kind = KINDS.find(k => k.kind === name);
      expect(kind, name).toBeDefined();
      const known = fields(structural(kind!.specSchema)).map(field => field.path);
      const listed = plans.flatMap(plan => (plan.fields === 'all' ? [] : plan.fields));
      expect(listed.filter(path => !known.includes(path))).toEqual([]);
    }
  });

  it('cover every leaf of a kind without a controller and not all of one with', () => {
    const agent = KINDS.find(kind => kind.kind === 'OVNMetadataAgent')!;
    expect(plannedLeaves(agent).size).toBe(specLeaves(agent).length);
    const keystone = KINDS.find(kind => kind.kind === 'Keystone')!;
    expect(plannedLeaves(keystone).size).toBeLessThan(specLeaves(keystone).length);
    const console = KINDS.find(kind => kind.kind === 'NovaNoVNCProxy')!;
    expect(plannedLeaves(console).get('actions[].name')).toMatch(/actions of Nova's parts/);
    expect(plannedLeaves(keystone).has('fernetRotation.schedule')).toBe(false);
  });
});
