import type { Layer } from '../../oslo/model.ts';
import { type Schema, schemaOf } from '../../oslo/options.ts';
import { assignments, parse } from '../../oslo/parse.ts';
import { maskShapes } from '../../world/mask/shapes.ts';
import { type Live, labelOf, namespaceOf, nodeNamespaces, type View } from '../view/view.ts';
import { filesOf, serviceOf } from './lint.ts';
import { type Setter, type Trace, type TraceInput, tracer } from './trace.ts';

/** One option of one config Secret, and every layer that set it. */
export interface Setting {
  readonly section: string;
  readonly key: string;
  readonly values: readonly string[];
  /** The layer that won. */
  readonly layer: Layer;
  readonly setters: readonly Setter[];
  /** Who set it in vain, lowest first. */
  readonly overrides: readonly Setter[];
  readonly masked: boolean;
  /** Pods that run another value, or nobody knows which. */
  readonly elsewhere: readonly { readonly pod: string; readonly runs: 'other' | 'unknown' }[];
}

export interface Settings {
  /** Whose config it is: `NovaScheduler nova-scheduler`. */
  readonly of: string;
  readonly secret: string;
  /** How many pods mount it. */
  readonly pods: number;
  readonly options: readonly Setting[];
}

/** Every option that some layer sets for an object or its parts. */
export function settingsOf(view: View, object: Live): readonly Settings[] {
  return configsBelow(view, object).map(secret => {
    const input = traceInput(view, secret);
    const trace = tracer(input);
    const names = new Map<string, readonly [string, string]>();
    for (const { text } of filesOf(secret)) {
      const parsed = parse(text);
      for (const { section, key } of 'ok' in parsed ? assignments(parsed.ok) : [])
        names.set(`[${section}] ${key}`, [section, key]);
    }
    const traces = [...names.keys()].sort().map(name => trace(...names.get(name)!));
    const owner = view.ownerOf(secret);
    return {
      of: labelOf(owner ?? secret),
      secret: secret.metadata.name,
      pods: traces[0]?.pods.length ?? 0,
      options: traces.map(settingOf),
    };
  });
}

function settingOf({ section, key, values, setters, overrides, masked, pods }: Trace): Setting {
  const shown = (setter: Setter): Setter => ({ ...setter, value: maskShapes(setter.value) });
  return {
    section,
    key,
    values: values.map(maskShapes),
    layer: setters.at(-1)?.layer ?? 'service-defaults',
    setters: setters.map(shown),
    overrides: overrides.map(shown),
    masked,
    elsewhere: pods.flatMap(({ pod, runs }) => (runs === 'current' ? [] : [{ pod, runs }])),
  };
}

/** Config Secrets of the object and of its parts: Nova has one per process. */
export function configsBelow(view: View, object: Live): readonly Live[] {
  const parts = view.ours.filter(
    other =>
      other === object || view.ownerOf(other) === object || view.ownerOf(view.ownerOf(other) ?? other) === object,
  );
  return parts
    .flatMap(part => view.get('Secret', namespaceOf(part), `${part.metadata.name}-config-data`) ?? [])
    .filter(secret => filesOf(secret).length > 0);
}

const releaseOf = (view: View, secret: Live): string =>
  (view.ownerOf(secret)?.spec as { release?: string } | undefined)?.release ?? '2025.2';

/** What a trace through this Secret looks at: its kept copies, the pods that may mount it, the option table. */
export function traceInput(view: View, secret: Live): TraceInput & { readonly pods: readonly Live[]; schema?: Schema } {
  const copies = view
    .ofKind('Secret')
    .filter(
      other => namespaceOf(other) === namespaceOf(secret) && other.metadata.name.startsWith(`${secret.metadata.name}-`),
    );
  const schema = schemaOf(serviceOf(view.ownerOf(secret)?.kind ?? '') ?? '', releaseOf(view, secret));
  const places = [namespaceOf(secret), ...nodeNamespaces(view.ours, namespaceOf(secret))];
  const pods = view.ofKind('Pod').filter(pod => {
    const { phase } = (pod.status ?? {}) as { phase?: string };
    // What has ended runs nothing any more.
    return phase !== 'Succeeded' && phase !== 'Failed';
  });
  return { secret, copies, pods, places, ...(schema && { schema }) };
}
