import { describe, expect, it } from 'vitest';
import { type Live, viewOf } from '../view/view.ts';
import { journeysOf, SOURCES } from './journey.ts';

const object = (kind: string, name: string, more: object = {}, owner?: string): Live => ({
  apiVersion: 'x/v1',
  kind,
  ...more,
  metadata: {
    name,
    namespace: 'a',
    uid: name,
    ...(more as { metadata?: object }).metadata,
    ...(owner && { ownerReferences: [{ apiVersion: 'x', kind: 'x', name: owner, uid: owner, controller: true }] }),
  },
});
const text = '[libvirt]\ncpu_mode = custom\ncpu_models = Nehalem\n';
const config = object('ConfigMap', 'nova-extra-config', {
  metadata: {
    annotations: {
      [SOURCES.definition]: '.zuul.yaml line 182',
      [SOURCES.file]: '25-nova-extra.conf',
      [SOURCES.variable]: 'DATAPLANE_EXTRA_NOVA_CONFIG_FILE',
    },
  },
  data: { '25-nova-extra.conf': text },
});
const service = object('OpenStackDataPlaneService', 'nova-custom', {
  spec: { playbook: 'osp.edpm.nova', configMaps: ['nova-extra-config'] },
});
const set = object('OpenStackDataPlaneNodeSet', 'edpm', {
  spec: { services: ['nova-custom'], nodes: { 'compute-0': {} } },
});
const deployment = object('OpenStackDataPlaneDeployment', 'now', { spec: { nodeSets: ['edpm'] } });
const volumes = { volumes: [{ name: 'c', configMap: { name: 'nova-extra-config' } }] };
const run = object('OpenStackAnsibleEE', 'nova-run', { spec: { extraVolumes: [volumes] } });
const job = (done: boolean) =>
  object(
    'Job',
    'nova-run-1',
    {
      spec: { template: { spec: volumes } },
      status: {
        conditions: done ? [{ type: 'Complete', status: 'True', lastTransitionTime: '2026-01-05T08:00:00Z' }] : [],
      },
    },
    'nova-run',
  );
const hops = (...objects: Live[]) => journeysOf(viewOf(objects, 0), 'libvirt', 'cpu_models', 'compute-0')[0];

describe('the journey of [libvirt] cpu_models', () => {
  it('has the twelve hops of the document, each with what its object says', () => {
    const journey = hops(config, service, set, deployment, run, job(true));
    expect(journey?.value).toBe('Nehalem');
    expect(journey?.hops.map(hop => `${hop.number} ${hop.state} ${hop.says}`)).toEqual([
      '1 done .zuul.yaml line 182',
      '2 done 25-nova-extra.conf',
      '3 done DATAPLANE_EXTRA_NOVA_CONFIG_FILE',
      '4 done nova-extra-config',
      '5 done nova-extra-config, 25-nova-extra.conf line 3',
      '6 done OpenStackDataPlaneService nova-custom (osp.edpm.nova)',
      '7 done OpenStackDataPlaneNodeSet edpm',
      '8 done OpenStackAnsibleEE nova-run',
      '9 done Job nova-run-1',
      '10 done Job nova-run-1',
      '11 done copied to /var/lib/openstack/config/nova by 2026-01-05T08:00:00Z',
      '12 unknown the cluster does not see into the container on the host',
    ]);
  });
  it('stops where something is missing', () => {
    const open = (...objects: Live[]) => hops(...objects)?.hops.find(hop => hop.state === 'open');
    expect(open(config, service, set)).toMatchObject({
      number: 8,
      says: 'no OpenStackDataPlaneDeployment for these node sets',
    });
    expect(open(config, service, set, deployment)).toMatchObject({
      number: 8,
      says: expect.stringContaining('made no OpenStackAnsibleEE'),
    });
    expect(open(config, service, set, deployment, run)).toMatchObject({ number: 9 });
    expect(open(config, service, set, deployment, run, job(false))).toMatchObject({
      number: 10,
      says: 'the Job is not complete',
    });
  });
  it('says nothing of a host that it does not reach, nor of a text that no service names', () => {
    expect(journeysOf(viewOf([config, service, set], 0), 'libvirt', 'cpu_models', 'compute-9')).toEqual([]);
    expect(journeysOf(viewOf([config, set], 0), 'libvirt', 'cpu_models')).toEqual([]);
  });
  it('hides what is secret', () => {
    const bare = object('ConfigMap', 'nova-extra-config', { data: { 'a.conf': '[neutron]\npassword = hunter2\n' } });
    expect(journeysOf(viewOf([bare, service, set], 0), 'neutron', 'password')[0]?.value).toBe('(secret)');
  });
  it('knows neither source nor file where nobody wrote them down', () => {
    const bare = object('ConfigMap', 'nova-extra-config', { data: { 'a.conf': text } });
    expect(
      hops(bare, service, set)
        ?.hops.slice(0, 4)
        .map(hop => hop.state),
    ).toEqual(['unknown', 'unknown', 'unknown', 'unknown']);
  });
});
