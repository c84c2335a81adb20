import { Nova } from '../../../api/openstack/nova.ts';
import { OVNNetwork } from '../../../api/openstack/ovnnetwork.ts';
import type { SpecOf } from '../../../api/schema/kind.ts';
import {
  DaemonSet,
  Deployment,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  ReplicaSet,
  Secret,
  Service,
  StatefulSet,
  StorageClass,
} from '../../kube/resource.ts';
import { conf } from '../../oslo/conf.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import { plan, rowsOf } from '../../runtime/plan/row.ts';
import { stall, subjectOf, wait } from '../../runtime/plan/unmet.ts';
import {
  type ConfigFile,
  configSecrets,
  generatedFile,
  overwrittenFiles,
  plainTexts,
  userFiles,
} from '../config/config.ts';
import { applyService } from '../exposure/expose.ts';
import { networkPolicyRow, open } from '../exposure/network.ts';
import { hostsCanReachRow } from '../hosts.ts';
import { noRotationRow } from '../links/credentials.ts';
import { podLabels, serviceHost, workloadName } from '../names.ts';
import { askedBy, type Process, type ProcessVolume } from '../pods/pod.ts';
import { oneReplica, removeData, storageClass } from '../pods/storage.ts';
import { tlsVolumes } from '../pods/tls-volumes.ts';
import { processOf, runPods, type Workload } from '../pods/workload.ts';
import { overTls } from '../tls/certificate.ts';
import { certificateRow } from '../tls/row.ts';
import { trust } from '../tls/trust.ts';
import { REFERENCES, usersBy } from '../users.ts';
import type { OVNObject } from './address.ts';
import { agentOn, agentSections, agentWorkload, chassisProcesses, chassisWorkload } from './chassis.ts';
import { cellAgents, metadataFiles } from './metadata.ts';
import {
  controllerScript,
  DATA,
  DATABASES,
  type DatabaseName,
  databaseScript,
  externalIds,
  northdScript,
  OVN_RUN,
  ovsdbScript,
  scriptArgv,
  vswitchdScript,
} from './scripts.ts';

const row = rowsOf<OVNObject>();
type Spec = SpecOf<typeof OVNNetwork>;

/** uid of `openvswitch`: the databases and northd need no rights at all. */
const OWNER = { name: 'ovn', image: 'ovn-northd', user: 42476 };
/** Who could be asked to replace a file, and has none: scripts and databases are all they read. */
const PARTS = [undefined, 'northd', 'controller', 'metadataAgent'] as const;
const MEMBERS = ['nb', 'sb'] as const satisfies readonly DatabaseName[];

const input = row('InputReady', {
  reads: [StorageClass],
  run: async cx => {
    oneReplica(cx);
    storageClass(cx);
    for (const part of PARTS) overwrittenFiles(cx, part ?? 'ovn', [], part);
    const { customServiceConfig: text, customServiceConfigSecrets: secrets = [] } = cx.spec.northd ?? {};
    if (text || secrets.length > 0)
      throw stall({
        reason: 'NotSupported',
        field: `spec.northd.customServiceConfig${text ? '' : 'Secrets'}`,
        what: `spec.northd.customServiceConfig${text ? '' : 'Secrets'} is set, and ovn-northd reads no text of its own`,
        who: 'User',
        next: 'take it out; what it can be told stands in the northbound database: ovn-nbctl set NB_Global . options:<key>=<value>',
      });
    const ids = (await plainTexts(cx, 'controller')).map(({ field, text }) => {
      const read = externalIds(text);
      if (!('wrong' in read)) return read;
      throw stall({
        reason: 'InvalidConfig',
        field,
        what: `${field} line ${read.line} is not key=value`,
        who: 'User',
        next: 'write one external-id per line, e.g. ovn-encap-tos=inherit',
      });
    });
    return ids.flat();
  },
});

const expose = row('ExposeReady', {
  manages: [Service],
  run: async cx => {
    const [northbound, southbound] = await cx.all(MEMBERS.map(name => exposed(cx, name)));
    cx.report({ northbound, southbound });
    return { northbound: northbound!, southbound: southbound! };
  },
});

/** By address: Python's client of these databases can't resolve names (lab.md 5, trap 1). */
async function exposed(cx: Cx<OVNObject>, name: DatabaseName): Promise<string> {
  const service = workloadName(cx.name, name);
  const { port } = DATABASES[name];
  const selector = podLabels('OVNNetwork', cx.name, name);
  const [live] = await cx.all([
    applyService(cx, { name: service, ports: { ovsdb: port }, selector }),
    applyService(cx, { name: `${service}-members`, ports: { ovsdb: port }, selector, headless: true }),
  ]);
  const { clusterIP } = live.spec as { readonly clusterIP?: string };
  if (!clusterIP)
    throw wait({
      reason: 'NoAddress',
      about: subjectOf(Service, service),
      what: `Service ${service} has no address yet`,
      who: 'Cluster',
      next: 'give it one',
    });
  return `${overTls(cx.spec) ? 'ssl' : 'tcp'}:${clusterIP.includes(':') ? `[${clusterIP}]` : clusterIP}:${port}`;
}

const database = (name: DatabaseName): Workload<Spec> => ({
  as: StatefulSet,
  argv: scriptArgv(name),
  image: DATABASES[name].image,
  direct: true,
  data: DATA,
  scratch: [OVN_RUN],
  ports: { ovsdb: DATABASES[name].port },
  startup: { tcpSocket: { port: DATABASES[name].port }, periodSeconds: 1, failureThreshold: 300 },
  readiness: { tcpSocket: { port: DATABASES[name].port }, periodSeconds: 10 },
  graceSeconds: 60,
  requests: { cpu: '10m', memory: '64Mi' },
});

const northd: Workload<Spec> = {
  argv: scriptArgv('northd'),
  template: 'northd',
  direct: true,
  scratch: [OVN_RUN],
  ...askedBy('sh', '-c', 'ovn-appctl -t ovn-northd sb-connection-status | grep -qx connected'),
  graceSeconds: 30,
  requests: { cpu: '10m', memory: '64Mi' },
};

const AGENT = 'metadata-agent';
/** Agents that only the nodes of one cell run. */
const agentOf = (owner: string): string => `${AGENT}-${owner}`;

/** What forwards requests of guests, when somebody has said where to: Nova in its Secret, or the user. */
const metadataConfig = row('MetadataConfigReady', {
  reads: [Nova, DaemonSet],
  when: object => object.spec.metadataAgent.enabled,
  run: async cx => {
    const user = await userFiles(cx, 'neutron', 'metadataAgent', false);
    const cells = await cellAgents(cx, owner => workloadName(cx.name, agentOf(owner)));
    const all = cells ? [] : [await metadataFiles(cx, workloadName(cx.name, AGENT))];
    const found = [
      ...all.map(each => ({ ...each, component: AGENT, workload: agentWorkload })),
      ...(cells?.agents ?? []).map(each => ({
        ...each,
        component: agentOf(each.owner),
        workload: agentOn(each.nodes),
      })),
    ];
    const agents = found.map(each => ({ ...each, files: [...each.files, ...user] }));
    // Without an address to forward to it would only answer errors.
    return { agents: agents.filter(({ files }) => files.length > 0), shared: cells?.shared };
  },
});

interface Part {
  readonly component: string;
  readonly workload: Workload<Spec>;
  readonly processes: readonly Process[];
  readonly files: readonly ConfigFile[];
}

/** Both sides show one: its own databases and all that call them. No client compares names, they call addresses. */
const certificate = certificateRow<OVNObject>(cx => ({
  hosts: [],
  unchecked: MEMBERS.map(name => serviceHost(cx, workloadName(cx.name, name))),
  client: true,
}));

const config = row('ConfigReady', {
  needs: { input, expose, metadataConfig, certificate },
  manages: [Secret],
  reads: [Pod, ReplicaSet],
  run: async (cx, { input: ids, expose: { northbound, southbound }, metadataConfig, certificate }) => {
    const tls = certificate !== undefined;
    const agents = metadataConfig?.agents ?? [];
    const mounts = tlsVolumes(await trust(cx, certificate?.trust, ...agents.map(({ ca }) => ca)), certificate);
    // Only the agent calls somebody else, and may verify Nova where OVN itself is plain.
    const inner = tls ? mounts : [];
    const simple = (
      component: string,
      workload: Workload<Spec>,
      files: readonly ConfigFile[],
      volumes: readonly ProcessVolume[] = inner,
    ): Part => ({ component, workload, files, processes: [processOf(cx, OWNER, component, workload, volumes)] });
    const chassis = (component: string, gateway: boolean): Part => ({
      component,
      workload: chassisWorkload(cx.spec, gateway),
      processes: chassisProcesses(cx, gateway, inner),
      files: [controllerScript(tls), ovsdbScript(), vswitchdScript(cx.spec, gateway, southbound, ids)],
    });
    const agent = generatedFile(conf('neutron', agentSections(northbound, southbound, tls)));
    const parts = {
      control: [
        ...MEMBERS.map(name => simple(name, database(name), [databaseScript(name, cx.spec)])),
        simple('northd', northd, [northdScript(northbound, southbound, tls)]),
      ],
      chassis: [chassis('controller', false), chassis('gateway', true)],
      agent: agents.map(({ component, workload, files }) => ({
        ...simple(AGENT, workload, [agent, ...files], mounts),
        component,
      })),
    };
    const all = Object.values(parts).flat();
    const configs = await configSecrets(
      cx,
      all.map(part => part.files),
    );
    const peers = all.map(({ workload: { template }, processes }) => ({
      containers: processes.map(process => process.name),
      ...(template !== undefined && { template }),
    }));
    const start = async (wanted: readonly Part[], cx: Cx<OVNObject>) => {
      const pods = wanted.map(part => ({
        ...part,
        process: part.processes,
        config: configs[all.indexOf(part)]!,
        peers,
      }));
      return (await runPods(cx, pods)).ready;
    };
    return { parts, start };
  },
});

const workloads = row('WorkloadsReady', {
  needs: { config },
  manages: [StatefulSet, Deployment, PodDisruptionBudget, PersistentVolumeClaim],
  reads: [Pod, ReplicaSet],
  run: async (cx, { config: { parts, start } }) => {
    const ready = await start(parts.control, cx);
    cx.report({ replicas: ready, readyReplicas: ready });
  },
  undo: async cx => {
    await cx.all(MEMBERS.map(name => removeData(cx, cx.spec.deletionPolicy, workloadName(cx.name, name))));
  },
});

/** Open vSwitch and ovn-controller on the nodes; they wait for the southbound database, which is ours. */
const chassis = row('ChassisReady', {
  needs: { config, workloads },
  manages: [DaemonSet],
  reads: [Pod],
  run: async (cx, { config: { parts, start } }) => cx.report({ chassis: await start(parts.chassis, cx) }),
});

const metadataAgent = row('MetadataAgentReady', {
  needs: { config, workloads, metadataConfig },
  manages: [DaemonSet],
  reads: [Pod],
  when: object => object.spec.metadataAgent.enabled,
  run: async (cx, { config: { parts, start }, metadataConfig }) => {
    if (metadataConfig?.shared) {
      const [first, second] = metadataConfig.shared.map(({ owner, name }) => `NovaCell ${owner} (cell ${name})`);
      throw stall({
        reason: 'CellsShareNodes',
        what: `${first} and ${second} have metadata services of their own and libvirt computes on the same nodes`,
        who: 'User',
        next: 'give the computes of each cell a nodeSelector that no other cell matches: cellTemplates.<cell>.novaComputeTemplates.<name>.nodeSelector',
      });
    }
    await start(parts.agent, cx);
  },
});

/** ovn-controller outside the cluster asks the southbound database, and no other. */
const hostsCanReach = hostsCanReachRow<OVNObject>(cx => ({
  service: workloadName(cx.name, 'sb'),
  port: DATABASES.sb.port,
  selector: podLabels('OVNNetwork', cx.name, 'sb'),
}));

const rotation = noRotationRow<OVNObject>();

/**
 * Chassis and agents are on the networks of their nodes, which have no labels: they ask the southbound database. Whoever
 * writes the northbound one owns every network of the cloud. The agents have its address and open no connection to it,
 * because their extension `metadata` reads no table of it (neutron's ovn_neutron_agent.py).
 */
const networkPolicy = networkPolicyRow<OVNObject>(() => [
  open([DATABASES.sb.port]),
  { ports: [DATABASES.nb.port], from: ['network'] },
]);

export const ovn = plan(
  OVNNetwork,
  {
    input,
    certificate,
    expose,
    metadataConfig,
    config,
    workloads,
    chassis,
    metadataAgent,
    hostsCanReach,
    networkPolicy,
    rotation,
  },
  { users: usersBy(REFERENCES.OVNNetwork) },
);
