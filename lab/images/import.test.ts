import { describe, expect, it } from 'vitest';
import { normalized } from './import.ts';
import { imageNames, imageReference, releases } from './names.ts';

describe('names of images', () => {
  it.each([
    ['openstack-operator:0.1.0', 'docker.io/library/openstack-operator:0.1.0'],
    ['somebody/operator:1', 'docker.io/somebody/operator:1'],
    ['localhost/pause:1', 'localhost/pause:1'],
    ['quay.io/openstack.kolla/keystone:2026.1-debian-trixie', 'quay.io/openstack.kolla/keystone:2026.1-debian-trixie'],
  ])('%s is known to containerd as %s', (reference, known) => {
    expect(normalized(reference)).toBe(known);
  });

  it('differ for every image and release', () => {
    const all = releases.flatMap(release => imageNames.map(name => imageReference(name, release)));
    expect(new Set(all).size).toBe(all.length);
  });
});
