import type { AnyObject } from '../../kube/object.ts';
import { isPlainOwnerKey, OWNER_SECRET } from '../../runtime/plan/names.ts';
import { maskObject } from '../../world/mask/fields.ts';
import { isMadeFile, PLAIN_KEYS } from '../../world/mask/secret.ts';
import { type Hide, hiderOf, isMade, masking, textsOf, withoutCopies } from './hide.ts';
import { type Live, namespaceOf } from './view.ts';

/** In the place of a value that has no name of its own: too short, or of several lines. */
const NAMELESS = 'masked';
const NAME = /^masked-\d{4,}$/;

/**
 * Objects that may leave the house: every value of a Secret is replaced by a name for it, the same wherever it appears,
 * also inside config files and URLs. The same objects give the same bundle.
 */
export function masked(objects: readonly Live[]): readonly AnyObject[] {
  const sorted = [...objects].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  const names = new Map<string, string>();
  const mask = masking(
    hiderOf(sorted, value => {
      const name = names.get(value) ?? `masked-${String(names.size + 1).padStart(4, '0')}`;
      names.set(value, name);
      return name;
    }),
  );
  return sorted.map(object => {
    const clean = maskObject(withoutCopies(object as AnyObject), mask);
    if (object.kind !== 'Secret') return clean;
    const { stringData: _plain, ...rest } = clean as AnyObject & { stringData?: unknown };
    const data = Object.entries(textsOf(object))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, value]) => [key, encode(maskedValue(object, key, value, mask))]);
    return { ...rest, data: Object.fromEntries(data) };
  });
}

const keyOf = (object: Live): string =>
  `${namespaceOf(object)}/${object.kind}/${object.metadata.name}/${object.metadata.uid ?? ''}`;
const encode = (text: string): string => Buffer.from(text, 'utf8').toString('base64');

/** Certificates are for everybody. */
const CERTIFICATES = /^(-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----\s*)+$/;

function maskedValue(secret: Live, key: string, value: string, mask: Hide): string {
  // The owner id is no secret: it stands in every mark, and without it a replay could not tell what is the cloud's own.
  if (secret.metadata.name === OWNER_SECRET && isPlainOwnerKey(key)) return value;
  if (value === '' || CERTIFICATES.test(value)) return value;
  if (PLAIN_KEYS.has(key) || (isMade(secret) && isMadeFile(key))) return mask(value);
  const named = mask(value.trim());
  return NAME.test(named) ? named : NAMELESS;
}

/** A container's log in a bundle, as an object like all others. */
export const LOG_API = 'insight.openstack.k8s.io/v1';
export const logObject = (pod: { namespace: string; name: string }, container: string, text: string): AnyObject => ({
  apiVersion: LOG_API,
  kind: 'ContainerLog',
  metadata: { name: `${pod.name}.${container}`, namespace: pod.namespace },
  text,
});
