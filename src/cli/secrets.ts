import { hider } from '../insight/bundle.ts';
import { filesOf } from '../insight/config.ts';
import type { AnyObject } from '../kube/object.ts';

/** Longer values (certificates, Helm releases) appear whole in no answer. */
const LONGEST_HIDDEN = 512;

export type Hide = (text: string) => string;

/** Takes the values of these Secrets out of a text. */
export const hiding = (objects: readonly AnyObject[]): Hide => hider(objects, () => '(secret)', LONGEST_HIDDEN);

/** undefined: they could not be read. */
export interface SecretReader {
  /** Without content. */
  names(namespace: string): Promise<readonly AnyObject[] | undefined>;
  whole(namespace: string): Promise<readonly AnyObject[] | undefined>;
}

/** What somebody remembers who looks at the Secrets of a cluster again and again. */
export interface SecretMemory {
  /** Those of these namespaces; content only in those that hold config. */
  look(reader: SecretReader, namespaces: readonly string[]): Promise<readonly AnyObject[]>;
  readonly hide: Hide;
}

/**
 * A look asks for names and versions; content comes over the wire when some version is new, so never at rest. What is
 * kept of it: short values, because no answer may hold one, and the config of services, because people ask for it.
 */
export function createSecretMemory(): SecretMemory {
  const kept = new Map<string, ReadonlyMap<string, AnyObject>>();
  let hide: Hide | undefined;

  async function lookIn(reader: SecretReader, namespace: string): Promise<readonly AnyObject[]> {
    const before = kept.get(namespace);
    const names = before && (await reader.names(namespace));
    const isNew = names && (names.length !== before.size || names.some(secret => !before.has(versionOf(secret))));
    const whole = !before || isNew ? await reader.whole(namespace) : undefined;
    if (whole) {
      kept.set(namespace, new Map(whole.map(secret => [versionOf(secret), reduced(secret)])));
      hide = undefined;
    }
    // What could not be read this time is still not for everybody's eyes.
    return [...(kept.get(namespace)?.values() ?? [])];
  }

  return {
    async look(reader, namespaces) {
      for (const namespace of kept.keys())
        if (!namespaces.includes(namespace)) {
          kept.delete(namespace);
          hide = undefined;
        }
      return (await Promise.all(namespaces.map(namespace => lookIn(reader, namespace)))).flat();
    },
    get hide() {
      hide ??= hiding([...kept.values()].flatMap(secrets => [...secrets.values()]));
      return hide;
    },
  };
}

const versionOf = ({ metadata }: AnyObject): string => `${metadata.uid} ${metadata.resourceVersion}`;

/** Base64 is longer than what it holds by a third. */
const LONGEST_KEPT = Math.ceil(LONGEST_HIDDEN / 3) * 4;

function reduced(secret: AnyObject): AnyObject {
  if (filesOf(secret).length > 0) return secret;
  const { data = {}, ...rest } = secret as AnyObject & { data?: Readonly<Record<string, string>> };
  const short = Object.entries(data).filter(([, value]) => value.length <= LONGEST_KEPT);
  return { ...rest, data: Object.fromEntries(short) } as AnyObject;
}
