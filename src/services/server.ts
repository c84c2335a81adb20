import type { Container, Volume } from 'kubernetes-types/core/v1.d.ts';
import { StatefulSet } from '../kube/resource.ts';
import type { Cx } from '../runtime/plan/cx.ts';
import type { Managed } from '../runtime/plan/managed.ts';
import { rowsOf } from '../runtime/plan/row.ts';
import type { Config } from './config.ts';
import { applyService } from './expose.ts';
import type { Target } from './hosts.ts';
import { podLabels, serviceHost } from './names.ts';
import { overrideOf } from './override.ts';
import { type PodBlock, type Process, podTemplate } from './pod.ts';
import { claimTemplate } from './storage.ts';
import { certificate, overTls } from './tls/certificate.ts';

/** What servers with data of their own share. */

interface ServerSpec extends PodBlock {
  readonly replicas: number;
}

/** Ours, unless `spec.external` says where another one is. */
export const deployed = (object: { readonly spec: object }): boolean =>
  (object.spec as { readonly external?: object }).external === undefined;

const membersOf = (cx: { readonly name: string }): string => `${cx.name}-members`;
const labelsOf = <O extends Managed>(cx: Cx<O>) => podLabels(cx.object.kind, cx.name, 'server');

export const serverCertificate = <O extends Managed>() =>
  rowsOf<O>()('CertificateReady', {
    when: object => deployed(object as { spec: object }) && overTls(object.spec),
    run: cx => certificate(cx, { hosts: [serviceHost(cx, cx.name)] }),
  });

/** Under the object's own name, and each member under one of its own. */
export const serverServices = <O extends Managed>(portsOf: (cx: Cx<O>) => Readonly<Record<string, number>>) =>
  rowsOf<O>()('ExposeReady', {
    when: object => deployed(object as { spec: object }),
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

export interface Prepared {
  /** Makes ready what the server finds in its volume. */
  readonly init: Container;
  /** Where each member mounts its volume. */
  readonly data: string;
  readonly graceSeconds: number;
  /** That only `init` mounts. */
  readonly volumes?: readonly Volume[];
}

export async function runServer<O extends Managed>(
  cx: Cx<O>,
  process: Process,
  config: Config,
  { init, data, graceSeconds, volumes = [] }: Prepared,
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
  await cx.workload(StatefulSet, {
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
}
