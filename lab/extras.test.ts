import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { hostsOf } from './cluster/ingress.ts';
import { type CloudSpec, neededBy } from './extras.ts';

const specOf = (file: string): CloudSpec => (parse(readFileSync(file, 'utf8')) as { spec: CloudSpec }).spec;

describe('what the lab has only when asked for', () => {
  it.each([
    ['lab/cloud.yaml', []],
    ['lab/cloud-ceph.yaml', ['ceph', 'ingress', 'certificates']],
    // Its issuer is not the lab's.
    ['config/samples/controlplane_tls.yaml', ['ingress']],
    ['config/samples/controlplane_ceph.yaml', ['ceph']],
  ])('%s counts on %j', (file, needed) => {
    expect(neededBy(specOf(file))).toEqual(needed);
  });

  it('enforces policies where a cloud asks for some', () => {
    const spec = specOf('lab/cloud.yaml');
    expect(neededBy({ ...spec, networkPolicy: { enabled: true } })).toEqual(['policies']);
    expect(neededBy({ ...spec, networkPolicy: { enabled: false } })).toEqual([]);
  });

  it('names every host of an Ingress once', () => {
    const rules = (...hosts: (string | undefined)[]) => ({
      spec: { rules: hosts.map(host => (host ? { host } : {})) },
    });
    expect(hostsOf({ items: [rules('b.test', undefined), rules('a.test', 'b.test'), {}] })).toBe(
      '10.96.0.20 a.test\n10.96.0.20 b.test\n',
    );
  });
});
