import type { AnyObject, DeepReadonly } from '../../kube/object.ts';
import type { Conf } from '../../oslo/conf.ts';
import { type Layered, type LayerInput, layered, originOf } from '../../oslo/layers.ts';
import type { Layer, Source } from '../../oslo/model.ts';
import type { Schema } from '../../oslo/options.ts';
import { type Document, parse } from '../../oslo/parse.ts';
import { soundsSecret } from '../../world/mask/shapes.ts';
import { HIDDEN } from '../view/hide.ts';

type Live = DeepReadonly<AnyObject>;

/** What trace looks at. Everything but the Secret is optional; the answer then says less, never something else. */
export interface TraceInput {
  /** The stable `<object>-config-data`. */
  readonly secret: Live;
  /** Immutable copies of it that are still there. */
  readonly copies?: readonly Live[];
  readonly pods?: readonly Live[];
  /** Namespaces of such pods; default: that of the Secret. */
  readonly places?: readonly string[];
  /** What the service's table generates now: gives the layers inside the `01-` file. */
  readonly generated?: Conf;
  readonly schema?: Schema;
  /** The layer of an object that wrote into the `02-` file. Default: control plane by its kind, everything else service. */
  readonly layerOf?: (object: string) => Layer;
  /** Show values of secret options. */
  readonly reveal?: boolean;
}

export interface Setter extends Source {
  /** Key of the config Secret. */
  readonly file: string;
  /** Line in that file; `line` counts in the user's own field. */
  readonly fileLine: number;
  readonly value: string;
}

export interface PodState {
  readonly pod: string;
  readonly copy: string;
  readonly hash?: string;
  readonly since?: string;
  /** Whether the pod runs the value that the stable Secret holds; 'unknown' if its copy is gone. */
  readonly runs: 'current' | 'other' | 'unknown';
  readonly value?: string;
}

export interface Trace {
  readonly section: string;
  readonly key: string;
  readonly secret: string;
  /** Whether some value below is hidden. */
  readonly masked: boolean;
  /** Absent when no file sets the option. A MultiStr option has all its values. */
  readonly values: readonly string[];
  /** Who set what counts: one setter, or all that add to a MultiStr option. */
  readonly setters: readonly Setter[];
  /** Who set it in vain, lowest first. */
  readonly overrides: readonly Setter[];
  readonly pods: readonly PodState[];
  /** Other values in kept copies, newest first. */
  readonly earlier: readonly { readonly copy: string; readonly created?: string; readonly values: readonly string[] }[];
}

/** The journey of one option: from the objects that set it, through the config Secret, to the pods that run it. */
export const trace = (input: TraceInput, section: string, key: string): Trace => tracer(input)(section, key);

/** For many options of one Secret: its files are read once. */
export function tracer(input: TraceInput): (section: string, key: string) => Trace {
  const { secret, copies = [], pods = [], schema } = input;
  const files = filesOf(secret);
  const merged = new Map([secret, ...copies].map(object => [object, merge(filesOf(object), schema)]));
  const prefix = secret.metadata.name;
  const places = input.places ?? [secret.metadata.namespace ?? ''];
  const mounts = pods
    .filter(pod => places.includes(pod.metadata.namespace ?? ''))
    .flatMap(pod => mounted(pod, prefix).map(copy => ({ pod, copy })));
  return (section, key) => {
    const now = merged.get(secret)?.effective(section, key);
    const raw = now?.values ?? [];
    const hidden =
      isSecret(section, key, schema) ||
      [...merged.values()].some(layers => isFromSecret(layers.effective(section, key)));
    let masked = false;
    const show = (value: string): string => {
      if (input.reveal || value === '' || !(hidden || hasCredentials(value))) return value;
      masked = true;
      return HIDDEN;
    };
    const setter = (part: { section: string; key: string; value: string; source: Source }): Setter => {
      const file = part.source.field ?? '';
      const fileLine = part.source.line ?? 0;
      return {
        ...origin(input, files, file, fileLine, part.section, part.key),
        file,
        fileLine,
        value: show(part.value),
      };
    };
    const known = new Map(
      [...merged].map(([{ metadata }, layers]) => [metadata.name, layers.effective(section, key)?.values ?? []]),
    );
    const found = {
      section: now?.section ?? section,
      key: now?.key ?? key,
      secret: prefix,
      values: raw.map(show),
      setters: now?.parts.map(setter) ?? [],
      overrides: now?.overrides.map(setter) ?? [],
      pods: mounts.map(({ pod, copy }) => podState(pod, copy, raw, known.get(copy), show)),
      earlier: [...copies]
        .filter(copy => !same(known.get(copy.metadata.name) ?? [], raw))
        .sort((a, b) => ((a.metadata.creationTimestamp ?? '') < (b.metadata.creationTimestamp ?? '') ? 1 : -1))
        .map(({ metadata }) => ({
          copy: metadata.name,
          ...(metadata.creationTimestamp && { created: metadata.creationTimestamp }),
          values: (known.get(metadata.name) ?? []).map(show),
        })),
    };
    return { ...found, masked };
  };
}

interface File {
  readonly name: string;
  readonly text: string;
  readonly document: Document;
}

/** The numbered files, in the order in which oslo reads the folder. A file that does not parse counts for nothing here. */
function filesOf(secret: Live): File[] {
  const data = (secret.data ?? {}) as Readonly<Record<string, string>>;
  return Object.keys(data)
    .filter(name => /^\d\d-.*\.conf$/.test(name))
    .sort()
    .flatMap(name => {
      const text = Buffer.from(data[name] ?? '', 'base64').toString('utf8');
      const parsed = parse(text);
      return 'ok' in parsed ? [{ name, text, document: parsed.ok }] : [];
    });
}

/** All files as one layer each: here the field of a source is the file's name, origin() finds the rest. */
function merge(files: readonly File[], schema: Schema | undefined): Layered {
  const inputs = files.map(
    ({ name, document }): LayerInput => ({ layer: 'service', field: name, file: name, document }),
  );
  return layered(inputs, schema);
}

function origin(
  input: TraceInput,
  files: readonly File[],
  file: string,
  line: number,
  section: string,
  key: string,
): Source {
  if (file.startsWith('01-')) {
    const part = input.generated && layered(input.generated.parts).effective(section, key);
    return { layer: part?.source.layer ?? 'service-defaults' };
  }
  if (!file.startsWith('02-')) return { layer: 'secret', field: file, line };
  const from = originOf(files.find(({ name }) => name === file)?.text ?? '', line);
  if (!from) return { layer: 'service', field: file, line };
  const kind = from.object.startsWith('OpenStackControlPlane ') ? 'controlplane' : 'service';
  return { layer: input.layerOf?.(from.object) ?? kind, ...from };
}

function isSecret(section: string, key: string, schema: Schema | undefined): boolean {
  return schema?.option(section, key)?.secret === true || soundsSecret(key);
}

/** What customServiceConfigSecrets bring is secret as a whole, whatever its name. */
const isFromSecret = (found: ReturnType<Layered['effective']>): boolean =>
  [...(found?.parts ?? []), ...(found?.overrides ?? [])].some(part => part.source.field?.startsWith('03-'));

const hasCredentials = (value: string): boolean => /:\/\/[^/@\s:]*:[^/@\s]+@/.test(value);

interface PodSpec {
  readonly volumes?: readonly {
    readonly secret?: { readonly secretName?: string };
    readonly projected?: { readonly sources?: readonly { readonly secret?: { readonly name?: string } }[] };
  }[];
}

/** Names of the config Secret's copies that a pod mounts, or its stable name. */
function mounted(pod: Live, prefix: string): string[] {
  const names = ((pod.spec ?? {}) as PodSpec).volumes?.flatMap(({ secret, projected }) => [
    secret?.secretName,
    ...(projected?.sources ?? []).map(source => source.secret?.name),
  ]);
  const ours = (name: string | undefined): name is string =>
    name === prefix || (name?.startsWith(`${prefix}-`) === true && !name.slice(prefix.length + 1).includes('-'));
  return [...new Set((names ?? []).filter(ours))];
}

function podState(
  pod: Live,
  copy: string,
  current: readonly string[],
  running: readonly string[] | undefined,
  show: (value: string) => string,
): PodState {
  const hash = pod.metadata.annotations?.['openstack.k8s.io/config-hash'];
  const since = (pod.status as { readonly startTime?: string } | undefined)?.startTime;
  return {
    pod: pod.metadata.name,
    copy,
    ...(hash && { hash }),
    ...(since && { since }),
    runs: running === undefined ? 'unknown' : same(running, current) ? 'current' : 'other',
    ...(running && running.length > 0 && { value: running.map(show).join('\n') }),
  };
}

const same = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((value, index) => value === b[index]);
