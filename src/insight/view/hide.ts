import type { AnyObject } from '../../kube/object.ts';
import { isPlainOwnerKey, MANAGED_LABEL, OWNER_SECRET } from '../../runtime/plan/names.ts';
import { Matcher } from '../../world/mask/matcher.ts';
import { secretsOf } from '../../world/mask/secret.ts';
import { maskShapes } from '../../world/mask/shapes.ts';
import type { Live } from './view.ts';

/** Takes the values of Secrets out of a text. */
export type Hide = (text: string) => string;

/** In the place of a value. */
export const HIDDEN = '(secret)';

/** Everything of a Secret, as text. */
export function textsOf(secret: Live): Readonly<Record<string, string>> {
  const { data = {}, stringData = {} } = secret as {
    data?: Readonly<Record<string, string>>;
    stringData?: Readonly<Record<string, string>>;
  };
  const decoded = Object.entries(data).map(([key, value]) => [
    key,
    Buffer.from(value ?? '', 'base64').toString('utf8'),
  ]);
  return { ...Object.fromEntries(decoded), ...stringData };
}

export const isMade = ({ metadata }: Live): boolean => metadata.labels?.[MANAGED_LABEL] === 'true';

/** The texts that are secret in an object: none, unless it is a Secret. */
export function secretsIn(object: Live): readonly string[] {
  // A release of Helm is a compressed copy of manifests, of no use to anybody who looks for a value in a text.
  if (object.kind !== 'Secret' || object.type === 'helm.sh/release.v1') return [];
  const all = Object.entries(textsOf(object));
  const data = object.metadata.name === OWNER_SECRET ? all.filter(([key]) => !isPlainOwnerKey(key)) : all;
  return secretsOf(Object.fromEntries(data), { made: isMade(object), files: true });
}

/** By the values of the Secrets among these objects. */
export function hiderOf(objects: readonly Live[], instead: (value: string) => string = () => HIDDEN): Hide {
  const matcher = new Matcher();
  for (const object of objects) for (const value of secretsIn(object)) matcher.add(value);
  return text => matcher.replace(text, instead);
}

/** By value and by shape; values first, because a shape may end in the middle of one. */
export const masking =
  (hide: Hide): Hide =>
  text =>
    maskShapes(hide(text));

/** Fields in which programs and controllers say something. */
const SAID = /(message|note|text|reason|error|output)$/i;

/**
 * An object without the secrets that somebody printed into its status, its event or its log. Done before anything is read
 * from it: what is cut to the width of a terminal, or wrapped, is not found any more.
 */
export function saidSafely<T extends Live>(object: T, hide: Hide): T {
  const isEvent = object.kind === 'Event';
  const { status } = object as { status?: unknown };
  if (!isEvent && status === undefined) return object;
  const mask = masking(hide);
  if (!isEvent) {
    const masked = walk(status, mask);
    return masked === status ? object : { ...object, status: masked };
  }
  return walk(object, mask) as T;
}

/** The same object where nothing was hidden. */
function walk(value: unknown, mask: Hide, name = ''): unknown {
  if (typeof value === 'string') return SAID.test(name) ? mask(value) : value;
  if (typeof value !== 'object' || value === null) return value;
  let changed = false;
  const each = (item: unknown, key: string): unknown => {
    const now = walk(item, mask, key);
    changed ||= now !== item;
    return now;
  };
  const copy = Array.isArray(value)
    ? value.map(item => each(item, name))
    : Object.fromEntries(Object.entries(value).map(([key, item]) => [key, each(item, key)]));
  return changed ? copy : value;
}

/** All texts of an answer, hidden before it leaves: what is a secret is known by its value here, not by its name. */
export function hidden<T>(hide: Hide, answer: T): T {
  // Texts as they are, not as JSON writes them: there a quotation mark in a password is two characters.
  const texts: string[] = [];
  const json = JSON.stringify(answer, (_key, value: unknown) => {
    if (typeof value === 'string') texts.push(value);
    return value;
  });
  if (json === undefined) return answer;
  const all = texts.join('\n');
  if (hide(all) === all) return answer;
  return JSON.parse(json, (_key, value: unknown) => (typeof value === 'string' ? hide(value) : value)) as T;
}

/** kubectl keeps a copy of what was applied, with everything in it. */
export function withoutCopies(object: AnyObject): AnyObject {
  const { 'kubectl.kubernetes.io/last-applied-configuration': copy, ...annotations } =
    object.metadata.annotations ?? {};
  return copy === undefined ? object : { ...object, metadata: { ...object.metadata, annotations } };
}
