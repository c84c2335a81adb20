import { OVNNetwork } from '../../../api/openstack/ovnnetwork.ts';
import type { ObjectOf } from '../../../api/schema/kind.ts';
import type { Section } from '../../oslo/model.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import { fieldMissing, subjectOf, wait } from '../../runtime/plan/unmet.ts';
import { overTls } from '../tls/certificate.ts';
import { CA_BUNDLE, OWN_CERTIFICATE, OWN_KEY, trustOf } from '../tls/trust.ts';

export type OVNObject = ObjectOf<typeof OVNNetwork>;

export const NB_PORT = 6641;
export const SB_PORT = 6642;

/** What a client of the fabric must know. */
export interface OvnLink {
  readonly northbound: string;
  readonly southbound: string;
  readonly encapType: 'geneve' | 'vxlan';
  /** Physical networks that some node is plugged into. */
  readonly physicalNetworks: readonly string[];
  readonly metadata: boolean;
  /** PEM; there when clients must speak TLS, and show a certificate of their own. */
  readonly ca?: string;
}

/** How a client in Python shows who it is; it reads the files at each connection. */
export const clientSection = (): Section =>
  Object.fromEntries(
    ['nb', 'sb'].flatMap(name => [
      [`ovn_${name}_private_key`, OWN_KEY],
      [`ovn_${name}_certificate`, OWN_CERTIFICATE],
      [`ovn_${name}_ca_cert`, CA_BUNDLE],
    ]),
  );

/** Known before the databases run: the addresses are those of their Services. */
export async function ovnLink<O extends Managed>(cx: Cx<O>, name: string, field: string): Promise<OvnLink> {
  const found = cx.get(OVNNetwork, name);
  if (found === undefined)
    throw wait({
      reason: 'NotFound',
      about: subjectOf(OVNNetwork, name),
      field,
      what: `OVNNetwork ${name} does not exist`,
      who: 'User',
      next: `create it, or name another one in ${field}`,
    });
  const { northbound, southbound } = found.status ?? {};
  const scheme = overTls(found.spec) ? 'ssl:' : 'tcp:';
  if (southbound === undefined || !northbound?.startsWith(scheme))
    throw wait({
      reason: 'NotReady',
      about: subjectOf(OVNNetwork, name),
      waitsFor: subjectOf(OVNNetwork, name),
      what: `Waiting for OVNNetwork ${name}: it has no addresses${northbound === undefined ? '' : ` by ${scheme}`} yet`,
      who: 'Operator',
    });
  const { encapType, bridgeMappings = {}, metadataAgent } = found.spec;
  const physicalNetworks = Object.keys(bridgeMappings).sort();
  const ca = await trustOf(cx, found);
  if (ca !== undefined && !overTls(cx.spec))
    throw fieldMissing(
      'spec.tls',
      `OVNNetwork ${name} asks its clients for certificates, and spec.tls.enabled is not true here`,
      'set spec.tls with an issuer or a Secret',
    );
  const link = { northbound, southbound, encapType, physicalNetworks, metadata: metadataAgent.enabled };
  return { ...link, ...(ca !== undefined && { ca }) };
}
