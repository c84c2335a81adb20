import type { Container, Volume } from 'kubernetes-types/core/v1.d.ts';
import type { AnyObject, DeepReadonly } from '../../kube/object.ts';
import { PersistentVolumeClaim, Pod, Service, StatefulSet, StorageClass } from '../../kube/resource.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import { type Row, rowsOf } from '../../runtime/plan/row.ts';
import { fieldMissing } from '../../runtime/plan/unmet.ts';
import { type Config, overwrittenFiles, overwrittenStart, START } from '../config/config.ts';
import { applyService } from '../exposure/expose.ts';
import type { Target } from '../hosts.ts';
import { podLabels, serviceHost } from '../names.ts';
import { overrideOf } from '../pods/override.ts';
import { type PodBlock, type Process, podTemplate, withoutKolla } from '../pods/pod.ts';
import { claimTemplate, oneReplica, removeData, storageClass } from '../pods/storage.ts';
import { certificateRow } from '../tls/row.ts';
import { trustOf } from '../tls/trust.ts';
import { checkGiven } from './given.ts';

/** What servers with data of their own share. */

interface ServerSpec extends PodBlock {
  readonly replicas: number;
  readonly release: string;
  readonly deletionPolicy: 'Retain' | 'Delete';
}

/** Ours, unless `spec.external` says where another one is. */
export const deployed = (object: { readonly spec: object }): boolean =>
  (object.spec as { readonly external?: object }).external === undefined;

interface External {
  readonly adminSecret?: string;
}

/** The login of a server that is not ours, once `spec.external` says all that is needed to reach it. */
export async function externalLogin<O extends Managed, E extends External>(
  cx: Cx<O>,
  { kind, metadata: { name } }: { readonly kind: string; readonly metadata: { readonly name: string } },
  external: E,
  needed: readonly (keyof E & string)[],
): Promise<{ readonly user: string; readonly password: string; readonly ca: string | undefined }> {
  for (const field of needed)
    if (external[field] === undefined)
      throw fieldMissing(`spec.external.${field}`, `${kind} ${name} has no spec.external.${field}`, 'set it');
  const field = `${kind} ${name} spec.external.adminSecret`;
  const keys: { user: string; password: string; 'ca.crt'?: string } = await cx.secret(
    external.adminSecret ?? '',
    ['user', 'password'],
    field,
  );
  checkGiven(keys, external.adminSecret ?? '', field);
  const { user, password, 'ca.crt': ca } = keys;
  return { user, password, ca };
}

/** How a client distinguishes a server of ours from another: by the signer and the object. */
export async function identityOf<O extends Managed>(
  cx: Cx<O>,
  object: Parameters<typeof trustOf>[1] & { readonly metadata: { readonly uid?: string } },
): Promise<{ readonly ca: string | undefined; readonly instance?: string }> {
  const { uid } = object.metadata;
  const ca = await trustOf(cx, object);
  return { ca, ...(uid !== undefined && { instance: uid }) };
}

/** Refuses what no server can do. */
export function checkServer<O extends Managed>(cx: Cx<O>): void {
  oneReplica(cx);
  overwrittenFiles(cx, cx.object.kind.toLowerCase(), [START]);
  storageClass(cx);
}

/** The user's start description of a server; it has one container that Kolla starts. */
export const serverStart = <O extends Managed>(cx: Cx<O>): string | undefined =>
  overwrittenStart(cx, { main: true, without: withoutKolla((cx.spec as unknown as PodBlock).podProfile) });

const membersOf = (cx: { readonly name: string }): string => `${cx.name}-members`;
const labelsOf = <O extends Managed>(cx: Cx<O>) => podLabels(cx.object.kind, cx.name, 'server');

export const serverCertificateRow = <O extends Managed>() =>
  certificateRow<O>(
    cx => ({ hosts: [serviceHost(cx, cx.name)] }),
    object => deployed(object as { spec: object }),
  );

/** Under the object's own name, and each member under one of its own. */
export const serverExposeRow = <O extends Managed>(portsOf: (cx: Cx<O>) => Readonly<Record<string, number>>) =>
  rowsOf<O>()('ExposeReady', {
    when: object => deployed(object as { spec: object }),
    manages: [Service],
    run: async cx => {
      const server = { ports: portsOf(cx), selector: labelsOf(cx) };
      await cx.all([
        applyService(cx, { ...server, name: cx.name }),
        applyService(cx, { ...server, name: membersOf(cx), headless: true }),
      ]);
      cx.report({ hostname: serviceHost(cx, cx.name) } as never);
    },
  });

/** What selects its pods, for another Service. */
export const serverTarget = <O extends Managed>(cx: Cx<O>, port: number): Target => ({
  service: cx.name,
  port,
  selector: labelsOf(cx),
});

interface Prepared {
  /** The server's, with what only it mounts. */
  readonly process: Process;
  /** Makes ready what the server finds in its volume. */
  readonly init: Container;
  /** Where each member mounts its volume. */
  readonly data: string;
  readonly graceSeconds: number;
  /** That only `init` mounts. */
  readonly volumes?: readonly Volume[];
}

/** Its members, each with a volume that `prepare` makes ready. */
export const serverWorkloadsRow = <O extends Managed>(
  needs: {
    readonly config: Row<O, { readonly process: Process; readonly config: Config } | undefined>;
    readonly expose: Row<O, unknown>;
  },
  prepare: (cx: Cx<O>, process: Process) => Prepared,
) =>
  rowsOf<O>()('WorkloadsReady', {
    needs,
    when: object => deployed(object as { spec: object }),
    manages: [StatefulSet, PersistentVolumeClaim],
    reads: [Pod, StorageClass],
    run: async (cx, { config }) => {
      if (config) await runServer(cx, config.config, prepare(cx, config.process));
    },
    undo: cx => removeData(cx, (cx.spec as unknown as ServerSpec).deletionPolicy),
  });

/** The numbers of pods of a set that is all that an object runs, and their release. */
export function reportPods<O extends Managed>(cx: Cx<O>, live: DeepReadonly<AnyObject>): void {
  const { replicas, release } = cx.spec as unknown as ServerSpec;
  const { readyReplicas = 0 } = (live.status ?? {}) as { readonly readyReplicas?: number };
  cx.report({ release, replicas, readyReplicas } as never);
}

async function runServer<O extends Managed>(
  cx: Cx<O>,
  config: Config,
  { process, init, data, graceSeconds, volumes = [] }: Prepared,
): Promise<void> {
  const spec = cx.spec as unknown as ServerSpec;
  const labels = labelsOf(cx);
  const mounted = { ...process, mounts: [{ name: 'data', mountPath: data }] };
  const override = overrideOf(cx, 'podTemplate');
  const template = podTemplate(spec, mounted, config, labels, {
    initContainers: [init],
    graceSeconds,
    volumes,
    override,
  });
  const live = await cx.workload(StatefulSet, {
    metadata: { name: cx.name },
    spec: {
      replicas: spec.replicas,
      serviceName: membersOf(cx),
      podManagementPolicy: 'Parallel',
      revisionHistoryLimit: 3,
      selector: { matchLabels: labels },
      template,
      volumeClaimTemplates: [claimTemplate(cx, labels)],
    },
  });
  reportPods(cx, live);
}
