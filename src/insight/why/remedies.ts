import { type Live, namespaceOf, type View } from '../view/view.ts';
import { at, atPod, type Case, detail, kubectl, podOf, type Row, retry, saidIn, typed } from './case.ts';
import { adminSecretOf } from './connections.ts';
import { refusalOf } from './refusals.ts';

/** Cures that need a look at more than the case itself. */

/** What was refused by somebody who is known by his words. A Job that never got its pod goes on by itself. */
export function refused(c: Case): Row | undefined {
  // What is refused may be a pod of the node.
  const where = c.root.kind === 'Namespace' ? c.root.name : c.root.namespace || namespaceOf(c.finding?.pod ?? c.object);
  const refusal = refusalOf(where, saidIn(c));
  if (refusal?.reason === 'PodSecurity' && where !== namespaceOf(c.object))
    return {
      who: 'User',
      next: `let namespace ${where} admit pods of the node: no podProfile makes them less than privileged`,
      command: `kubectl label --overwrite namespace ${where} pod-security.kubernetes.io/enforce=privileged`,
      afterwards: [],
    };
  return refusal && { who: 'User', next: refusal.next, command: refusal.command, afterwards: [] };
}

export const retriesOf = (c: Case): readonly string[] =>
  c.finding?.pod && isOfJob(c.finding.pod) ? [retry(c.object)] : [];
const isOfJob = (pod: Live): boolean => pod.metadata.ownerReferences?.some(ref => ref.kind === 'Job') ?? false;

const claimOf = (c: Case): string => {
  const spec = c.finding?.pod?.spec as
    | { volumes?: readonly { persistentVolumeClaim?: { claimName?: string } }[] }
    | undefined;
  return spec?.volumes?.find(volume => volume.persistentVolumeClaim)?.persistentVolumeClaim?.claimName ?? '<claim>';
};

export function missing(c: Case): Row {
  const create = c.root.kind === 'ConfigMap' ? 'create configmap' : 'create secret generic';
  if (c.root.kind !== 'Secret' && c.root.kind !== 'ConfigMap')
    return {
      who: 'User',
      next: 'make what the pod mounts',
      command: `${atPod(c)} describe pod ${podOf(c.finding)}`,
    };
  return {
    who: 'User',
    next: `create ${c.root.kind} ${c.root.name}, or take it out of the spec`,
    command: `${at(c.root)} ${create} ${c.root.name} --from-file=<file>`,
  };
}

/** The claim, and twice its size as a proposal. */
export function volumeFull(view: View, c: Case): Row {
  const name = claimOf(c);
  const claim = view.get('PersistentVolumeClaim', namespaceOf(c.finding?.pod ?? c.object), name);
  const spec = claim?.spec as
    | { storageClassName?: string; resources?: { requests?: { storage?: string } } }
    | undefined;
  const [, amount, unit = ''] = /^(\d+)(\w*)$/.exec(spec?.resources?.requests?.storage ?? '') ?? [];
  const more = amount === undefined ? '<more>' : `${2 * Number(amount)}${unit}`;
  const type = view.get('StorageClass', '', spec?.storageClassName ?? '') as
    | (Live & { readonly allowVolumeExpansion?: boolean })
    | undefined;
  const fixed = type !== undefined && type.allowVolumeExpansion !== true;
  return {
    who: 'User',
    next: `make PersistentVolumeClaim ${name}${amount === undefined ? '' : ` (${amount}${unit})`} larger, or clear it${fixed ? `; StorageClass ${type.metadata.name} has to allow that first (allowVolumeExpansion)` : ''}`,
    command: `${atPod(c)} patch pvc ${name} -p '{"spec":{"resources":{"requests":{"storage":"${more}"}}}}'`,
  };
}

/** What the container that ended may use. */
export function memoryOf(c: Case): string | undefined {
  const { containers = [] } = (c.finding?.pod?.spec ?? {}) as {
    containers?: readonly { name: string; resources?: { limits?: { memory?: string } } }[];
  };
  return containers.find(container => container.name === c.finding?.container)?.resources?.limits?.memory;
}

export function accessDenied(view: View, c: Case): Row {
  if (c.root.kind === 'Secret')
    return {
      who: 'User',
      next: `correct user or password in Secret ${c.root.name}, or let the server know them`,
      command: `${at(c.root)} edit secret ${c.root.name}   # in base64`,
      afterwards: retriesOf(c),
    };
  const server = view.get(c.root.kind, c.root.namespace, c.root.name);
  const secret = adminSecretOf(server);
  const external = (server?.spec as { external?: object } | undefined)?.external !== undefined;
  if (external)
    return {
      who: 'User',
      next: `correct user or password in Secret ${secret}, or let the server know them`,
      command: `${at(c.root)} edit secret ${secret}   # in base64`,
    };
  if (c.root.kind === 'Keystone')
    return {
      next: `write the password that Keystone has into Secret ${secret}, or have it set to the Secret's again`,
      command: retry(c.object),
    };
  const pod = `${c.root.name}-0`;
  if (c.root.kind === 'MariaDB')
    // Its start-up file sets root's password to that of the Secret.
    return {
      next: `restart the server: it takes the password from Secret ${secret}`,
      command: `${at(c.root)} delete pod ${pod}`,
    };
  if (c.root.kind === 'RabbitMQ')
    return {
      next: `set the password in the server to that of Secret ${secret}`,
      command: `${at(c.root)} exec ${pod} -- rabbitmqctl change_password ${detail(c, 'user') ?? '<user>'} "$(${at(c.root)} get secret ${secret} -o jsonpath='{.data.password}' | base64 -d)"`,
    };
  return { command: `${kubectl(c.object)} describe ${typed(c.object)}` };
}
