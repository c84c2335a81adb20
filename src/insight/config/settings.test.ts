import { describe, expect, it } from 'vitest';
import { type Live, viewOf } from '../view/view.ts';
import { settingsOf } from './settings.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const keystone: Live = {
  apiVersion: 'openstack.k8s.io/v1alpha1',
  kind: 'Keystone',
  metadata: { name: 'keystone', namespace: 'a', uid: 'k' },
  spec: { release: '2025.2' },
};
const secret = (name: string, files: Record<string, string>): Live => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: {
    name,
    namespace: 'a',
    uid: name,
    ownerReferences: [{ apiVersion: 'x', kind: 'Keystone', name: 'keystone', uid: 'k', controller: true }],
  },
  data: Object.fromEntries(Object.entries(files).map(([file, text]) => [file, base64(text)])),
});
const pod = (name: string, copy: string): Live => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'a', uid: name },
  spec: { volumes: [{ secret: { secretName: copy } }] },
  status: { phase: 'Running' },
});

const generated = '[DEFAULT]\ndebug = false\n[database]\nconnection = mysql+pymysql://keystone:hunter22@db/keystone\n';
const override = '# Keystone keystone, spec.customServiceConfig\n[DEFAULT]\ndebug = true\n';
const view = viewOf(
  [
    keystone,
    secret('keystone-config-data', { '01-keystone.conf': generated, '02-keystone-override.conf': override }),
    secret('keystone-config-data-aaaa', { '01-keystone.conf': generated }),
    pod('keystone-new', 'keystone-config-data'),
    pod('keystone-old', 'keystone-config-data-aaaa'),
  ],
  0,
);

describe('settings of a service', () => {
  const [settings] = settingsOf(view, keystone);
  const option = (key: string) => settings?.options.find(one => one.key === key);

  it('are all options of its config, with whom they come from and whom they beat', () => {
    expect(settings).toMatchObject({ of: 'Keystone keystone', secret: 'keystone-config-data', pods: 2 });
    expect(settings?.options.map(one => `[${one.section}] ${one.key}`)).toEqual([
      '[DEFAULT] debug',
      '[database] connection',
    ]);
    expect(option('debug')).toMatchObject({
      values: ['true'],
      layer: 'service',
      setters: [{ layer: 'service', file: '02-keystone-override.conf', value: 'true' }],
      overrides: [{ file: '01-keystone.conf', value: 'false' }],
    });
  });

  it('tell which pods run something else', () =>
    expect(option('debug')?.elsewhere).toEqual([{ pod: 'keystone-old', runs: 'other' }]));

  it('never hold a secret value', () => {
    expect(option('connection')).toMatchObject({ values: ['(secret)'], masked: true });
    expect(JSON.stringify(settings)).not.toContain('hunter22');
  });

  it('of a service without a config in the language of oslo are none', () =>
    expect(settingsOf(viewOf([keystone], 0), keystone)).toEqual([]));
});
