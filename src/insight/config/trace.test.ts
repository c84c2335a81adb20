import { describe, expect, it } from 'vitest';
import type { AnyObject } from '../../kube/object.ts';
import { at, conf } from '../../oslo/conf.ts';
import { userText } from '../../oslo/layers.ts';
import { schemaOf } from '../../oslo/options.ts';
import { write } from '../../oslo/write.ts';
import { type TraceInput, trace } from './trace.ts';

const made = conf(
  'nova',
  { DEFAULT: { debug: false }, libvirt: { cpu_mode: 'host-model' } },
  at('topology', { database: { connection: 'mysql+pymysql://nova:hunter2@db/nova' }, libvirt: { virt_type: 'kvm' } }),
);

const field = 'spec.customServiceConfig';
const override = userText([
  { object: 'OpenStackControlPlane openstack/cloud', field, text: '[DEFAULT]\ndebug = true\n' },
  { object: 'Nova openstack/nova', field, text: '# mine\n[libvirt]\ncpu_mode = custom\n[pci]\nalias = a\nalias = b\n' },
]);

function secret(name: string, files: Record<string, string | undefined>, created = '2026-11-15T10:00:00Z'): AnyObject {
  const texts = Object.entries(files).filter(([, text]) => text !== undefined);
  const data = Object.fromEntries(texts.map(([key, text]) => [key, Buffer.from(text ?? '').toString('base64')]));
  const metadata = { name, namespace: 'openstack', creationTimestamp: created };
  return { apiVersion: 'v1', kind: 'Secret', metadata, data };
}

function pod(name: string, copy: string, namespace = 'openstack'): AnyObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, annotations: { 'openstack.k8s.io/config-hash': copy.slice(-2) } },
    spec: {
      volumes: [
        { name: 'tmp', emptyDir: {} },
        { name: 'config', secret: { secretName: copy } },
      ],
    },
    status: { startTime: '2026-11-15T11:00:00Z' },
  };
}

const files = { '01-nova.conf': write(made.sections), '02-nova-override.conf': override, 'config.json': '{}' };
const input: TraceInput = {
  secret: secret('nova-config-data', files),
  copies: [
    secret('nova-config-data-aa', { '01-nova.conf': files['01-nova.conf'] }, '2026-11-15T09:00:00Z'),
    secret('nova-config-data-bb', files),
  ],
  pods: [
    pod('nova-0', 'nova-config-data-bb'),
    pod('nova-1', 'nova-config-data-aa'),
    pod('nova-2', 'nova-config-data-cc'),
    pod('other', 'nova-api-config-data-bb'),
    pod('cell', 'nova-config-data-cell1-bb'),
    pod('elsewhere', 'nova-config-data-bb', 'other'),
  ],
  generated: made,
  schema: schemaOf('nova', '2026.1') as NonNullable<ReturnType<typeof schemaOf>>,
};

describe('trace', () => {
  it('tells who set an option, what that overrides, and which pods run it', () => {
    expect(trace(input, 'libvirt', 'cpu_mode')).toEqual({
      section: 'libvirt',
      key: 'cpu_mode',
      secret: 'nova-config-data',
      masked: false,
      values: ['custom'],
      setters: [
        {
          layer: 'service',
          object: 'Nova openstack/nova',
          field,
          line: 3,
          file: '02-nova-override.conf',
          fileLine: 7,
          value: 'custom',
        },
      ],
      overrides: [{ layer: 'service-defaults', file: '01-nova.conf', fileLine: 8, value: 'host-model' }],
      pods: [
        {
          pod: 'nova-0',
          copy: 'nova-config-data-bb',
          hash: 'bb',
          since: '2026-11-15T11:00:00Z',
          runs: 'current',
          value: 'custom',
        },
        {
          pod: 'nova-1',
          copy: 'nova-config-data-aa',
          hash: 'aa',
          since: '2026-11-15T11:00:00Z',
          runs: 'other',
          value: 'host-model',
        },
        { pod: 'nova-2', copy: 'nova-config-data-cc', hash: 'cc', since: '2026-11-15T11:00:00Z', runs: 'unknown' },
      ],
      earlier: [{ copy: 'nova-config-data-aa', created: '2026-11-15T09:00:00Z', values: ['host-model'] }],
    });
  });

  it('names layers below and above the service', () => {
    expect(trace(input, 'libvirt', 'virt_type').setters).toMatchObject([{ layer: 'topology', file: '01-nova.conf' }]);
    expect(trace(input, 'DEFAULT', 'debug').setters).toMatchObject([
      { layer: 'controlplane', object: 'OpenStackControlPlane openstack/cloud', line: 2 },
    ]);
    const extra = secret('nova-config-data', { ...files, '03-00-extra.conf': '[DEFAULT]\ndebug = false\n' });
    const found = trace({ ...input, secret: extra }, 'DEFAULT', 'debug');
    expect(found.setters).toMatchObject([{ layer: 'secret', field: '03-00-extra.conf', line: 2 }]);
    expect(found.overrides.map(each => each.layer)).toEqual(['service-defaults', 'controlplane']);
  });

  it('gives every part of a MultiStr option', () => {
    const found = trace(input, 'pci', 'alias');
    expect(found.values).toEqual(['a', 'b']);
    expect(found.setters.map(each => each.line)).toEqual([5, 6]);
  });

  it('does not show secrets unless asked', () => {
    const found = trace(input, 'database', 'connection');
    expect(found.masked).toBe(true);
    expect(JSON.stringify(found)).not.toContain('hunter2');
    const old = secret('nova-config-data-aa', { '01-nova.conf': '[glance]\nendpoint_override = http://u:hunter2@g\n' });
    const now = secret('nova-config-data', { '01-nova.conf': '[glance]\nendpoint_override = http://g\n' });
    const moved = trace({ ...input, secret: now, copies: [old] }, 'glance', 'endpoint_override');
    expect(moved.values).toEqual(['http://g']);
    expect(JSON.stringify(moved)).not.toContain('hunter2');
    expect(trace({ ...input, reveal: true }, 'database', 'connection').values[0]).toContain('hunter2');
  });

  it('says that nobody set an option', () => {
    const found = trace(input, 'libvirt', 'nested');
    expect([found.values, found.setters, found.overrides, found.earlier]).toEqual([[], [], [], []]);
    expect(found.pods.map(each => each.runs)).toEqual(['current', 'current', 'unknown']);
  });

  it('lives with a Secret that holds nothing or a broken file', () => {
    const broken = secret('nova-config-data', { '01-nova.conf': '[x\n' });
    expect(trace({ secret: broken }, 'DEFAULT', 'debug').values).toEqual([]);
    const empty: AnyObject = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x', namespace: 'openstack' } };
    expect(trace({ secret: empty }, 'DEFAULT', 'debug').setters).toEqual([]);
  });
});
