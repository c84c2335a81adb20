import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import type { AnyObject, DeepReadonly } from '../kube/object.ts';
import { Job, Pod, ReplicaSet, Secret } from '../kube/resource.ts';
import type { Conf } from '../oslo/conf.ts';
import { generatedKey, overrideKey } from '../oslo/conf.ts';
import { type UserText, userText } from '../oslo/layers.ts';
import { parse } from '../oslo/parse.ts';
import { write } from '../oslo/write.ts';
import { hashOf } from '../runtime/plan/canonical.ts';
import type { Cx } from '../runtime/plan/cx.ts';
import type { Managed } from '../runtime/plan/managed.ts';
import { stall } from '../runtime/plan/unmet.ts';

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
}

const folderOf = (service: string): string => `/etc/${service}/${service}.conf.d`;

/** What we generate for an oslo service. */
export const generatedFile = (conf: Conf): ConfigFile => {
  const key = generatedKey(conf.service);
  return { key, path: `${folderOf(conf.service)}/${key}`, text: write(conf.sections) };
};

/** The user's text verbatim, then the user's Secrets, in the order in which oslo reads them. Stalls on text that oslo would not read. */
export async function userFiles<O extends Managed>(cx: Cx<O>, service: string): Promise<ConfigFile[]> {
  const spec = cx.spec as UserConfig;
  const files: ConfigFile[] = [];
  const add = (key: string, text: string): void => void files.push({ key, path: `${folderOf(service)}/${key}`, text });
  const field = 'spec.customServiceConfig';
  const texts: UserText[] = [];
  const own = (object: { kind: string; name: string }, text: string | undefined): void => {
    if (!text) return;
    checkSyntax(text, object.name === cx.name ? field : `${object.kind} ${object.name} ${field}`);
    texts.push({ object: `${object.kind} ${cx.namespace}/${object.name}`, field, text });
  };
  const parent = cx.object.metadata.ownerReferences?.find(
    ref => ref.controller && ref.kind === OpenStackControlPlane.kind,
  );
  // The cloud's text goes to every service, under the service's own.
  if (parent) own(parent, cx.get(OpenStackControlPlane, parent.name)?.spec.customServiceConfig);
  own({ kind: cx.object.kind, name: cx.name }, spec.customServiceConfig);
  const merged = userText(texts);
  if (merged !== undefined) add(overrideKey(service), merged);
  for (const [index, name] of (spec.customServiceConfigSecrets ?? []).entries()) {
    const field = `spec.customServiceConfigSecrets[${index}]`;
    const data: Readonly<Record<string, string>> = await cx.secret(name, [], field);
    for (const [key, text] of Object.entries(data).sort()) {
      checkSyntax(text, `${field} (Secret ${name}, key ${key})`);
      add(`03-${String(index).padStart(2, '0')}-${key}.conf`, text);
    }
  }
  return files;
}

function checkSyntax(text: string, field: string): void {
  const result = parse(text);
  if ('error' in result)
    throw stall({
      reason: 'InvalidConfig',
      what: `${field} line ${result.error.line}, column ${result.error.column}: ${result.error.message}`,
      who: 'User',
      next: 'correct it; until then everything runs on with the last valid text',
    });
}

/**
 * Writes `<object>-config-data` for people and tools, and beside it an immutable copy named by its content for pods.
 * A copy lives while anything that could start a pod names it (rule 19).
 */
export async function configSecret<O extends Managed>(cx: Cx<O>, files: readonly ConfigFile[]): Promise<Config> {
  const data = Object.fromEntries(files.map(f => [f.key, Buffer.from(f.text, 'utf8').toString('base64')]));
  const stable = `${cx.name}-config-data`;
  const hash = hashOf(data).slice(0, 10);
  const secret = `${stable}-${hash}`;
  const labels = { [COPY_LABEL]: cx.name };
  await cx.all([
    cx.apply(Secret, { metadata: { name: secret, labels }, type: 'Opaque', immutable: true, data }),
    cx.apply(Secret, { metadata: { name: stable }, type: 'Opaque', data }),
  ]);
  const copies = cx.list(Secret, labels).filter(copy => ownedBy(cx, copy) && copy.metadata.name !== secret);
  if (copies.length > 0) {
    const ours = { 'app.kubernetes.io/name': cx.object.kind.toLowerCase(), 'app.kubernetes.io/instance': cx.name };
    const named = namedSecrets([Pod, ReplicaSet, Job].flatMap(resource => cx.list(resource, ours)));
    const spare = [...copies].sort(byAge).slice(0, SPARE_COPIES - 1);
    for (const copy of copies) if (named.has(copy.metadata.name) || spare.includes(copy)) cx.keep(copy);
  }
  return { secret, hash, files: files.map(({ key, path }) => ({ key, path })) };
}

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
