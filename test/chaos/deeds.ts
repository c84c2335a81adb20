import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { authority, certManager } from '../functional/certificates.ts';
import { Cloud, NS, type Rest } from '../functional/cloud.ts';
import { standsOn } from '../functional/samples.ts';
import type { Deed } from './search.ts';

const sample = parse(readFileSync('config/samples/controlplane_slice.yaml', 'utf8')) as AnyObject & { spec: object };
const slice = (spec: object = {}) => ({ ...sample, spec: { ...sample.spec, ...spec } });

const clouds = new Map<string, Promise<Rest>>();

/** A cloud at rest, made once per worker and policy. */
function deployed(policy: 'Retain' | 'Delete'): Promise<Rest> {
  const known = clouds.get(policy) ?? make();
  clouds.set(policy, known);
  return known;

  async function make(): Promise<Rest> {
    const cloud = await Cloud.start();
    cloud.apply(slice({ deletionPolicy: policy }));
    await cloud.ready(OpenStackControlPlane, 'slice');
    await cloud.settle();
    return cloud.rest();
  }
}

export const deploy: Deed = {
  name: 'deploy',
  before: async () => undefined,
  act: cloud => cloud.apply(slice({ deletionPolicy: 'Retain' })),
};

const deploySample = (name: string, beside?: Deed['beside']): Deed => ({
  name: `deploy the ${name} cloud`,
  before: async () => undefined,
  act: cloud => {
    standsOn(cloud, name);
    cloud.apply(parse(readFileSync(`config/samples/controlplane_${name}.yaml`, 'utf8')) as AnyObject);
  },
  ...(beside && { beside }),
});

export const deployMinimal = deploySample('minimal');

export const edit: Deed = {
  name: 'edit',
  before: () => deployed('Retain'),
  act: cloud =>
    cloud.apply(
      slice({ deletionPolicy: 'Retain', keystone: { replicas: 2, customServiceConfig: '[DEFAULT]\ndebug = true\n' } }),
    ),
};

const remove = (policy: 'Retain' | 'Delete'): Deed => ({
  name: `delete under ${policy}`,
  before: () => deployed(policy),
  act: cloud => cloud.hands.remove(OpenStackControlPlane, NS, 'slice'),
});

export const removeRetain = remove('Retain');
export const removeDelete = remove('Delete');

/** All, by name: what a search spreads over processes. */
export const DEEDS: readonly Deed[] = [
  deploy,
  edit,
  removeRetain,
  removeDelete,
  deployMinimal,
  deploySample('cells'),
  deploySample('ovs'),
  deploySample('nodes'),
  deploySample('ceph'),
  deploySample('tls', certManager(authority('public')).wrap),
];
