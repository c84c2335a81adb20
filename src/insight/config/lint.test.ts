import { describe, expect, it } from 'vitest';
import { type Live, viewOf } from '../view/view.ts';
import { lintAccess, lintRendered, lintSpecs } from './lint.ts';

const object = (kind: string, spec: object, more: object = {}): Live => ({
  apiVersion: 'openstack.k8s.io/v1alpha1',
  kind,
  metadata: { name: kind.toLowerCase(), namespace: 'a', uid: kind, ...more },
  spec,
});
const codes = (...objects: Live[]) =>
  lintSpecs(objects).flatMap(r =>
    r.findings.map(f => `${r.field} ${r.service} ${f.line} ${f.code} ${f.suggestion ?? ''}`.trimEnd()),
  );

describe('texts of specs', () => {
  it('the snippets of the documents are fine', () => {
    const nova =
      '[DEFAULT]\ndebug = true\ncpu_allocation_ratio = 4.0\n[libvirt]\ncpu_mode = custom\ncpu_models = Nehalem\n[pci]\ndevice_spec = {"vendor_id": "8086"}\ndevice_spec = {"vendor_id": "10de"}\nalias = {"name": "a"}\nalias = {"name": "b"}\n';
    expect(codes(object('Nova', { customServiceConfig: nova }))).toEqual([]);
    expect(codes(object('NovaExternalCompute', { customServiceConfig: nova }))).toEqual([]);
  });

  it('each text is read by the table of its service, sections of the control plane and parts included', () => {
    const text = '[libvirt]\ncpu_modes = custom\n';
    const cloud = object('OpenStackControlPlane', {
      customServiceConfig: '[DEFAULT]\ndebugg = true\n',
      nova: {
        customServiceConfig: text,
        cellTemplates: { cell1: { conductorServiceTemplate: { customServiceConfig: text } } },
      },
      keystone: { customServiceConfig: text },
      mariadb: { customServiceConfig: 'not oslo at all' },
    });
    expect(codes(cloud)).toEqual([
      'spec.customServiceConfig controlplane 2 unknown-option debug',
      'spec.nova.customServiceConfig nova 2 unknown-option cpu_mode',
      'spec.nova.cellTemplates.cell1.conductorServiceTemplate.customServiceConfig nova 2 unknown-option cpu_mode',
      expect.stringMatching(/^spec\.keystone\.customServiceConfig keystone 1 unknown-section/),
    ]);
  });

  it('the release is that of the object, unless one is given; a child repeats its control plane', () => {
    const spec = { release: '2025.1', customServiceConfig: '[DEFAULT]\ndebug = true\n' };
    expect(lintSpecs([object('Keystone', spec)])).toMatchObject([{ object: 'Keystone a/keystone', release: '2025.1' }]);
    expect(lintSpecs([object('Keystone', spec)], '2026.1')).toMatchObject([{ release: '2026.1' }]);
    const owned = { ownerReferences: [{ apiVersion: 'x', kind: 'x', name: 'x', uid: 'x', controller: true }] };
    expect(lintSpecs([object('Keystone', spec, owned)])).toEqual([]);
  });
});

it('rendered files: generated ones may hold what is the operator’s, those of Secrets may hold secrets', () => {
  const data = (texts: Record<string, string>) =>
    Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')]));
  const secret = {
    ...object('Secret', {}),
    metadata: {
      name: 'keystone-config-data',
      namespace: 'a',
      ownerReferences: [{ apiVersion: 'x', kind: 'Keystone', name: 'keystone', uid: 'Keystone', controller: true }],
    },
    data: data({
      '01-keystone.conf': '[database]\nconnection = mysql+pymysql://u:p@h/d\n',
      '02-keystone-override.conf': '[DEFAULT]\nnonsense = 1\n',
      '03-00-a.conf': '[token]\nexpiraton = 1\n',
      'config.json': '{}',
    }),
  };
  const reports = lintRendered(viewOf([object('Keystone', {}), secret], 0));
  expect(reports.map(r => [r.field, r.findings.map(f => f.code)])).toEqual([
    ['01-keystone.conf', []],
    ['02-keystone-override.conf', []],
    ['03-00-a.conf', ['unknown-option']],
  ]);
});

it('fields that would give pods rights on the node are errors, once for a cloud and its children', () => {
  const bad = { extraMounts: [{ name: 'a', mountPath: '/a', hostPath: { path: '/' } }] };
  const owned = { ownerReferences: [{ kind: 'OpenStackControlPlane', name: 'cloud', uid: 'c', controller: true }] };
  const objects = [object('OpenStackControlPlane', { glance: bad }), object('Glance', bad, owned)];
  const reports = lintAccess(objects, {});
  expect(reports.map(({ object: name, field }) => `${name} ${field}`)).toEqual([
    'OpenStackControlPlane a/openstackcontrolplane spec.glance.extraMounts[0].hostPath',
  ]);
  expect(reports[0]?.findings).toMatchObject([{ severity: 'error', code: 'host-access' }]);
  expect(lintAccess(objects, { ALLOW_HOST_ACCESS: 'true' })).toEqual([]);
});
