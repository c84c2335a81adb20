import { NovaCell } from '../../../api/nova/cell.ts';
import { NovaCompute } from '../../../api/nova/compute.ts';
import { NovaConductor } from '../../../api/nova/conductor.ts';
import { NovaMetadata } from '../../../api/nova/metadata.ts';
import { NovaNoVNCProxy } from '../../../api/nova/novncproxy.ts';
import type { InputOf, ObjectOf } from '../../../api/schema/kind.ts';
import type { DeepReadonly } from '../../kube/object.ts';
import { Secret, Service } from '../../kube/resource.ts';
import { write } from '../../oslo/write.ts';
import { hashOf } from '../../runtime/plan/canonical.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import { assertReady } from '../../runtime/plan/ready.ts';
import { plan, rowsOf } from '../../runtime/plan/row.ts';
import { fieldMissing, subjectOf, wait } from '../../runtime/plan/unmet.ts';
import { encoded } from '../encoded.ts';
import { type Exposed, ingressUrl } from '../exposure/ingress.ts';
import { hostAddress } from '../hosts.ts';
import { IMAGES } from '../images.ts';
import { readBus } from '../links/bus.ts';
import { readIdentity } from '../links/identity.ts';
import { type Place, serviceHost } from '../names.ts';
import { overTls, schemeOf } from '../tls/certificate.ts';
import { trust } from '../tls/trust.ts';
import { applyAgentSecrets, hostAgentSecret } from './agents.ts';
import { CONSOLE_PORT, hostConf, METADATA_PORT } from './config.ts';
import { sharedSecret } from './secrets.ts';
import { CELL0, inner, trustOnly } from './spec.ts';

type CellObject = ObjectOf<typeof NovaCell>;
type Cell = DeepReadonly<CellObject>;
const row = rowsOf<CellObject>();

const cellName = (object: Cell): string => object.spec.cellName ?? object.metadata.name;
const isCell0 = (object: Cell): boolean => cellName(object) === CELL0;
const hasMetadata = (object: Cell): boolean => object.spec.metadataServiceTemplate?.enabled === true;
/** Nothing in cell0 ever runs, so nothing there has a console. */
const hasConsole = (object: Cell): boolean => object.spec.noVNCProxyServiceTemplate?.enabled ?? !isCell0(object);

const conductorName = (cx: Place): string => `${cx.name}-conductor`;
const metadataName = (cx: Place): string => `${cx.name}-metadata`;
const consoleName = (cx: Place): string => `${cx.name}-novncproxy`;
/** Where browsers find the console, if they do outside of this cluster. */
function publicConsole(cx: Cx<CellObject>): string | undefined {
  const { tls, noVNCProxyServiceTemplate: own = {} } = cx.spec;
  const exposed = hostAddress(cx, own, { service: consoleName(cx), port: CONSOLE_PORT });
  const direct = exposed && `${schemeOf(cx.spec)}://${exposed.host}:${exposed.port}`;
  return own.publicURL ?? ingressUrl({ ...own, ...(tls && { tls }) } as Exposed) ?? direct;
}
const consoleUrl = (cx: Cx<CellObject>): string =>
  publicConsole(cx) ?? `${schemeOf(cx.spec)}://${serviceHost(cx, consoleName(cx))}:${CONSOLE_PORT}`;

const LINKS = ['cellDatabaseSecret', 'messageBusSecret', 'keystoneSecret'] as const;
const COMMON = ['release', 'podProfile', ...IMAGES, 'region', 'memcachedServers', 'memcachedSecret', ...LINKS] as const;

const served = (spec: DeepReadonly<CellObject['spec']>): object => (spec.tls ? { tls: spec.tls } : {});

/** What every part of the cell gets. */
function common(cx: Cx<CellObject>): Record<string, unknown> {
  const spec = cx.spec as Record<string, unknown>;
  const set = COMMON.filter(field => spec[field] !== undefined).map(field => [field, spec[field]]);
  return { ...Object.fromEntries(set), cellName: cellName(cx.object) };
}

const bare = (template: object | undefined): object => {
  const { enabled: _e, ...rest } = (template ?? {}) as Record<string, unknown>;
  return rest;
};

const input = row('InputReady', {
  run: async cx => {
    for (const field of [...LINKS, ...(isCell0(cx.object) ? (['apiDatabaseSecret'] as const) : [])])
      if (!cx.spec[field]) throw fieldMissing(`spec.${field}`, `spec.${field} is not set`, 'name a Secret in it');
  },
});

const conductor = row('ConductorReady', {
  needs: { input },
  manages: [NovaConductor],
  run: async cx => {
    const { conductorServiceTemplate, apiDatabaseSecret, cellMappingsSecret } = cx.spec;
    const spec = {
      ...bare(conductorServiceTemplate),
      ...common(cx),
      ...trustOnly(cx.spec),
      ...(isCell0(cx.object) && { apiDatabaseSecret, ...(cellMappingsSecret && { cellMappingsSecret }) }),
    } as Partial<InputOf<typeof NovaConductor>>;
    await cx.readyChild(NovaConductor, conductorName(cx), spec);
  },
});

const console = row('ConsoleReady', {
  needs: { input },
  manages: [NovaNoVNCProxy],
  when: hasConsole,
  run: async cx => {
    const spec = { ...bare(cx.spec.noVNCProxyServiceTemplate), ...common(cx), ...served(cx.spec) };
    await cx.readyChild(NovaNoVNCProxy, consoleName(cx), spec);
  },
});

const metadata = row('MetadataReady', {
  needs: { input },
  manages: [NovaMetadata],
  when: hasMetadata,
  run: async cx => {
    const { metadataSecret } = cx.spec;
    const spec = {
      ...bare(cx.spec.metadataServiceTemplate),
      ...common(cx),
      ...inner(cx.spec),
      ...(metadataSecret && { metadataSecret }),
    };
    await cx.readyChild(NovaMetadata, metadataName(cx), spec);
  },
});

/** For the agents on hosts of this cell, when the cell serves metadata itself. */
const metadataConfig = row('MetadataConfigReady', {
  manages: [Secret],
  reads: [Service],
  when: hasMetadata,
  run: async cx => {
    const secret = await sharedSecret(cx, cx.spec.metadataSecret);
    const service = metadataName(cx);
    const address = hostAddress(cx, cx.spec.metadataServiceTemplate ?? {}, { service, port: METADATA_PORT });
    const pods = { service, secret };
    await applyAgentSecrets(cx, cx.name, { pods, hosts: { ...pods, address }, tls: overTls(cx.spec) });
    cx.report({ metadataConfigSecret: hostAgentSecret(cx.name) });
  },
});

/** For nova-compute on hosts outside the cluster: all it needs to find the control plane. */
const computeConfig = row('ComputeConfigReady', {
  needs: { input },
  manages: [Secret],
  reads: [Service],
  when: object => !isCell0(object),
  run: async cx => {
    const { messageBusSecret = '', keystoneSecret = '' } = cx.spec;
    const [bus, identity] = await cx.all([
      readBus(cx, messageBusSecret, 'spec.messageBusSecret'),
      readIdentity(cx, keystoneSecret, 'spec.keystoneSecret'),
    ]);
    const consoleURL = hasConsole(cx.object) ? consoleUrl(cx) : undefined;
    const far = {
      bus: { ...bus, ...bus.outside },
      identity: { ...identity, ...(identity.outside && { url: identity.outside }) },
      ...(identity.outside && { interface: 'public' as const }),
    };
    const text = write(hostConf({ spec: cx.spec, ...far, consoleURL }).sections);
    const name = `${cx.name}-compute-config`;
    // Where the host has to put it: the paths in the config are the same everywhere.
    const bundle = await trust(cx, bus.ca, identity.ca);
    const data = encoded({ '01-nova.conf': text, ...(bundle && { 'ca.crt': bundle.text }) });
    await cx.apply(Secret, { metadata: { name }, type: 'Opaque', data });
    // One of an operator without a key stays until the text changes: whoever compares would see a change.
    const former = hashOf(text).slice(0, 10);
    const configHash = cx.status.configHash === former ? former : (await cx.hash(text)).slice(0, 10);
    cx.report({ computeConfigSecret: name, configHash });
    return [
      ...(bus.outside ? [] : ['the message bus']),
      ...(identity.outside ? [] : ['Keystone']),
      ...(consoleURL === undefined || publicConsole(cx) ? [] : ['the console proxy']),
    ];
  },
});

/** Beside Ready: a cell without hosts outside the cluster is whole. */
const hostsCanReach = row('HostsCanReach', {
  needs: { computeConfig },
  when: object => !isCell0(object),
  aside: true,
  run: async (cx, { computeConfig: missing = [] }) => {
    if (missing.length > 0)
      throw wait({
        reason: 'NotExposed',
        what: `Secret ${cx.name}-compute-config has addresses for ${missing.join(', ')} that only this cluster knows`,
        who: 'User',
        next: 'set expose there if hosts outside the cluster are to use it',
      });
  },
});

/** A compute asks the conductor before it does anything. As every edge, this one gates the first start only (rule 9). */
const computes = row.each('ComputesReady', {
  needs: { input },
  manages: [NovaCompute],
  over: object =>
    Object.entries(object.spec.novaComputeTemplates ?? {}).map(([name, template]) => ({ name, template })),
  run: async (cx, { name, template }) => {
    const child = `${cx.name}-${name}`;
    if (cx.get(NovaCompute, child) === undefined) afterConductor(cx);
    const { virtType, ephemeralStorage, cephStorage, nodeNamespace } = cx.spec;
    const { cellDatabaseSecret: _database, ...links } = { ...common(cx), ...trustOnly(cx.spec) };
    const shape = { virtType, ephemeralStorage, cephStorage };
    const set = Object.fromEntries(Object.entries(shape).filter(([, value]) => value !== undefined));
    const spec = {
      ...set,
      ...template,
      ...links,
      ...(nodeNamespace && { nodeNamespace }),
      ...(hasConsole(cx.object) && { consoleURL: consoleUrl(cx) }),
    } as Partial<InputOf<typeof NovaCompute>>;
    await cx.readyChild(NovaCompute, child, spec);
  },
});

function afterConductor(cx: Cx<CellObject>): void {
  const conductor = cx.get(NovaConductor, conductorName(cx));
  if (conductor === undefined) {
    const what = `NovaConductor ${conductorName(cx)} does not exist yet`;
    throw wait({
      reason: 'NotReady',
      about: subjectOf(NovaConductor, conductorName(cx)),
      what,
      who: 'Operator',
      next: 'make it',
    });
  }
  assertReady(conductor);
}

export const novaCell = plan(NovaCell, {
  input,
  conductor,
  console,
  metadata,
  metadataConfig,
  computeConfig,
  hostsCanReach,
  computes,
});
