import { CERT_MANAGER, installForeign, issuer } from './certificates.ts';
import type { Cloud } from './cloud.ts';
import { cephSecret, ingressClass, label } from './services.ts';

/** What each sample of a cloud needs of its cluster beside a labelled node. */
export const GROUND: Readonly<Record<string, (cloud: Cloud) => void>> = {
  minimal: () => {},
  ceph: cloud => cloud.apply(cephSecret()),
  cells: () => {},
  ovs: () => {},
  tls: cloud => {
    cloud.hands.apply(ingressClass('traefik'));
    installForeign(cloud, ...CERT_MANAGER);
    cloud.hands.apply(issuer('ClusterIssuer', 'openstack-public'));
  },
};

/** A node that may run guests and meets the outside, and what this sample counts on. */
export function standsOn(cloud: Cloud, sample: string): void {
  label(cloud, 'node-1', { 'openstack.k8s.io/compute': '', 'openstack.k8s.io/gateway': '' });
  GROUND[sample]?.(cloud);
}
