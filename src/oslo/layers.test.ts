import { describe, expect, it } from 'vitest';
import { at, conf, generatedKey, overrideKey } from './conf.ts';
import { type LayerInput, layered, originOf, userText } from './layers.ts';
import { multi } from './model.ts';
import { schemaOf } from './options.ts';
import { type Document, parse } from './parse.ts';
import { write } from './write.ts';

function read(text: string): Document {
  const parsed = parse(text);
  if ('error' in parsed) throw new Error(parsed.error.message);
  return parsed.ok;
}

const cloud = {
  layer: 'controlplane',
  object: 'OpenStackControlPlane openstack/cloud',
  field: 'spec.customServiceConfig',
} as const;
const nova = { layer: 'service', object: 'Nova openstack/nova', field: 'spec.customServiceConfig' } as const;

describe('layered', () => {
  const inputs: LayerInput[] = [
    { ...nova, document: read('[DEFAULT]\ndebug = false\n[libvirt]\n# why\ncpu_mode = custom\n') },
    { ...cloud, document: read('[default]\ndebug = 1\n[DEFAULT]\ndebug = true\n') },
    { layer: 'topology', sections: { Libvirt: { cpu_mode: 'none' }, pci: { alias: multi('a') } } },
    { layer: 'service-defaults', sections: { libvirt: { cpu_mode: 'host-model', virt_type: 'kvm' } } },
    {
      layer: 'secret',
      object: 'Secret openstack/extra',
      field: 'nova.conf',
      document: read('[pci]\nalias = b\nalias = c\n'),
    },
  ];

  it('names the winner, its object, field and line, and what it overrides, lowest first', () => {
    const result = layered(inputs);
    expect(result.effective('DEFAULT', 'debug')).toEqual({
      section: 'DEFAULT',
      key: 'debug',
      multi: false,
      value: 'false',
      values: ['false'],
      source: { ...nova, line: 2, column: 1 },
      parts: [{ section: 'DEFAULT', key: 'debug', value: 'false', source: { ...nova, line: 2, column: 1 } }],
      overrides: [{ section: 'DEFAULT', key: 'debug', value: 'true', source: { ...cloud, line: 4, column: 1 } }],
    });
    const mode = result.effective('libvirt', 'cpu_mode');
    expect([mode?.value, mode?.source.line, mode?.overrides.map(each => each.value)]).toEqual([
      'custom',
      5,
      ['host-model', 'none'],
    ]);
    expect(result.effective('libvirt', 'nope')).toBeUndefined();
  });

  it('does not take [default] for [DEFAULT], as oslo does not', () => {
    expect(layered(inputs).effective('default', 'debug')?.value).toBe('1');
  });

  it('appends what tables or option tables call multi', () => {
    const alias = layered(inputs).effective('pci', 'alias');
    expect([alias?.multi, alias?.values, alias?.overrides]).toEqual([true, ['a', 'b', 'c'], []]);
    const text = { ...nova, document: read('[pci]\ndevice_spec = x\ndevice_spec = y\n') };
    expect(layered([text]).effective('pci', 'device_spec')?.values).toEqual(['y']);
    expect(layered([text], schemaOf('nova', '2026.1')).effective('pci', 'device_spec')?.values).toEqual(['x', 'y']);
  });

  it('lets a deprecated name lose in its own file and win from a later one', () => {
    const schema = schemaOf('nova', '2026.1');
    const oldLast = {
      ...nova,
      document: read('[pci]\nalias = new\n[vnc]\nenabled = true\n[DEFAULT]\nvnc_enabled = false\n'),
    };
    expect(layered([oldLast], schema).effective('vnc', 'enabled')?.value).toBe('true');
    const generated: LayerInput = { layer: 'service-defaults', sections: { vnc: { enabled: true } } };
    const later = { ...nova, document: read('[DEFAULT]\nvnc_enabled = false\n') };
    const found = layered([generated, later], schema).effective('vnc', 'enabled');
    expect([found?.value, found?.source.line]).toEqual(['false', 2]);
  });

  it('lists every option, DEFAULT first', () => {
    const names = layered(inputs).all.map(({ section, key }) => `${section.toLowerCase()}/${key}`);
    expect(names).toEqual(['default/debug', 'default/debug', 'libvirt/cpu_mode', 'libvirt/virt_type', 'pci/alias']);
  });
});

describe('conf', () => {
  it('merges parts, later over earlier, absent values touch nothing, multi appends', () => {
    const made = conf(
      'nova',
      { DEFAULT: { debug: false }, pci: { alias: multi('a') }, cache: { enabled: true } },
      undefined,
      at('topology', { DEFAULT: { debug: true, my_ip: '10.0.0.1' }, pci: { alias: multi('b') } }),
      at('security', { cache: { enabled: undefined } }),
    );
    expect(made.service).toBe('nova');
    expect(made.sections).toEqual({
      DEFAULT: { debug: true, my_ip: '10.0.0.1' },
      pci: { alias: multi('a', 'b') },
      cache: { enabled: true },
    });
    expect(made.parts.map(part => part.layer)).toEqual(['service-defaults', 'topology', 'security']);
    expect([generatedKey('nova'), overrideKey('nova')]).toEqual(['01-nova.conf', '02-nova-override.conf']);
  });

  it('agrees with layered about every option that it writes', () => {
    const made = conf('x', { a: { k: 1, m: multi('x') } }, at('release', { a: { k: 2, m: multi('y') } }));
    const document = read(write(made.sections));
    const fromFile = layered([{ layer: 'service-defaults', document }], { multi: (_, key) => key === 'm' });
    const fromParts = layered(made.parts);
    for (const { section, key, values } of fromParts.all) {
      expect(fromFile.effective(section, key)?.values).toEqual(values);
    }
    expect(fromParts.all).toHaveLength(2);
  });
});

describe('userText', () => {
  const texts = [
    {
      object: 'OpenStackControlPlane openstack/cloud',
      field: 'spec.customServiceConfig',
      text: '[DEFAULT]\ndebug = true',
    },
    { object: 'Nova openstack/nova', field: 'spec.customServiceConfig', text: '  \n' },
    {
      object: 'NovaAPI openstack/nova-api',
      field: 'spec.customServiceConfig',
      text: '# api\r\n[api]\r\nmax_limit = 5\r\n',
    },
  ];

  it('keeps every text verbatim under the name of its object, and is absent when nobody wrote', () => {
    const file = userText(texts);
    expect(file).toBe(
      '## from OpenStackControlPlane openstack/cloud spec.customServiceConfig\n[DEFAULT]\ndebug = true\n' +
        '## from NovaAPI openstack/nova-api spec.customServiceConfig\n# api\r\n[api]\r\nmax_limit = 5\r\n',
    );
    expect(userText([])).toBeUndefined();
    expect(userText(texts.slice(1, 2))).toBeUndefined();
  });

  it('finds the object and its own line again from a line of the file', () => {
    const file = userText(texts) ?? '';
    expect(originOf(file, 3)).toEqual({ object: texts[0]?.object, field: texts[0]?.field, line: 2 });
    expect(originOf(file, 7)).toEqual({ object: texts[2]?.object, field: texts[2]?.field, line: 3 });
    expect(originOf(file, 1)).toBeUndefined();
    expect(originOf('[a]\nk=1\n', 2)).toBeUndefined();
  });

  it('cannot let one text continue the value or the section of another', () => {
    const file = userText([
      { object: 'A n/a', field: 'f', text: '[x]\nk = 1' },
      { object: 'B n/b', field: 'f', text: '  sneaky' },
    ]);
    expect('error' in parse(file ?? '')).toBe(true);
  });
});
