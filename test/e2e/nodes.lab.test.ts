import { readdirSync, readFileSync } from 'node:fs';
import type { PodSpec, PodStatus } from 'kubernetes-types/core/v1.d.ts';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { CLOUD_NAMESPACE as namespace } from '../../lab/cloud.ts';
import { kubectl } from '../../lab/kubectl.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import {
  ConfigMap,
  DaemonSet,
  PersistentVolumeClaim,
  Pod,
  Secret,
  Service,
  StatefulSet,
} from '../../src/kube/resource.ts';
import { NODES_OF_LABEL, OWNER_NAMESPACE_LABEL } from '../../src/runtime/plan/names.ts';
import { figure } from './figure.ts';
import { type Key, makeKey, ssh } from './guest.ts';
import { type LabStage, labStage } from './lab.ts';
import { OpenStack } from './openstack.ts';
import { gone, ready, until, valueIn } from './stage.ts';
import { type Server, Tenant } from './tenant.ts';

const release = process.env.LAB_RELEASES?.split(',')[0] ?? '2025.2';
const yaml = parse(readFileSync('lab/cloud-nodes.yaml', 'utf8')) as AnyObject & {
  spec: { readonly nodeNamespace: string };
};
const NODES = yaml.spec.nodeNamespace;
const enforce = (name: string, level: string): Promise<string> =>
  kubectl(['label', '--overwrite', 'namespace', name, `pod-security.kubernetes.io/enforce=${level}`]);

interface Emulator {
  readonly pid: string;
  readonly uids: readonly string[];
  readonly seccomp: string;
}

/** Emulators of this machine: they left the cgroup of their pod, so only their command tells. */
function emulators(): readonly Emulator[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .flatMap(pid => {
      try {
        const [program = ''] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
        if (!/\/qemu-(system|kvm)/.test(program)) return [];
        const status = readFileSync(`/proc/${pid}/status`, 'utf8');
        const field = (name: string): string => new RegExp(`^${name}:\\s+(.*)$`, 'm').exec(status)?.[1] ?? '';
        return [{ pid, uids: field('Uid').split(/\s+/), seccomp: field('Seccomp') }];
      } catch {
        return []; // It ended meanwhile.
      }
    });
}

describe(`a cloud whose namespace enforces PodSecurity, ${release}`, { timeout: 1_800_000 }, () => {
  let stage: LabStage;
  let nodes: LabStage;
  let os: OpenStack;
  let tenant: Tenant;
  let key: Key;
  let server: Server;

  beforeAll(async () => {
    stage = await labStage(namespace);
    nodes = await labStage(NODES);
    await kubectl(['label', '--overwrite', 'namespace', NODES, `${NODES_OF_LABEL}=${namespace}`]);
    await enforce(NODES, 'privileged');
    await enforce(namespace, 'baseline');
    key = await makeKey();
  });

  it('is Ready from one object, with its pods of the node in the other namespace', async () => {
    await stage.apply({ ...yaml, spec: { ...yaml.spec, release } });
    await ready(stage, OpenStackControlPlane, 'cloud');
    expect(await stage.list(DaemonSet)).toEqual([]);
    const sets = (await nodes.list(DaemonSet)).map(set => set.metadata.name).sort();
    expect(sets).toEqual([
      'nova-cell1-libvirt',
      'nova-cell1-libvirt-compute',
      'nova-cell1-libvirt-virtlogd',
      'ovn-controller',
      'ovn-gateway',
      'ovn-metadata-agent',
    ]);
    const pods = await nodes.list(Pod);
    figure('pods in the node namespace', pods.length);
    expect(pods.length).toBeGreaterThan(4);
    os = await OpenStack.login(namespace, await valueIn(stage, 'keystone-admin', 'password', Secret));
    tenant = new Tenant(stage, os, key);
    await tenant.sweep();
  });

  it('makes an image, networks, a router to the outside', async () => {
    await tenant.image();
    await tenant.furnish();
  });

  it('boots a guest that gets an address and its metadata', async () => {
    await tenant.hostKnown();
    server = await tenant.active(await tenant.boot('one', tenant.connected()));
    const told = await tenant.greeted(server.id);
    console.log(told.join('\n  '));
    expect(told.join()).toContain('GUEST-DHCP-OK');
    expect(told.join()).toContain('GUEST-METADATA-OK');
  });

  it('runs its emulator as nobody of the node, under a filter of system calls', () => {
    const found = emulators();
    console.log(JSON.stringify(found));
    expect(found).toHaveLength(1);
    for (const { uids, seccomp } of found) {
      expect(uids).not.toContain('0');
      expect(seccomp).toBe('2');
    }
  });

  it('is reached by ssh through a floating IP', async () => {
    const floating = await tenant.floatingAddress(server.id);
    let said: string | undefined;
    await until(stage, 'ssh answers', 90, async () => {
      said = await ssh(key, floating, 'hostname');
      return said !== undefined;
    });
    expect(said).toMatch(/^one/);
  });

  it('runs on under profile restricted, with root filesystems that are read-only', async () => {
    await enforce(namespace, 'restricted');
    await stage.apply({ ...yaml, spec: { ...yaml.spec, release, podProfile: 'restricted' } });
    await ready(stage, OpenStackControlPlane, 'cloud');
    // Pods of Jobs that ran under the other profile are still there, and replaced ones end their requests.
    const running = (await stage.list(Pod)).filter(
      ({ metadata, status }) => metadata.deletionTimestamp === undefined && (status as PodStatus).phase === 'Running',
    );
    const containers = running.flatMap(({ metadata, spec }) => {
      const { initContainers = [], containers } = spec as PodSpec;
      return [...initContainers, ...containers].map(container => ({ pod: metadata.name, ...container }));
    });
    figure('containers with a read-only root filesystem', containers.length);
    expect(containers.length).toBeGreaterThan(10);
    const writable = containers.filter(({ securityContext }) => securityContext?.readOnlyRootFilesystem !== true);
    expect(writable.map(({ pod, name }) => `${pod} ${name}`)).toEqual([]);
    await tenant.hostsServe();
    const second = await tenant.active(await tenant.boot('two', tenant.connected()));
    expect((await tenant.greeted(second.id)).join()).toContain('GUEST-METADATA-OK');
  });

  it('lets go of everything, is deleted, and leaves nothing in the node namespace', async () => {
    await tenant.sweep();
    await gone(stage, OpenStackControlPlane, 'cloud');
    await until(stage, 'pods are gone', 180, async () =>
      (await Promise.all([stage.list(Pod), nodes.list(Pod)])).every(pods => pods.length === 0),
    );
    const kinds = [DaemonSet, StatefulSet, Secret, Service, ConfigMap, PersistentVolumeClaim];
    const left = (await Promise.all(kinds.map(kind => nodes.list(kind)))).flat();
    const ours = left.filter(({ metadata: { labels = {} } }) => labels[OWNER_NAMESPACE_LABEL] !== undefined);
    expect(ours.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([]);
    // What follows on this lab makes its pods of the node here again.
    await kubectl(['label', 'namespace', namespace, 'pod-security.kubernetes.io/enforce-']);
  });
});
