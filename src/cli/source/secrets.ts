import { filesOf } from '../../insight/config/lint.ts';
import { HIDDEN, type Hide, secretsIn } from '../../insight/view/hide.ts';
import type { AnyObject } from '../../kube/object.ts';
import { Matcher } from '../../world/mask/matcher.ts';

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

interface Kept {
  /** Without content, unless it is the config of a service. */
  readonly secret: AnyObject;
  readonly values: readonly string[];
}

/**
 * A look asks for names and versions; content comes over the wire when some version is new, so never at rest. What is
 * kept of it: what no answer may hold, and the config of services, because people ask for it.
 */
export function createSecretMemory(): SecretMemory {
  const kept = new Map<string, ReadonlyMap<string, Kept>>();
  const matcher = new Matcher();

  function replace(namespace: string, now: ReadonlyMap<string, Kept> | undefined): void {
    const before = kept.get(namespace);
    for (const [version, { values }] of now ?? [])
      if (!before?.has(version)) for (const value of values) matcher.add(value);
    for (const [version, { values }] of before ?? [])
      if (!now?.has(version)) for (const value of values) matcher.remove(value);
    if (now) kept.set(namespace, now);
    else kept.delete(namespace);
  }

  async function lookIn(reader: SecretReader, namespace: string): Promise<readonly AnyObject[]> {
    const before = kept.get(namespace);
    const names = before && (await reader.names(namespace));
    const isNew = names && (names.length !== before.size || names.some(secret => !before.has(versionOf(secret))));
    const whole = !before || isNew ? await reader.whole(namespace) : undefined;
    if (whole)
      replace(
        namespace,
        new Map(whole.map(secret => [versionOf(secret), before?.get(versionOf(secret)) ?? keptOf(secret)])),
      );
    // What could not be read this time is still not for everybody's eyes.
    return [...(kept.get(namespace)?.values() ?? [])].map(({ secret }) => secret);
  }

  return {
    async look(reader, namespaces) {
      for (const namespace of [...kept.keys()]) if (!namespaces.includes(namespace)) replace(namespace, undefined);
      return (await Promise.all(namespaces.map(namespace => lookIn(reader, namespace)))).flat();
    },
    hide: text => matcher.replace(text, () => HIDDEN),
  };
}

const versionOf = ({ metadata }: AnyObject): string => `${metadata.uid} ${metadata.resourceVersion}`;

function keptOf(secret: AnyObject): Kept {
  const values = secretsIn(secret);
  if (filesOf(secret).length > 0) return { secret, values };
  const { data: _data, stringData: _plain, ...rest } = secret;
  return { secret: rest as AnyObject, values };
}
