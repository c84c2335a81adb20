import { describe, expect, it } from 'vitest';
import { type Census, differences } from './census.ts';

const empty: Census = {
  processes: [],
  mounts: [],
  namespaces: [],
  links: ['lo'],
  cgroups: [],
  sysctls: { 'kernel.panic': '0' },
  tables: '',
};

describe('what a lab left behind', () => {
  it('is nothing when nothing changed', () => {
    expect(differences(empty, structuredClone(empty))).toEqual([]);
  });

  it.each([
    [{ processes: ['7 /x/kubelet'] }, 'processes: left behind 7 /x/kubelet'],
    [{ mounts: ['/x/lab/n1'] }, 'mounts: left behind /x/lab/n1'],
    [{ namespaces: ['oslab'] }, 'namespaces: left behind oslab'],
    [{ links: ['lo', 'cni0'] }, 'links: left behind cni0'],
    [{ links: [] }, 'links: lost lo'],
    [{ cgroups: ['/sys/fs/cgroup/cpu/oslab'] }, 'cgroups: left behind /sys/fs/cgroup/cpu/oslab'],
    [{ sysctls: { 'kernel.panic': '10' } }, 'sysctl kernel.panic: was 0, is 10'],
    [{ tables: 'table ip kube-proxy' }, 'nftables: was "", is "table ip kube-proxy"'],
  ])('is named: %o', (change, words) => {
    expect(differences(empty, { ...empty, ...change })).toEqual([words]);
  });
});
