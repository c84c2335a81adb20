import type { AnyObject, DeepReadonly, Ref } from '../../../kube/object.ts';
import { keyOf } from '../../../kube/object.ts';
import { type Resource, resourceName, Secret } from '../../../kube/resource.ts';
import { Lru } from '../../../world/lru.ts';
import { KnownSecrets } from '../../../world/mask/known.ts';
import { secretsOf } from '../../../world/mask/secret.ts';
import { isPlainOwnerKey, MANAGED_LABEL, OWNER_SECRET } from '../names.ts';

type Live = DeepReadonly<AnyObject>;

/** What survives a pass only to save requests: losing it costs reads and patience, never a write. */
export class Memory {
  /** By resource and key: what was applied last, and the version that the server answered it with. */
  readonly applied = new Lru<string, { readonly hash: string; readonly version: string | undefined }>(MOST_APPLIED);
  /** By namespace/name of foreign Secrets: what they are at a version. */
  readonly secrets = new Lru<string, { version: string; secret: AnyObject; data: Readonly<Record<string, string>> }>(
    MOST_SECRETS,
  );
  /** What no text may hold. */
  readonly known: KnownSecrets;
  /** By resource and key of sets that a new template waits for: what they look like, and since when. */
  readonly rolls = new Lru<string, { picture: string; since: number }>(MOST_ROLLS);

  constructor(known = new KnownSecrets()) {
    this.known = known;
  }

  /** It is gone: what comes under its name is another one. */
  forget(resource: Resource, ref: Ref): void {
    const key = keyIn(resource, ref);
    this.applied.delete(key);
    this.rolls.delete(key);
    if (resource === Secret) this.secrets.delete(keyOf(ref));
  }
}

/** Objects below some hundred clouds; an entry is a hash and a version. What is pushed out costs an apply that changes nothing. */
const MOST_APPLIED = 50_000;
/** Those that users bring. Each holds its data, so there are fewer. */
const MOST_SECRETS = 1_000;
const MOST_ROLLS = 10_000;

/** No text that this process writes holds a value of it from now on. */
export function learn(known: KnownSecrets, secret: Live, data?: Readonly<Record<string, string>>): void {
  const { metadata } = secret;
  const made = metadata.labels?.[MANAGED_LABEL] === 'true';
  const all = (): Readonly<Record<string, string>> => data ?? decoded(secret);
  known.learn(metadata, `${metadata.uid} ${metadata.resourceVersion}`, () =>
    secretsOf(metadata.name === OWNER_SECRET ? withoutId(all()) : all(), { made, files: false }),
  );
}

const withoutId = (data: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(data).filter(([key]) => !isPlainOwnerKey(key)));

export const decoded = (secret: Live): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries((secret.data ?? {}) as Record<string, string>).map(([key, value]) => [
      key,
      Buffer.from(value, 'base64').toString('utf8'),
    ]),
  );

export const keyIn = (resource: Resource, ref: Ref): string => `${resourceName(resource)} ${keyOf(ref)}`;
