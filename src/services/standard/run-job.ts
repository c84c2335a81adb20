import type { Cx } from '../../runtime/plan/cx.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import type { Config } from '../config/config.ts';
import { podLabels } from '../names.ts';
import { type Also, type PodBlock, type Process, type ProcessVolume, podSpec } from '../pods/pod.ts';
import { isBundle } from '../pods/tls-volumes.ts';

/** A Job of an object: its process, whose name is the step, and what it reads. */
export interface Step {
  readonly process: Process;
  readonly config: Config;
  readonly block: PodBlock;
  /** What, when changed, makes the work due again. */
  readonly inputs: readonly unknown[];
  /** An input is a secret. */
  readonly secret?: boolean;
  readonly also?: Also;
}

export async function runJob<O extends Managed>(
  cx: Cx<O>,
  { process, config, block, inputs, secret, also }: Step,
): Promise<void> {
  const { name: step, image, argv } = process;
  const labels = podLabels(cx.object.kind, cx.name, step);
  const pod = podSpec(block, process, config, labels, also);
  await cx.job({ step, image, argv, inputs, labels, pod, ...(secret && { secret }) });
}

/** The process of a Job from that of a pod: the same image and files, and nothing that only who serves needs. */
export const jobProcess = (
  {
    name: _n,
    ports: _p,
    startup: _s,
    readiness: _r,
    liveness: _l,
    volumes = [],
    drain: _d,
    requests: _q,
    ...main
  }: Process,
  step: string,
  argv: readonly string[],
): Process => ({ ...main, name: step, argv, ...bundled(volumes) });

const bundled = (volumes: readonly ProcessVolume[]) => {
  const bundle = volumes.filter(isBundle);
  return bundle.length > 0 ? { volumes: bundle } : {};
};
