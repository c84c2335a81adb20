import { Neutron } from '../../../api/openstack/neutron.ts';
import { OVNNetwork } from '../../../api/openstack/ovnnetwork.ts';
import { workloadName } from '../names.ts';
import { ovnLink } from '../ovn/address.ts';
import { metadataFiles } from '../ovn/metadata.ts';
import { daemon, uwsgi } from '../pods/workload.ts';
import { openstackService } from '../standard/service.ts';
import { agentFiles, agents } from './agents.ts';
import { CONFIG_FILES, isOvs, ml2File, type NeutronInput, neutronConf, STATE } from './config.ts';

const shared = { env: () => [CONFIG_FILES], scratch: [STATE] };
/** One each: they find work in the database, and a second one would find the same. */
const worker = {
  ...shared,
  template: 'workersServiceTemplate',
  replicas: 1,
  graceSeconds: 30,
  requests: { cpu: '20m', memory: '320Mi' },
} as const;

const agentInput = ({ files, ca }: Awaited<ReturnType<typeof metadataFiles>>): NeutronInput => ({
  agents: files,
  ...(ca !== undefined && { ca }),
});

export const neutron = openstackService(Neutron, {
  name: 'neutron',
  user: 42435,
  image: 'neutron-server',
  catalog: { type: 'network', check: '/v2.0/networks?limit=1' },
  bus: true,
  databases: { neutron: { section: 'database', sync: ['neutron-db-manage', 'upgrade', 'heads'] } },
  client: true,
  trusts: ({ ca }) => [ca],
  overwrites: ['policy.yaml', 'api-paste.ini'],
  input: async (cx): Promise<NeutronInput> =>
    isOvs(cx.spec)
      ? agentInput(await metadataFiles(cx, workloadName(cx.name, 'metadata-agent')))
      : ovnLink(cx, cx.spec.ovnInstance, 'spec.ovnInstance'),
  after: cx => {
    if (!isOvs(cx.spec)) cx.ready(OVNNetwork, cx.spec.ovnInstance, 'spec.ovnInstance');
  },
  pods: {
    api: uwsgi(
      {
        service: 'neutron',
        port: 9696,
        module: 'neutron.wsgi.api:application',
        health: '/healthcheck',
        // All workers of a pod must agree on when it started, or only the last one gets events of OVN.
        settings: { 'start-time': '%t' },
      },
      { ...shared, requests: { cpu: '50m', memory: '640Mi' } },
    ),
    periodic: daemon('neutron-periodic-workers', worker),
    maintenance: daemon('neutron-ovn-maintenance-worker', { ...worker, when: spec => spec.mechanism === 'ovn' }),
    // Agents call in here.
    rpc: daemon('neutron-rpc-server', {
      ...shared,
      template: 'workersServiceTemplate',
      when: spec => spec.mechanism === 'ovs',
    }),
    ...agents,
  },
  config: neutronConf,
  files: x => [ml2File(x)],
  partFiles: (x, component) => ('agents' in x.input ? agentFiles({ ...x, input: x.input }, component) : []),
});
