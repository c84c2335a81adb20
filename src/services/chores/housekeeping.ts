import type { AnyObject, DeepReadonly } from '../../kube/object.ts';
import { CronJob, Job, Pod } from '../../kube/resource.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import { MANAGED_LABEL } from '../../runtime/plan/names.ts';
import { conditionOf, jobFailure } from '../../runtime/plan/ready.ts';
import { stall, subjectOf } from '../../runtime/plan/unmet.ts';
import { type ConfigFile, configSecret } from '../config/config.ts';
import { podLabels } from '../names.ts';
import { type Also, kollaStart, type PodBlock, type Process, podSpec } from '../pods/pod.ts';

/** Rows that a service only marks as deleted pile up until somebody removes them: at night, by a CronJob. */

interface Cleaning {
  readonly schedule: string;
  readonly retentionDays: number;
  readonly suspend: boolean;
}

/** As in api/blocks/common.ts, for objects without the section. */
const DEFAULTS: Cleaning = { schedule: '30 1 * * *', retentionDays: 30, suspend: false };

export const cleaningOf = (spec: unknown): Cleaning => ({
  ...DEFAULTS,
  ...(spec as { housekeeping?: Partial<Cleaning> }).housekeeping,
});

/** $1 is the number of days. */
export const cleaningScript = (service: string, lines: readonly string[]): ConfigFile => ({
  key: 'housekeeping.sh',
  path: `/var/lib/openstack/${service}/housekeeping.sh`,
  text: `set -eu\ndays=$1\n${lines.join('\n')}\n`,
});

export const cleaningArgv = (script: Pick<ConfigFile, 'path'>, spec: unknown): readonly string[] => [
  'bash',
  script.path,
  String(cleaningOf(spec).retentionDays),
];

/** The same for a service of one config: a process that has all but its argv, and the files it reads. */
export async function clean<O extends Managed>(
  cx: Cx<O>,
  script: ConfigFile,
  process: Process,
  read: readonly ConfigFile[],
  block: PodBlock,
  also: Also = {},
): Promise<void> {
  const name = `${cx.name}-housekeeping`;
  const run: Process = { ...process, name: 'housekeeping', argv: cleaningArgv(script, cx.spec) };
  const files = [...read, script];
  const config = await configSecret(cx, [...files, kollaStart(run, files)], name);
  const selector = podLabels(cx.object.kind, cx.name, 'housekeeping');
  await keepClean(cx, name, selector, podSpec(block, run, config, selector, also));
}

/** Maintains the CronJob, and reports how its last run ended. */
export async function keepClean<O extends Managed>(
  cx: Cx<O>,
  name: string,
  selector: Readonly<Record<string, string>>,
  pod: object,
): Promise<void> {
  const { schedule, suspend } = cleaningOf(cx.spec);
  const labels = { ...selector, [MANAGED_LABEL]: 'true' };
  await cx.apply(CronJob, {
    metadata: { name },
    spec: {
      schedule,
      suspend,
      // A run that takes longer than a day is not helped by a second one.
      concurrencyPolicy: 'Forbid',
      successfulJobsHistoryLimit: 1,
      failedJobsHistoryLimit: 1,
      jobTemplate: {
        metadata: { labels },
        spec: { backoffLimit: 1, template: { metadata: { labels }, spec: { restartPolicy: 'Never', ...pod } } },
      },
    },
  });
  const [last] = [...cx.list(Job, selector)].filter(ended).sort(byAge);
  if (last && conditionOf(last, 'Failed')?.status === 'True') {
    const said = jobFailure(cx.list(Pod, { 'batch.kubernetes.io/job-name': last.metadata.name }));
    throw stall({
      reason: 'HousekeepingFailed',
      about: subjectOf(Job, last.metadata.name),
      said,
      what: `Job ${last.metadata.name} failed: ${said ?? 'no termination message'}`,
      who: 'User',
      next: 'fix the cause; it runs again on schedule, and nothing else waits for it',
    });
  }
}

const ended = (job: DeepReadonly<AnyObject>): boolean =>
  ['Complete', 'Failed'].some(type => conditionOf(job, type)?.status === 'True');

const byAge = (a: DeepReadonly<AnyObject>, b: DeepReadonly<AnyObject>): number =>
  (a.metadata.creationTimestamp ?? '') < (b.metadata.creationTimestamp ?? '') ? 1 : -1;
