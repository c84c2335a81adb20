import { KINDS } from '../../../api/kinds.ts';
import type { AnyObject, DeepReadonly, ObjectMeta } from '../../kube/object.ts';
import { apiVersionOf, Job, Pod, ReplicaSet, Secret } from '../../kube/resource.ts';
import type { Conf } from '../../oslo/conf.ts';
import { generatedKey, overrideKey } from '../../oslo/conf.ts';
import { type UserText, userText } from '../../oslo/layers.ts';
import { parse } from '../../oslo/parse.ts';
import { write } from '../../oslo/write.ts';
import { sameJson } from '../../runtime/plan/canonical.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import { type Cause, stall } from '../../runtime/plan/unmet.ts';
import { CURE, commandRefused } from '../host-access/index.ts';
import { partOf } from '../names.ts';

/** A file of a config Secret and where it belongs in the container. */
export interface ConfigFile {
  readonly key: string;
  readonly path: string;
  readonly text: string;
}

/** What pods mount: the name of an immutable copy, so that a pod never sees half of an edit. */
export interface Config {
  readonly secret: string;
  readonly hash: string;
  readonly files: readonly Omit<ConfigFile, 'text'>[];
}

/** Copies that no pod names any more, kept so that `kubectl rollout undo` finds its files. */
const SPARE_COPIES = 5;
const COPY_LABEL = 'openstack.k8s.io/config-of';

interface UserConfig {
  readonly customServiceConfig?: string;
  readonly customServiceConfigSecrets?: readonly string[];
  readonly defaultConfigOverwrite?: Readonly<Record<string, string>>;
}

const folderOf = (service: string): string => `/etc/${service}/${service}.conf.d`;

/** What we generate for an oslo service. */
export const generatedFile = (conf: Conf): ConfigFile => {
  const key = generatedKey(conf.service);
  return { key, path: `${folderOf(conf.service)}/${key}`, text: write(conf.sections) };
};

/**
 * The user's text verbatim, then the user's Secrets, in the order in which oslo reads them; `template` names the field
 * of a sub-service whose text comes after the object's own. Stalls on text that oslo would not read.
 */
export async function userFiles<O extends Managed>(
  cx: Cx<O>,
  service: string,
  template?: string,
  /** false: the object's own text is in another language than its sub-service's. */
  oslo = true,
): Promise<ConfigFile[]> {
  const spec: UserConfig = oslo ? (cx.spec as UserConfig) : {};
  const sub = template === undefined ? undefined : partOf<UserConfig>(cx.spec, template);
  const texts: UserText[] = [];
  const own = (object: { kind: string; name: string }, text: string | undefined, field: string): void => {
    if (!text) return;
    const place = object.name === cx.name ? field : `${object.kind} ${object.name} ${field}`;
    checkText(cx, text, { place, field, about: { kind: object.kind, name: object.name } });
    texts.push({ object: `${object.kind} ${cx.namespace}/${object.name}`, field, text });
  };
  const self = { kind: cx.object.kind, name: cx.name };
  // The cloud's text goes to every service, under the service's own; a service's to its parts, under theirs.
  for (const parent of above(cx)) own(parent, parent.text, 'spec.customServiceConfig');
  own(self, spec.customServiceConfig, 'spec.customServiceConfig');
  own(self, sub?.customServiceConfig, `spec.${template}.customServiceConfig`);
  const files: ConfigFile[] = [];
  const merged = userText(texts);
  if (merged !== undefined) {
    const name = overrideKey(service);
    // One Secret holds the texts of all sub-services, so theirs need keys of their own.
    const key = sub?.customServiceConfig ? name.replace(/\.conf$/, `.${template}.conf`) : name;
    files.push({ key, path: `${folderOf(service)}/${name}`, text: merged });
  }
  files.push(...(await secretFiles(cx, service, spec, 'spec', '')));
  if (sub) files.push(...(await secretFiles(cx, service, sub, `spec.${template}`, `${template}-`)));
  return files;
}

/** A text of the user's and the field that it comes from. */
export interface PlainText {
  readonly field: string;
  readonly text: string;
}

/** The user's text where it is not oslo's: as it stands, the object's own before that of its Secrets, then the template's. */
export async function plainTexts<O extends Managed>(cx: Cx<O>, template?: string): Promise<readonly PlainText[]> {
  const found: PlainText[] = [];
  for (const [at, from] of levels(cx, template)) {
    const { customServiceConfig, customServiceConfigSecrets = [] } = from;
    if (customServiceConfig) found.push({ field: `${at}.customServiceConfig`, text: customServiceConfig });
    for (const [index, name] of customServiceConfigSecrets.entries()) {
      const field = `${at}.customServiceConfigSecrets[${index}]`;
      const data: Readonly<Record<string, string>> = await cx.secret(name, [], field);
      for (const [key, text] of Object.entries(data).sort())
        found.push({ field: `${field} (Secret ${name}, key ${key})`, text });
    }
  }
  return found;
}

/** The same in one piece, for a single file. */
export const plainText = async <O extends Managed>(cx: Cx<O>): Promise<string> =>
  (await plainTexts(cx)).map(({ text }) => text).join('\n');

/** What the object says, then what its template does. */
function levels<O extends Managed>(
  cx: Cx<O>,
  template: string | undefined,
): readonly (readonly [string, UserConfig])[] {
  const own = ['spec', cx.spec as UserConfig] as const;
  return template === undefined ? [own] : [own, [`spec.${template}`, partOf<UserConfig>(cx.spec, template) ?? {}]];
}

/** The owners of an object, the highest first, and the text that each has for what is below it. */
function above<O extends Managed>(cx: Cx<O>): readonly { kind: string; name: string; text: string | undefined }[] {
  const found: { kind: string; name: string; text: string | undefined }[] = [];
  let metadata: DeepReadonly<ObjectMeta> = cx.object.metadata;
  for (;;) {
    const ref = metadata.ownerReferences?.find(owner => owner.controller);
    if (ref === undefined) return found;
    const kind = KINDS.find(own => own.kind === ref.kind && apiVersionOf(own) === ref.apiVersion);
    const parent = kind && cx.wish(kind, ref.name);
    if (parent?.metadata.uid !== ref.uid) return found;
    found.unshift({ kind: ref.kind, name: ref.name, text: (parent.spec as UserConfig).customServiceConfig });
    metadata = parent.metadata;
  }
}

async function secretFiles<O extends Managed>(
  cx: Cx<O>,
  service: string,
  from: UserConfig,
  at: string,
  prefix: string,
): Promise<ConfigFile[]> {
  const files: ConfigFile[] = [];
  for (const [index, name] of (from.customServiceConfigSecrets ?? []).entries()) {
    const field = `${at}.customServiceConfigSecrets[${index}]`;
    const data: Readonly<Record<string, string>> = await cx.secret(name, [], field);
    for (const [part, text] of Object.entries(data).sort()) {
      checkText(cx, text, { place: `${field} (Secret ${name}, key ${part})`, field });
      const key = `03-${prefix}${String(index).padStart(2, '0')}-${part}.conf`;
      files.push({ key, path: `${folderOf(service)}/${key}`, text });
    }
  }
  return files;
}

/**
 * Whole files that the user replaces; a template's come before the object's. Only what the service reads may be named: a
 * typo would be a file without a reader.
 */
export function overwrittenFiles<O extends Managed>(
  cx: Cx<O>,
  service: string,
  allowed: readonly string[],
  template?: string,
): ConfigFile[] {
  const files = new Map<string, ConfigFile>();
  for (const [at, { defaultConfigOverwrite: wanted = {} }] of levels(cx, template))
    for (const [name, text] of Object.entries(wanted)) {
      if (name === START && allowed.includes(START)) continue;
      if (!allowed.includes(name))
        throw stall({
          reason: 'FileNotAllowed',
          field: `${at}.defaultConfigOverwrite`,
          what: `${at}.defaultConfigOverwrite names ${name}, which ${service} does not read`,
          who: 'User',
          next: allowed.length > 0 ? `use one of ${allowed.join(', ')}` : 'take it out: nothing of it can be replaced',
        });
      // One Secret holds the files of all sub-services.
      const key = at === 'spec' ? name : `${template}-${name}`;
      files.set(name, { key, path: `/etc/${service}/${name}`, text });
    }
  return [...files.values()];
}

/** Kolla's description of how to start a container: the command, and which files go where. */
export const START = 'config.json';

/** Whose start description an overwrite may replace. */
export interface Started {
  /** Field of a sub-service; its text comes before the object's. */
  readonly template?: string | undefined;
  /** The object's own text is about its main container only. */
  readonly main: boolean;
  /** Why Kolla does not start it, if so. */
  readonly without?: string | undefined;
}

/** The user's start description of a container, if there is one. */
export function overwrittenStart<O extends Managed>(
  cx: Cx<O>,
  { template, main, without }: Started,
): string | undefined {
  const [object, part] = levels(cx, template);
  const found = [part, main ? object : undefined].find(each => each?.[1].defaultConfigOverwrite?.[START] !== undefined);
  const text = found?.[1].defaultConfigOverwrite?.[START];
  if (found === undefined || text === undefined) return undefined;
  const field = `${found[0]}.defaultConfigOverwrite[${START}]`;
  if (without !== undefined)
    throw stall({
      reason: 'NotSupported',
      field,
      what: `${field} is set, and ${without}, so nothing reads it`,
      who: 'User',
      next: 'take it out; override.podTemplate can change the command of a container',
    });
  const wrong = startProblem(text);
  if (wrong !== undefined)
    throw stall({ reason: 'InvalidConfig', field, what: `${field} ${wrong}`, who: 'User', next: LAST_VALID });
  return text;
}

/** What is wrong with it, or undefined. */
export function startProblem(text: string): string | undefined {
  try {
    const { command } = (JSON.parse(text) ?? {}) as { readonly command?: unknown };
    return typeof command === 'string' && command !== '' ? undefined : 'line 1: command is missing or not a string';
  } catch (error) {
    const { message } = error as Error;
    const position = /position (\d+)/.exec(message)?.[1];
    const before = text.slice(0, position === undefined ? text.length : Number(position)).split('\n');
    const said = message.replace(/ (in JSON )?at position.*$/s, '');
    return `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}: not valid JSON: ${said}`;
  }
}

const LAST_VALID = 'correct it; until then everything runs on with the last valid text';

/** Texts of owners and of Secrets reach an object without being in its spec, so they are looked at here. */
function checkText<O extends Managed>(
  cx: Cx<O>,
  text: string,
  { place, ...at }: { readonly place: string } & Pick<Cause, 'field' | 'about'>,
): void {
  const result = parse(text);
  if ('error' in result)
    throw stall({
      ...at,
      reason: 'InvalidConfig',
      what: `${place} line ${result.error.line}, column ${result.error.column}: ${result.error.message}`,
      who: 'User',
      next: LAST_VALID,
    });
  const command = commandRefused(cx.object, text, cx.env);
  if (command !== undefined)
    throw stall({
      ...at,
      reason: 'HostAccessRefused',
      what: `${place} sets ${command}, a command of pods with rights on the node`,
      who: 'User',
      next: CURE,
    });
}

/**
 * Writes `<object>-config-data` for people and tools, and beside it an immutable copy named by its content for pods.
 * A copy lives while anything that could start a pod names it (rule 19).
 */
export async function configSecret<O extends Managed>(
  cx: Cx<O>,
  files: readonly ConfigFile[],
  of: string = cx.name,
): Promise<Config> {
  const [config] = await configSecrets(cx, [files], of);
  return config!;
}

/**
 * The same for an object whose workloads read different files: the stable Secret has them all, a copy only those of
 * its workload, so that an edit rolls nobody who does not read it.
 */
export async function configSecrets<O extends Managed>(
  cx: Cx<O>,
  sets: readonly (readonly ConfigFile[])[],
  /** What it is named after, where an object has several. */
  of: string = cx.name,
): Promise<readonly Config[]> {
  const stable = `${of}-config-data`;
  const labels = { [COPY_LABEL]: of };
  const there = cx.list(Secret, labels).filter(copy => ownedBy(cx, copy));
  const configs = await cx.all(
    sets.map(async files => {
      const data = dataOf(files);
      const hash = copyOf(there, stable, data) ?? (await cx.hash(data)).slice(0, 10);
      return { data, secret: `${stable}-${hash}`, hash, files: files.map(({ key, path }) => ({ key, path })) };
    }),
  );
  const current = new Map(configs.map(({ secret, data }) => [secret, data]));
  await cx.all([
    ...[...current].map(([name, data]) =>
      cx.apply(Secret, { metadata: { name, labels }, type: 'Opaque', immutable: true, data }),
    ),
    cx.apply(Secret, { metadata: { name: stable }, type: 'Opaque', data: dataOf(sets.flat()) }),
  ]);
  const copies = there.filter(copy => !current.has(copy.metadata.name));
  if (copies.length > 0) {
    const ours = { 'app.kubernetes.io/name': cx.object.kind.toLowerCase(), 'app.kubernetes.io/instance': cx.name };
    const named = namedSecrets([Pod, ReplicaSet, Job].flatMap(resource => cx.list(resource, ours)));
    const spare = [...copies].sort(byAge).slice(0, SPARE_COPIES * current.size - current.size);
    for (const copy of copies) if (named.has(copy.metadata.name) || spare.includes(copy)) cx.keep(copy);
  }
  return configs.map(({ secret, hash, files }) => ({ secret, hash, files }));
}

/**
 * The hash by which there is such a copy already: a content has one name as long as a copy of it lives. So neither an
 * operator that names copies in another way nor a key that was lost rolls a pod. The oldest, which stays it.
 */
function copyOf(
  copies: readonly DeepReadonly<AnyObject>[],
  stable: string,
  data: Readonly<Record<string, string>>,
): string | undefined {
  const found = copies.filter(copy => sameJson(copy.data, data)).sort((a, b) => byAge(b, a))[0]?.metadata.name;
  return found?.startsWith(`${stable}-`) ? found.slice(stable.length + 1) : undefined;
}

const dataOf = (files: readonly ConfigFile[]): Record<string, string> =>
  Object.fromEntries(files.map(f => [f.key, Buffer.from(f.text, 'utf8').toString('base64')]));

const ownedBy = (cx: Cx<Managed>, object: DeepReadonly<AnyObject>): boolean =>
  object.metadata.ownerReferences?.some(ref => ref.uid === cx.object.metadata.uid) ?? false;

const byAge = (a: DeepReadonly<AnyObject>, b: DeepReadonly<AnyObject>): number => {
  const [left, right] = [a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? ''];
  return left === right ? (a.metadata.name < b.metadata.name ? -1 : 1) : left < right ? 1 : -1;
};

interface Volumes {
  volumes?: { secret?: { secretName?: string } }[];
}

function namedSecrets(objects: readonly DeepReadonly<AnyObject>[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const object of objects) {
    const spec = object.spec as DeepReadonly<Volumes & { template?: { spec?: Volumes } }> | undefined;
    for (const volume of [...(spec?.volumes ?? []), ...(spec?.template?.spec?.volumes ?? [])])
      if (volume.secret?.secretName) names.add(volume.secret.secretName);
  }
  return names;
}
