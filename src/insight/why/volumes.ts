import type { DeepReadonly } from '../../kube/object.ts';
import { type Live, namespaceOf, type View } from '../view/view.ts';
import { type Finding, type Link, oneLine, refOf, since } from './finding.ts';

/** What a pod waits for before it starts: claims, and Secrets and ConfigMaps that it mounts or reads. */

/** A mount or a bind that takes longer than this waits for somebody. */
const SLOW_MOUNT_MS = 60_000;

export function missingFinding(pod: Live, text: string): Pick<Finding, 'root' | 'reason' | 'what'> {
  const named = /\b(secret|configmap) "([^"]+)" not found/i.exec(text);
  const inKey = /key (\S+) in (Secret|ConfigMap) \S+\/(\S+)/.exec(text);
  const kind = (named?.[1] ?? inKey?.[2] ?? '').toLowerCase() === 'configmap' ? 'ConfigMap' : 'Secret';
  const name = named?.[2] ?? inKey?.[3];
  const root = name ? { kind, namespace: namespaceOf(pod), name } : refOf(pod);
  return { root, reason: 'PodConfig', what: `Pod ${pod.metadata.name} can't start: ${text}` };
}

export function mountFinding(view: View, pod: Live, here: Link, text: string): Finding | undefined {
  const said = oneLine(text);
  const claim = /persistentvolumeclaim "([^"]+)" not found/.exec(said)?.[1];
  const missing = /\b(secret|configmap) "([^"]+)" not found/i.exec(said);
  if (
    missing &&
    view.get(missing[1]?.toLowerCase() === 'secret' ? 'Secret' : 'ConfigMap', namespaceOf(pod), missing[2] ?? '')
  )
    return undefined;
  const found = missingFinding(pod, said);
  const root = claim ? { kind: 'PersistentVolumeClaim', namespace: namespaceOf(pod), name: claim } : found.root;
  return { ...found, root, reason: 'MountFailed', pod, links: [here, { what: 'event FailedMount', says: said }] };
}

interface ClaimSpec {
  readonly storageClassName?: string;
  readonly volumeName?: string;
}

export function volumeFinding(view: View, pod: Live, here: Link): Finding | undefined {
  const spec = pod.spec as DeepReadonly<{ volumes?: { persistentVolumeClaim?: { claimName?: string } }[] }> | undefined;
  const names = (spec?.volumes ?? []).flatMap(volume => volume.persistentVolumeClaim?.claimName ?? []);
  for (const name of names) {
    const claim = view.get('PersistentVolumeClaim', namespaceOf(pod), name);
    const phase = (claim?.status as { phase?: string } | undefined)?.phase ?? 'Pending';
    if (claim === undefined || phase === 'Bound') continue;
    const asked = (claim.spec as ClaimSpec | undefined)?.storageClassName;
    const known = asked === undefined ? undefined : view.get('StorageClass', '', asked);
    const event = view.events(claim).findLast(e => e.warning);
    const moving =
      known !== undefined && event === undefined && since(view, claim.metadata.creationTimestamp) < SLOW_MOUNT_MS;
    if (moving) return undefined;
    const why =
      asked === undefined
        ? 'it names no StorageClass and the cluster has no default one'
        : known === undefined
          ? `its StorageClass ${asked} does not exist`
          : event
            ? oneLine(event.text)
            : `no volume came from StorageClass ${asked}`;
    const root =
      known === undefined
        ? { kind: 'StorageClass', namespace: '', name: asked ?? 'default' }
        : { kind: 'PersistentVolumeClaim', namespace: namespaceOf(pod), name };
    return {
      root,
      reason: known === undefined ? 'StorageClassNotFound' : 'VolumePending',
      what: `PersistentVolumeClaim ${name} is not bound: ${why}`,
      links: [here, { what: `PersistentVolumeClaim ${name}`, says: `${phase}: ${why}` }],
      pod,
    };
  }
  return undefined;
}
