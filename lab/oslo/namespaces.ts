const words = (text: string): string[] => text.trim().split(/\s+/);

const token = 'keystonemiddleware.auth_token';
const middleware = words('oslo.middleware.cors oslo.middleware.healthcheck oslo.middleware.http_proxy_to_wsgi');

/**
 * Which `oslo.config.opts` entry points describe each file: those of upstream's own config-generator files, which lie in
 * the source archives and not in the packages. The key is the generator's file without its suffix.
 */
export function namespacesOf(release: string): Readonly<Record<string, readonly string[]>> {
  const agents: Readonly<Record<string, string>> = {
    dhcp_agent: 'neutron.az.agent neutron.base.agent neutron.dhcp.agent',
    l3_agent: 'neutron.az.agent neutron.base.agent neutron.l3.agent',
    metadata_agent: 'neutron.metadata.agent oslo.cache',
    ml2_conf: 'neutron.ml2 neutron.ml2.ovn',
    neutron_ovn_metadata_agent: 'neutron.ovn.metadata.agent',
    openvswitch_agent: 'neutron.ml2.ovs.agent',
    ovn_agent: 'neutron.ml2.ovn.agent',
    sriov_agent: 'neutron.ml2.sriov.agent',
  };
  return {
    cinder: [
      ...words('cinder castellan.config os_brick oslo.config oslo.concurrency oslo.db oslo.log oslo.messaging'),
      ...words('oslo.middleware oslo.policy oslo.privsep oslo.reports oslo.service.periodic_task'),
      ...words('oslo.service.service oslo.service.sslutils oslo.service.wsgi oslo.versionedobjects osprofiler'),
      token,
    ],
    'glance-api': [
      ...words(
        'glance.api glance.store glance.multi_store castellan.config os_brick oslo.concurrency oslo.db oslo.limit',
      ),
      // The last is ours: upstream lists [profiler] of it, and the library itself registers the rest.
      ...words('oslo.log oslo.messaging oslo.policy oslo.reports osprofiler'),
      ...[...middleware, token],
    ],
    heat: [
      ...words('heat.common.cache heat.common.config heat.common.context heat.common.crypt heat.common.wsgi'),
      ...words('heat.engine.clients heat.engine.clients.os.keystone.heat_keystoneclient heat.engine.hot.functions'),
      ...words('heat.engine.notification heat.engine.resources heat.api.aws.ec2token oslo.cache oslo.log'),
      ...words('oslo.messaging oslo.middleware oslo.policy oslo.reports oslo.versionedobjects osprofiler'),
      // From 2025.2 on its processes are started by cotyledon and no longer by oslo.service.
      ...words(
        release < '2025.2' ? 'oslo.service.periodic_task oslo.service.service oslo.service.sslutils' : 'cotyledon',
      ),
      token,
    ],
    keystone: words('keystone oslo.cache oslo.db oslo.log oslo.messaging oslo.middleware oslo.policy osprofiler'),
    neutron: [
      ...words('neutron neutron.agent neutron.db neutron.experimental neutron.extensions nova.auth ironic.auth'),
      ...words('placement.auth designate.auth oslo.cache oslo.concurrency oslo.db oslo.log oslo.messaging oslo.policy'),
      ...words('oslo.privsep oslo.reports oslo.service.periodic_task oslo.service.service oslo.service.wsgi'),
      ...words('oslo.versionedobjects osprofiler'),
      ...[...middleware, token],
      // From 2026.1 on no process of Neutron serves TLS by itself.
      ...(release < '2026.1' ? ['oslo.service.sslutils'] : []),
    ],
    nova: [
      ...words('nova.conf os_brick os_vif oslo.concurrency oslo.limit oslo.log oslo.messaging oslo.middleware'),
      ...words('oslo.policy oslo.privsep oslo.reports oslo.service.periodic_task oslo.service.service'),
      ...words('oslo.versionedobjects osprofiler'),
      token,
    ],
    placement: [...words('placement.conf oslo.log oslo.policy osprofiler'), middleware[0]!, middleware[2]!, token],
    ...Object.fromEntries(Object.entries(agents).map(([file, names]) => [file, [...words(names), 'oslo.log']])),
  };
}
