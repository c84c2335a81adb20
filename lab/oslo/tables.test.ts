import { describe, expect, it } from 'vitest';
import { type PackedTable, unpack } from '../../src/oslo/options.ts';
import { type Input, pack, print } from './tables.ts';

const input: Input = {
  release: '2099.1',
  files: {
    nova: {
      groups: {
        libvirt: { o: { virt_type: { t: 'str', choices: ['kvm', 'qemu'], d: 'kvm' }, b: { t: 'bool' } } },
        DEFAULT: { o: { a: { t: 'bool' } } },
      },
      renamed: { DEFAULT: { old: ['libvirt', 'b'] } },
    },
  },
};

describe('packing an option table', () => {
  it('loses nothing between the input and the schema that lint reads', () => {
    const table: PackedTable = JSON.parse(print(pack(input)));
    const schema = unpack(table, ['nova']);
    expect(schema.option('libvirt', 'virt_type')).toEqual({
      section: 'libvirt',
      name: 'virt_type',
      ...input.files.nova?.groups.libvirt?.o.virt_type,
    });
    expect(schema.option('DEFAULT', 'a')).toEqual({ section: 'DEFAULT', name: 'a', t: 'bool' });
    expect(schema.renamed('DEFAULT', 'old')).toEqual({ section: 'libvirt', key: 'b' });
    expect([...schema.sections]).toEqual(expect.arrayContaining(['DEFAULT', 'libvirt']));
  });

  it('stores equal descriptions once', () => {
    expect(Object.keys(pack(input).shapes)).toHaveLength(2);
  });
});
