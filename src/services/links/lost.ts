import { MariaDB } from '../../../api/openstack/mariadb.ts';
import type { FoundDatabase, Sql } from '../../cloud/ports.ts';
import { Job } from '../../kube/resource.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import { ACCEPT_LOSS_ANNOTATION } from '../../runtime/plan/names.ts';
import { stall, subjectOf, type Unmet } from '../../runtime/plan/unmet.ts';
import { iso } from '../schedule.ts';

/** Whether Jobs of this object have made a schema. */
export const syncedBefore = <O extends Managed>(cx: Cx<O>): boolean => Object.keys(cx.status.hashes ?? {}).length > 0;

interface Lossy {
  readonly lostSince?: string;
}

/**
 * A database that is gone, or empty, although a schema was made in it. It is never made anew silently: the user restores
 * it, or accepts the loss by an annotation with the time of this very loss. Then the Jobs that made the schema, and the
 * record of them, go first: they are named by their inputs, which are what they were.
 */
export async function notLost<O extends Managed>(
  cx: Cx<O>,
  sql: Sql,
  name: string,
  instance: string,
  had: boolean,
): Promise<'kept' | 'accepted'> {
  const known = (await sql.databases())[name];
  // What was known a moment ago may be of before the schema was made.
  const found = had && known?.empty !== false ? (await sql.databases('now'))[name] : known;
  const { lostSince } = cx.status as Lossy;
  if (!had || (found !== undefined && !found.empty)) {
    // An object may have several databases: only when none of them is lost is there nothing to accept.
    if (lostSince !== undefined && found !== undefined) cx.clear('lostSince');
    return 'kept';
  }
  const since = lostSince ?? iso(cx.serverTime());
  if (cx.object.metadata.annotations?.[ACCEPT_LOSS_ANNOTATION] === since) {
    const ours = { 'app.kubernetes.io/name': cx.object.kind.toLowerCase(), 'app.kubernetes.io/instance': cx.name };
    for (const job of cx.list(Job, ours)) await cx.remove(Job, job.metadata.name);
    cx.report({ hashes: {}, lostSince: undefined } as never);
    cx.event({
      reason: 'DataLossAccepted',
      note: `Database ${name} is created again, empty, as annotation ${ACCEPT_LOSS_ANNOTATION} says`,
    });
    // The record of the Jobs goes with this pass; they are due in the next one.
    cx.again(1000);
    return 'accepted';
  }
  cx.report({ lostSince: since } as never);
  throw lost(cx, name, instance, found, since);
}

function lost<O extends Managed>(
  cx: Cx<O>,
  name: string,
  instance: string,
  found: FoundDatabase | undefined,
  since: string,
): Unmet {
  const object = `${cx.object.kind.toLowerCase()} ${cx.name} -n ${cx.namespace}`;
  return stall({
    reason: 'DatabaseLost',
    about: subjectOf(MariaDB, instance),
    what: `Database ${name} on MariaDB ${instance} ${found ? 'is empty' : 'does not exist'}, though its schema was created before`,
    who: 'User',
    next: `restore it from a backup, or accept the loss: kubectl annotate --overwrite ${object} ${ACCEPT_LOSS_ANNOTATION}=${since}`,
    // What happens inside a server is shown by no watch.
    after: 30_000,
  });
}
