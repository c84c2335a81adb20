import type { AnyObject } from '../../kube/object.ts';

const off = { enabled: false };

/** Identity and what it stands on: the smallest cloud that issues a token. The same as config/samples/controlplane_slice.yaml. */
export const SLICE: AnyObject = {
  apiVersion: 'openstack.k8s.io/v1alpha1',
  kind: 'OpenStackControlPlane',
  metadata: { name: 'slice' },
  spec: { glance: off, placement: off, ovn: off, neutron: off, nova: off },
};
