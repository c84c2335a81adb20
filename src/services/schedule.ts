import { Cron } from 'croner';
import { stall } from '../runtime/plan/unmet.ts';

/** What is done at times of a cron schedule, in UTC, and caught up with after downtime. */

/** When it is due after the last time, in milliseconds; undefined when the schedule never fires again. */
export const nextTime = (schedule: string, last: number): number | undefined =>
  new Cron(schedule, { timezone: 'UTC' }).nextRun(new Date(last))?.getTime();

/** Why a schedule can't be used, or undefined. The CRD only checks its shape. */
export function scheduleProblem(schedule: string): string | undefined {
  try {
    new Cron(schedule, { timezone: 'UTC' });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Refuses one that can't be used, in the words of the field that has it. */
export function checkSchedule(field: string, schedule: string, example: string): void {
  const problem = scheduleProblem(schedule);
  if (problem)
    throw stall({
      reason: 'InvalidSchedule',
      field,
      what: `${field}: ${problem}`,
      who: 'User',
      next: `write five fields of cron, e.g. ${example}`,
    });
}

/** A stored time, to the second. */
export const iso = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;
