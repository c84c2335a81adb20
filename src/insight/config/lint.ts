import { CHILDREN } from '../../../api/openstack/controlplane.ts';
import { type Finding, lint } from '../../oslo/lint.ts';
import { CURE, hostAccess } from '../../services/host-access/index.ts';
import { type Live, namespaceOf, type View } from '../view/view.ts';

/** Which option table the texts of a kind are read by. Kinds that are not here speak another language than oslo's. */
const SERVICES: Readonly<Record<string, string>> = {
  OpenStackControlPlane: 'controlplane',
  Keystone: 'keystone',
  Glance: 'glance',
  Placement: 'placement',
  Neutron: 'neutron',
  Nova: 'nova',
  NovaAPI: 'nova',
  NovaCell: 'nova',
  NovaScheduler: 'nova',
  NovaConductor: 'nova',
  NovaMetadata: 'nova',
  NovaNoVNCProxy: 'nova',
  NovaCompute: 'nova',
  NovaExternalCompute: 'nova',
  Cinder: 'cinder',
  Heat: 'heat',
  OVNMetadataAgent: 'ovn-metadata-agent',
};
/** That of the CRDs (api/blocks/common.ts). */
const DEFAULT_RELEASE = '2025.2';

export const serviceOf = (kind: string): string | undefined => SERVICES[kind];

export interface LintReport {
  /** `Keystone openstack/keystone`, or the name of a file. */
  readonly object: string;
  readonly field: string;
  readonly service: string;
  readonly release: string;
  readonly findings: readonly Finding[];
}

const nameOf = (object: Live): string =>
  `${object.kind} ${namespaceOf(object) ? `${namespaceOf(object)}/` : ''}${object.metadata.name}`;

/** Every `customServiceConfig` in the specs of our objects. A child of a control plane repeats its section and is left out. */
export function lintSpecs(objects: readonly Live[], release?: string): readonly LintReport[] {
  return objects
    .filter(object => serviceOf(object.kind) !== undefined)
    .filter(object => !object.metadata.ownerReferences?.some(ref => ref.controller))
    .flatMap(object => {
      const own = (object.spec as { release?: string } | undefined)?.release;
      return textsIn(object.spec, serviceOf(object.kind) ?? '', 'spec').map(({ field, service, text }) => {
        const chosen = release ?? own ?? DEFAULT_RELEASE;
        return {
          object: nameOf(object),
          field,
          service,
          release: chosen,
          findings: lint(text, { service, release: chosen, from: 'spec' }),
        };
      });
    });
}

/** Fields of specs by which pods would get rights on the node, as the operator would refuse them. */
export const lintAccess = (
  objects: readonly Live[],
  env: Readonly<Record<string, string | undefined>>,
): readonly LintReport[] =>
  objects
    .filter(object => !object.metadata.ownerReferences?.some(ref => ref.controller))
    .flatMap(object =>
      hostAccess(object, env, true).map(({ field, what }) => ({
        object: nameOf(object),
        field,
        service: '',
        release: '',
        findings: [{ severity: 'error', code: 'host-access', line: 0, column: 0, message: `${what}: ${CURE}` }],
      })),
    );

interface Text {
  readonly field: string;
  readonly service: string;
  readonly text: string;
}

/** Below a section of the control plane the text belongs to that section's service. */
function textsIn(value: unknown, service: string, path: string): readonly Text[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, item]): readonly Text[] => {
    const field = `${path}.${name}`;
    if (name === 'customServiceConfig' && typeof item === 'string')
      return service ? [{ field, service, text: item }] : [];
    const child = service === 'controlplane' ? CHILDREN[name as keyof typeof CHILDREN] : undefined;
    return textsIn(item, child ? (serviceOf(child.kind) ?? '') : service, field);
  });
}

/** The rendered files of config Secrets: what the operator generated, and what came from customServiceConfigSecrets. */
export function lintRendered(view: View, release?: string): readonly LintReport[] {
  return view.ofKind('Secret').flatMap(secret => {
    const owner = view.ownerOf(secret);
    const service = owner && serviceOf(owner.kind);
    if (!owner || !service || secret.metadata.name !== `${owner.metadata.name}-config-data`) return [];
    const chosen = release ?? (owner.spec as { release?: string } | undefined)?.release ?? DEFAULT_RELEASE;
    return filesOf(secret).map(({ name, text }) => {
      // The user's own text stands in the spec, where it was looked at already.
      const from = name.startsWith('01-') ? 'generated' : 'secret';
      const findings = name.startsWith('02-') ? [] : lint(text, { service, release: chosen, from });
      return { object: nameOf(secret), field: name, service, release: chosen, findings };
    });
  });
}

/** The numbered oslo files of a config Secret, decoded. */
export function filesOf(secret: Live): readonly { readonly name: string; readonly text: string }[] {
  const data = (secret.data ?? {}) as Readonly<Record<string, string>>;
  return Object.keys(data)
    .filter(name => /^\d\d-.*\.conf$/.test(name))
    .sort()
    .map(name => ({ name, text: Buffer.from(data[name] ?? '', 'base64').toString('utf8') }));
}
