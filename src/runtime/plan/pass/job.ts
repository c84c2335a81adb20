import type { AnyObject } from '../../../kube/object.ts';
import { Job, Pod } from '../../../kube/resource.ts';
import { sameJson } from '../canonical.ts';
import type { JobBody } from '../cx.ts';
import { notOurs } from '../dress.ts';
import { type JobHash, plainJob, secretJob } from '../keyed.ts';
import { RETRY_ANNOTATION, STEP_LABEL } from '../names.ts';
import { conditionOf, jobExit, jobFailure, jobStuck } from '../ready.ts';
import { stall, subjectOf, type Unmet, wait } from '../unmet.ts';
import type { Ownership } from './ownership.ts';
import type { Reading } from './reading.ts';
import type { Live, Walk } from './walk.ts';
import type { Writing } from './writing.ts';

/** Jobs that run once per hash of what goes into them (rule 10). */
export class Jobs {
  readonly #walk: Walk;
  readonly #ownership: Ownership;
  readonly #reading: Reading;
  readonly #writing: Writing;

  constructor(walk: Walk, ownership: Ownership, reading: Reading, writing: Writing) {
    this.#walk = walk;
    this.#ownership = ownership;
    this.#reading = reading;
    this.#writing = writing;
  }

  async run(row: string, job: JobBody): Promise<void> {
    const retry = this.#walk.object.metadata.annotations?.[RETRY_ANNOTATION];
    const inputs = [job.image, job.argv, job.inputs, retry];
    const { hash, record, former }: JobHash = job.secret
      ? secretJob(await this.#ownership.hashKey(), ...inputs)
      : plainJob(...inputs);
    const nameOf = (hash: string): string => `${this.#walk.object.metadata.name}-${job.step}-${hash}`;
    const done = (this.#walk.object.status as { hashes?: Record<string, string> } | undefined)?.hashes ?? {};
    const finish = (): void => {
      const reported = this.#walk.reported.hashes as Record<string, string> | undefined;
      this.#walk.reported.hashes = { ...done, ...reported, [job.step]: record };
    };
    const find = async (name: string): Promise<Live | undefined> =>
      this.#reading.get(Job, name) ?? (await this.#walk.client.get<AnyObject>(Job, this.#walk.ref(name)));
    // What an earlier operator did, or does just now, by its name is done: it is recorded by ours, and not run again.
    const earlier = former !== undefined && done[job.step] !== record ? await find(nameOf(former)) : undefined;
    const before = earlier && !notOurs(this.#walk.object, earlier) ? earlier : undefined;
    const name = before?.metadata.name ?? nameOf(hash);
    this.#writing.keep(row, Job.kind, name);
    if (former !== undefined) this.#writing.keep(row, Job.kind, nameOf(former));
    // Recorded in status, so that a Job that was cleaned away is not run again.
    if (done[job.step] === record) return;
    if (former !== undefined && done[job.step] === former) return finish();
    if (job.secret && done[job.step] !== undefined) await this.#ownership.tellLostKey(done[job.step] ?? '', name);
    const live = before ?? (await find(name));
    // One that an earlier object of this name left behind worked on an earlier database.
    const why = live && notOurs(this.#walk.object, live);
    if (why) throw why;
    if (live && conditionOf(live, 'Complete')?.status === 'True') return finish();
    const pods = this.#reading.list(Pod, { 'batch.kubernetes.io/job-name': name });
    if (live && conditionOf(live, 'Failed')?.status === 'True') throw this.#failed(job, live, pods);
    const stuck = live && jobStuck(pods);
    // It never started, so nothing is lost; a Job's pod template is fixed, and this one was made with other Secrets.
    if (stuck && !live.metadata.deletionTimestamp && !samePullSecrets(live, job.pod))
      await this.#writing.delete(Job, live);
    if (stuck) throw wait({ ...stuck, about: subjectOf(Job, name), what: `Job ${name} can't start: ${stuck.what}` });
    if (live) throw running(name, jobFailure(this.#reading.list(Pod, { 'batch.kubernetes.io/job-name': name })));
    await this.#afterRivals(row, job.step, name);
    const labels = { ...job.labels, [STEP_LABEL]: job.step };
    await this.#writing.apply(row, Job, {
      metadata: { name, labels },
      spec: { backoffLimit: 4, template: { metadata: { labels }, spec: { restartPolicy: 'Never', ...job.pod } } },
    });
    throw running(name);
  }

  /** With what its pod said, and what that means where the step knows. */
  #failed(job: JobBody, live: Live, pods: readonly Live[]): Unmet {
    const { name } = live.metadata;
    const said = jobFailure(pods) ?? conditionOf(live, 'Failed')?.message;
    const meaning = job.exits?.[jobExit(pods) ?? 0];
    if (meaning)
      return stall({
        reason: meaning.reason,
        about: subjectOf(Job, name),
        what: `Job ${name}: ${said}`,
        who: 'User',
        next: `${meaning.next}, then annotate ${this.#walk.object.kind} ${this.#walk.object.metadata.name} with ${RETRY_ANNOTATION}=<anything new>`,
      });
    return stall({
      reason: 'JobFailed',
      about: subjectOf(Job, name),
      said,
      what: `Job ${name} failed: ${said ?? 'no last words'}`,
      who: 'User',
      next: `mend the cause, then annotate ${this.#walk.object.kind} ${this.#walk.object.metadata.name} with ${RETRY_ANNOTATION}=<anything new>`,
    });
  }

  /** Two runs of one step at once would meet in the database; one that can't start would be waited for forever. */
  async #afterRivals(row: string, step: string, name: string): Promise<void> {
    const rivals = this.#reading
      .owned(Job)
      .filter(
        other =>
          other.metadata.labels?.[STEP_LABEL] === step &&
          other.metadata.name !== name &&
          !['Complete', 'Failed'].some(type => conditionOf(other, type)?.status === 'True'),
      );
    for (const { metadata } of rivals) {
      this.#writing.keep(row, Job.kind, metadata.name);
      const rival = this.#reading.get(Job, metadata.name);
      const waits = this.#reading.list(Pod, { 'batch.kubernetes.io/job-name': metadata.name });
      if (rival && !rival.metadata.deletionTimestamp && jobStuck(waits)) await this.#writing.delete(Job, rival);
      throw running(metadata.name);
    }
  }
}

const samePullSecrets = (live: Live, pod: object): boolean => {
  const { template } = (live.spec ?? {}) as { readonly template?: { readonly spec?: object } };
  const secretsOf = (spec: object = {}) => (spec as { readonly imagePullSecrets?: unknown }).imagePullSecrets ?? [];
  return sameJson(secretsOf(template?.spec), secretsOf(pod));
};

/** A Job tries several times; what its last try said is worth more than that it runs. */
const running = (name: string, said?: string): Unmet =>
  wait({
    reason: 'JobRunning',
    about: subjectOf(Job, name),
    what:
      said === undefined
        ? `Waiting for Job ${name}`
        : `Waiting for Job ${name}, which is running again: its pod ${said}`,
    who: 'Cluster',
  });
