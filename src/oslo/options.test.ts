import { describe, expect, it } from 'vitest';
import { nearest } from './near.ts';
import { releases, schemaOf } from './options.ts';

describe('option tables', () => {
  it('ship for three releases', () => {
    expect(releases).toEqual(['2025.1', '2025.2', '2026.1']);
  });

  /** As generated from the stable branches, and how many have come since by releases of libraries and services. */
  it.each([
    ['nova', [1106, 1095, 1104], 4],
    ['glance-api', [500, 505, 535], 4],
    ['heat', [493, 465, 458], 4],
    ['keystone', [400, 404, 400], 6],
    ['placement', [116, 121, 120], 4],
    ['ml2_conf', [91, 92, 95], 0],
  ])('%s has %j options and %i more', (file, counts, more) => {
    const found = releases.map(release => {
      const schema = schemaOf(file, release);
      return schema?.sections.reduce((sum, section) => sum + (schema.section(section)?.size ?? 0), 0);
    });
    expect(found).toEqual(counts.map(count => count + more));
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
