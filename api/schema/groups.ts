import type { GroupVersion } from './kind.ts';

/** Groups follow the documents that define the kinds, so that their examples apply unchanged. */
export const openstack: GroupVersion = { group: 'openstack.k8s.io', version: 'v1alpha1' };
export const nova: GroupVersion = { group: 'nova.openstack.org', version: 'v1beta1' };
export const neutron: GroupVersion = { group: 'neutron.openstack.org', version: 'v1beta1' };
export const dataplane: GroupVersion = { group: 'dataplane.openstack.org', version: 'v1beta1' };
export const ansibleee: GroupVersion = { group: 'ansibleee.openstack.org', version: 'v1beta1' };
