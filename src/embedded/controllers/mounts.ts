import type { KubeObject } from '../../kube/object.ts';
import { ConfigMap, PersistentVolumeClaim, Secret } from '../../kube/resource.ts';
import type { Container, Items, KeyRef, PodObject } from './objects.ts';
import type { View } from './view.ts';

/** What a pod sees of Secrets, ConfigMaps and claims. */

interface DataObject extends KubeObject {
  data?: Record<string, string>;
}

const textOf = (kind: 'secret' | 'configMap', object: DataObject): Record<string, string> =>
  kind === 'configMap'
    ? (object.data ?? {})
    : Object.fromEntries(
        Object.entries(object.data ?? {}).map(([k, v]) => [k, Buffer.from(v, 'base64').toString('utf8')]),
      );

function read(
  view: View,
  kind: 'secret' | 'configMap',
  namespace: string,
  name: string,
): Record<string, string> | undefined {
  const object = view.get<DataObject>(kind === 'secret' ? Secret : ConfigMap, namespace, name);
  return object && textOf(kind, object);
}

type Source = { kind: 'secret' | 'configMap'; name: string } & Items;

function sourcesOf(pod: PodObject, volume: string): Source[] {
  const v = pod.spec.volumes?.find(x => x.name === volume);
  if (v?.secret) return [{ kind: 'secret', ...v.secret, name: v.secret.secretName }];
  if (v?.configMap) return [{ kind: 'configMap', ...v.configMap }];
  return (v?.projected?.sources ?? []).flatMap((s): Source[] =>
    s.secret ? [{ kind: 'secret', ...s.secret }] : s.configMap ? [{ kind: 'configMap', ...s.configMap }] : [],
  );
}

/** The first thing a volume of the pod waits for, in the kubelet's words. */
export function missingVolume(view: View, pod: PodObject): string | undefined {
  const namespace = pod.metadata.namespace ?? '';
  for (const volume of pod.spec.volumes ?? []) {
    const why = (what: string) => `MountVolume.SetUp failed for volume "${volume.name}" : ${what}`;
    const claim = volume.persistentVolumeClaim?.claimName;
    if (claim !== undefined && !view.get(PersistentVolumeClaim, namespace, claim)) {
      return why(`persistentvolumeclaim "${claim}" not found`);
    }
    for (const source of sourcesOf(pod, volume.name)) {
      if (source.optional) continue;
      const data = read(view, source.kind, namespace, source.name);
      if (data === undefined) return why(`${source.kind.toLowerCase()} "${source.name}" not found`);
      const key = source.items?.find(i => data[i.key] === undefined)?.key;
      if (key !== undefined)
        return why(`references non-existent ${source.kind === 'secret' ? 'secret' : 'config'} key: ${key}`);
    }
  }
  return undefined;
}

/** Path to text of one volume, as it would be mounted now. */
function content(view: View, pod: PodObject, volume: string): Record<string, string> {
  const files: Record<string, string> = {};
  for (const source of sourcesOf(pod, volume)) {
    const data = read(view, source.kind, pod.metadata.namespace ?? '', source.name) ?? {};
    if (source.items === undefined) Object.assign(files, data);
    for (const { key, path } of source.items ?? []) if (data[key] !== undefined) files[path] = data[key];
  }
  return files;
}

export function files(view: View, pod: PodObject, container: Container): Record<string, string> {
  const all: Record<string, string> = {};
  for (const { name, mountPath, subPath } of container.volumeMounts ?? []) {
    const root = mountPath.replace(/\/$/, '');
    for (const [path, text] of Object.entries(content(view, pod, name))) {
      if (subPath === undefined || subPath === '') all[`${root}/${path}`] = text;
      else if (path === subPath) all[root] = text;
      else if (path.startsWith(`${subPath}/`)) all[`${root}/${path.slice(subPath.length + 1)}`] = text;
    }
  }
  return all;
}

/** The claim's uid where one holds the path; else the pod's, since the data dies with it. */
export function volumeAt(view: View, pod: PodObject, container: Container, path: string): string | undefined {
  const mount = (container.volumeMounts ?? [])
    .filter(m => path === m.mountPath || path.startsWith(`${m.mountPath.replace(/\/$/, '')}/`))
    .sort((a, b) => b.mountPath.length - a.mountPath.length)[0];
  if (mount === undefined) return undefined;
  const claim = pod.spec.volumes?.find(v => v.name === mount.name)?.persistentVolumeClaim?.claimName;
  const pvc = claim === undefined ? undefined : view.get(PersistentVolumeClaim, pod.metadata.namespace ?? '', claim);
  return pvc?.metadata.uid ?? pod.metadata.uid;
}

/** Environment, or the first thing it waits for. */
export function environment(
  view: View,
  pod: PodObject,
  container: Container,
): { env: Record<string, string> } | { missing: string } {
  const namespace = pod.metadata.namespace ?? '';
  const env: Record<string, string> = {};
  for (const { prefix = '', secretRef, configMapRef } of container.envFrom ?? []) {
    const kind = secretRef ? 'secret' : 'configMap';
    const ref = secretRef ?? configMapRef;
    if (ref === undefined) continue;
    const data = read(view, kind, namespace, ref.name);
    if (data === undefined && !ref.optional) return { missing: `${kind.toLowerCase()} "${ref.name}" not found` };
    for (const [key, value] of Object.entries(data ?? {})) env[prefix + key] = value;
  }
  for (const { name, value, valueFrom } of container.env ?? []) {
    const kind = valueFrom?.secretKeyRef ? 'secret' : 'configMap';
    const ref: KeyRef | undefined = valueFrom?.secretKeyRef ?? valueFrom?.configMapKeyRef;
    if (ref !== undefined) {
      const data = read(view, kind, namespace, ref.name);
      const text = data?.[ref.key];
      if (text !== undefined) env[name] = text;
      else if (!ref.optional) {
        const what = `${kind.toLowerCase()} "${ref.name}" not found`;
        return {
          missing: data
            ? `couldn't find key ${ref.key} in ${kind === 'secret' ? 'Secret' : 'ConfigMap'} ${namespace}/${ref.name}`
            : what,
        };
      }
    } else if (valueFrom?.fieldRef) env[name] = field(pod, valueFrom.fieldRef.fieldPath);
    else env[name] = expand(value ?? '', env);
  }
  return { env };
}

function field(pod: PodObject, path: string): string {
  const label = /^metadata\.(labels|annotations)\['(.+)'\]$/.exec(path);
  if (label) return pod.metadata[label[1] as 'labels' | 'annotations']?.[label[2]!] ?? '';
  let at: unknown = pod;
  for (const part of path.split('.')) at = (at as Record<string, unknown> | undefined)?.[part];
  return typeof at === 'string' ? at : '';
}

/** `$(VAR)` where VAR is known; `$$(VAR)` is the text `$(VAR)`. */
export const expand = (text: string, env: Readonly<Record<string, string>>): string =>
  text.replace(/\$(\$)?\(([A-Za-z_][A-Za-z0-9_.-]*)\)/g, (all, escaped, name) =>
    escaped ? all.slice(1) : (env[name] ?? all),
  );
