import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { nearest } from './near.ts';
import { missing, type PackedTable, releases, schemaOf } from './options.ts';

describe('option tables', () => {
  it('ship for three releases', () => {
    expect(releases).toEqual(['2025.1', '2025.2', '2026.1']);
  });

  it.each([
    ['cinder', [1356, 1376, 1419]],
    ['glance-api', [504, 509, 539]],
    ['heat', [497, 471, 464]],
    ['keystone', [406, 410, 406]],
    ['ml2_conf', [91, 92, 95]],
    ['neutron', [529, 537, 531]],
    ['nova', [1110, 1099, 1108]],
    ['placement', [120, 125, 124]],
  ])('%s has %j options', (file, counts) => {
    const found = releases.map(release => {
      const schema = schemaOf(file, release);
      return schema?.sections.reduce((sum, section) => sum + (schema.section(section)?.size ?? 0), 0);
    });
    expect(found).toEqual(counts);
  });

  it('knows what may be given several times, also in a section that an operator names', () => {
    const cinder = schemaOf('cinder', '2026.1');
    expect(cinder?.option('backend_defaults', 'replication_device')).toMatchObject({ t: 'dict', multi: true });
    expect(cinder?.multi('ceph', 'replication_device')).toBe(true);
    expect(cinder?.multi('ceph', 'rbd_pool')).toBe(false);
    expect(cinder?.multi('key_manager', 'replication_device')).toBe(false);
    expect(schemaOf('nova', '2026.1')?.multi('DEFAULT', 'reserved_huge_pages')).toBe(true);
  });

  it('adds by hand only what the tables lack', () => {
    const packed = (release: string): PackedTable =>
      JSON.parse(readFileSync(new URL(`./options/${release}.json`, import.meta.url), 'utf8'));
    const needless = releases.flatMap(release => {
      const { files } = packed(release);
      return Object.entries(missing).flatMap(([file, options]) =>
        options
          .filter(({ releases: only }) => only?.includes(release) ?? true)
          .filter(({ section, name }) => ` ${files[file]?.groups[section]}`.includes(` ${name}=`))
          .map(({ section, name }) => `${release} ${file} [${section}] ${name}`),
      );
    });
    expect(needless).toEqual([]);
  });

  it('knows type, limits, choices and renames of an option', () => {
    const nova = schemaOf('nova', '2026.1');
    expect(nova?.option('LibVirt', 'rx_queue_size')).toEqual({
      section: 'libvirt',
      name: 'rx_queue_size',
      t: 'int',
      choices: [256, 512, 1024],
    });
    expect(nova?.renamed('DEFAULT', 'vnc_enabled')).toEqual({ section: 'vnc', key: 'enabled' });
    expect(nova?.multi('pci', 'alias')).toBe(true);
    expect(nova?.multi('libvirt', 'cpu_mode')).toBe(false);
  });

  it('does not call a name renamed that is still an option', () => {
    const nova = schemaOf('nova', '2026.1');
    expect(nova?.option('key_manager', 'auth_url')).toBeDefined();
    expect(nova?.renamed('key_manager', 'auth_url')).toBeUndefined();
    expect(nova?.successor('keystone_authtoken', 'auth_uri')).toEqual({
      section: 'keystone_authtoken',
      key: 'www_authenticate_uri',
    });
  });

  it('has no table for what it does not know', () => {
    expect(schemaOf('nova', '2031.1')).toBeUndefined();
    expect(schemaOf('horizon', '2026.1')).toBeUndefined();
  });
});

describe('nearest', () => {
  it.each([
    ['debgu', 'debug'],
    ['virt-type', 'virt_type'],
    ['cpu_mdel', 'cpu_mode'],
    ['zzzzzzzz', undefined],
    ['x', undefined],
  ])('%s -> %s', (word, expected) => {
    expect(nearest(word, ['cpu_mode', 'debug', 'virt_type', 'use_stderr'])).toBe(expected);
  });
});
