import { Secret } from '../../kube/resource.ts';
import { write } from '../../oslo/write.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import { encoded } from '../encoded.ts';
import type { HostAddress } from '../hosts.ts';
import { serviceHost } from '../names.ts';
import { METADATA_PORT, metadataAgentConf } from './config.ts';

/*
 * What agents that forward metadata requests of guests have to know. `owner` is the Nova, or the NovaCell that has a
 * metadata service of its own. Each Secret has one key; they differ in the address.
 */

export const AGENT_KEY = '05-nova-metadata.conf';

/** For agents in pods of this cluster. */
export const podAgentSecret = (owner: string): string => `${owner}-metadata-agent-config`;

/** For agents on hosts outside the cluster. */
export const hostAgentSecret = (owner: string): string => `${owner}-metadata-compute-config`;

interface Served {
  /** Service in the cluster that pods ask, and the secret that it knows. */
  readonly pods: { readonly service: string; readonly secret: string };
  readonly hosts: { readonly service: string; readonly secret: string; readonly address: HostAddress | undefined };
  readonly tls: boolean;
}

export async function applyAgentSecrets<O extends Managed>(
  cx: Cx<O>,
  owner: string,
  { pods, hosts, tls }: Served,
): Promise<void> {
  const inside = metadataAgentConf(serviceHost(cx, pods.service), pods.secret, tls);
  const { host, port } = hosts.address ?? { host: serviceHost(cx, hosts.service), port: METADATA_PORT };
  const outside = metadataAgentConf(host, hosts.secret, tls, port);
  // In this order: agents of an earlier version read the second one until they see the first.
  for (const [name, conf] of [
    [podAgentSecret(owner), inside],
    [hostAgentSecret(owner), outside],
  ] as const)
    await cx.apply(Secret, {
      metadata: { name },
      type: 'Opaque',
      data: encoded({ [AGENT_KEY]: write(conf.sections) }),
    });
}
