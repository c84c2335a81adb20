import type { Owner } from '../../cloud/ownership.ts';
import { CloudError } from '../../cloud/ports.ts';
import { NameTaken } from '../../cloud/settle.ts';
import type { AnyObject, DeepReadonly } from '../../kube/object.ts';
import { CronJob, DaemonSet, Deployment, Job, Pod, type Resource, Secret, StatefulSet } from '../../kube/resource.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import { conditionOf } from '../../runtime/plan/ready.ts';
import { type Row, rowsOf } from '../../runtime/plan/row.ts';
import { subjectOf, Unmet, wait } from '../../runtime/plan/unmet.ts';
import { password } from '../../world/clock.ts';
import { orderFor, tellActions } from '../chores/actions.ts';
import { encoded } from '../encoded.ts';
import { checkSchedule, iso, nextTime, scheduleProblem } from '../schedule.ts';

/*
 * Logins that the operator made are replaced in pairs (rule 21): two accounts, of which one is used at a time. The other
 * one is made and proved before anybody hears of it; then the Secret changes, pods roll, and the former account goes when
 * no pod knows it any more. How far it is stands in the Secret itself, so a crash at any point goes on from there:
 *   next-password      the other account is being made; everybody still uses the current one
 *   previous-password  everybody is to use the current one; the other one may still be in use
 */

export interface Login {
  readonly user: string;
  readonly password: string;
}

/** What spec.actions calls the credentials of an object. */
export type Target = 'database' | 'message-bus' | 'identity' | 'root' | 'metadata';

export interface Account {
  readonly target: Target;
  /** The Secret that holds it. */
  readonly secret: string;
}

/** Whether a Secret that a pod mounts is of before the change, beyond holding the former password. */
export type Outdated = (data: Readonly<Record<string, string>>) => boolean;

export interface Keeping extends Account {
  /** Its first name; the second is derived. */
  readonly user: string;
  /** Makes it with the rights it needs, or repairs it. `now`: what the Secret holds, the proof that things are ours. */
  readonly ensure: (login: Login, now: Login) => Promise<unknown>;
  /** The server must have it before anybody reads of it: else the first reader makes it. */
  readonly first?: boolean;
  /** Logs in; absent where only an administrator could check. */
  readonly prove?: (login: Login) => Promise<unknown>;
  readonly drop: (user: string, now: Login) => Promise<unknown>;
  /** How long the former one is kept at least. */
  readonly lingerMs?: number;
  readonly retain?: boolean;
  /** What else the Secret holds for its readers. */
  readonly values?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface Kept {
  /** To be used from now on. */
  readonly login: Login;
  /** Drops the former account, if there is one and nobody uses it any more. By the row that owns the Secret. */
  letGo(outdated?: Outdated): Promise<void>;
}

/** No name of a Kubernetes object has an underscore, so this is never the first name of another one. */
const otherName = (base: string, user: string): string => {
  const second = `${base.slice(0, 78)}_b`;
  return user === second ? base : second;
};

/** The first name of an account, from either of its two. */
const firstName = (user: string): string => user.replace(/_b$/, '');

/** Both names that an account may have. */
export const namesOf = (base: string): readonly string[] => [base, otherName(base, base)];

/**
 * The first name of an account that is, or will be, in this Secret. A server that others use too gets names that nobody
 * else has, by the owner's id; an account that exists keeps its name.
 */
export async function accountName<O extends Managed>(
  cx: Cx<O>,
  secret: string,
  plain: string,
  shared: boolean,
): Promise<string> {
  const { user } = (await cx.secretIfAny(secret)) ?? {};
  if (user !== undefined) return firstName(user);
  return shared ? `${plain.slice(0, 71)}-${suffixOf(await cx.owner())}` : plain;
}

/** What distinguishes names of one owner from those of another on a server that both use. */
export const suffixOf = ({ id }: Owner): string => id.slice(0, 6);

/** A server that does not take a new account now may be restarting. */
const RETRY_MS = 15_000;

const ROTATED_AT = 'openstack.k8s.io/rotated-at';
const ROTATED_BY = 'openstack.k8s.io/rotated-by';

interface Stored {
  readonly user: string;
  readonly password: string;
  readonly 'next-password'?: string;
  readonly 'previous-password'?: string;
}

/** What stands on the Secret of when and why it was last replaced. */
export const marksOf = <O extends Managed>(cx: Cx<O>, secret: string): Readonly<Record<string, string>> => {
  const { [ROTATED_AT]: at, [ROTATED_BY]: by } = cx.get(Secret, secret)?.metadata.annotations ?? {};
  return { ...(at && { [ROTATED_AT]: at }), ...(by && { [ROTATED_BY]: by }) };
};

/** Marks of a replacement that everybody is to use from now on. */
export const switched = <O extends Managed>(cx: Cx<O>): Readonly<Record<string, string>> => ({
  [ROTATED_AT]: iso(cx.serverTime()),
});

/** The login of the account, made, or replaced when somebody asked for it or its time has come. */
export async function keep<O extends Managed>(cx: Cx<O>, account: Keeping): Promise<Kept> {
  const { secret, user: base, retain } = account;
  const options = retain === undefined ? {} : { retain };
  const stored: Stored = await cx.generate(secret, () => ({ user: base, password: password(cx.random) }), options);
  const { 'previous-password': former } = stored;
  const now: Login = { user: stored.user, password: stored.password };
  const write = async (state: Stored, marks: Readonly<Record<string, string>> = {}): Promise<void> => {
    const { user, password, 'next-password': next, 'previous-password': previous } = state;
    const passwords = { ...(next && { 'next-password': next }), ...(previous && { 'previous-password': previous }) };
    const data = encoded({ ...account.values, user, password, ...passwords });
    const annotations = { ...account.annotations, ...marksOf(cx, secret), ...marks };
    await cx.apply(Secret, { metadata: { name: secret, annotations }, type: 'Opaque', data }, options);
  };
  const letGo = async (outdated: Outdated = () => false): Promise<void> => {
    if (former === undefined) return;
    const since = Date.parse(marksOf(cx, secret)[ROTATED_AT] ?? '');
    const left = since + (account.lingerMs ?? 0) - cx.serverTime();
    if (left > 0) cx.again(left);
    if (left > 0 || inUse(cx, former, since, outdated)) return;
    await account.drop(otherName(base, now.user), now);
    await write(now);
  };
  if (account.first) await account.ensure(now, now);
  let next = stored['next-password'];
  if (next === undefined && former === undefined) {
    const why = wanted(cx, account);
    if (why === undefined) {
      await write(now);
      return { login: now, letGo };
    }
    next = password(cx.random);
    await write({ ...now, 'next-password': next }, why);
  }
  if (next === undefined) {
    await write(stored);
    return { login: now, letGo };
  }
  const fresh = { user: otherName(base, now.user), password: next };
  try {
    await account.ensure(fresh, now);
    await account.prove?.(fresh);
  } catch (error) {
    // No reason to hold up everything else: the current one is as good as before.
    if (!(error instanceof CloudError || error instanceof Unmet) || error instanceof NameTaken) throw error;
    cx.again(RETRY_MS);
    return { login: now, letGo };
  }
  await write({ ...fresh, 'previous-password': now.password }, switched(cx));
  // Who used it until now reads of the new one when this pass goes on.
  return { login: fresh, letGo: async () => {} };
}

interface Rotating {
  readonly credentialRotation?: { readonly schedule: string };
}

/** Why it should be replaced now, as marks of the Secret: somebody asked, or its time has come. */
export function wanted<O extends Managed>(cx: Cx<O>, account: Account): Readonly<Record<string, string>> | undefined {
  const order = orderFor(cx, 'rotate', account.target);
  if (order && marksOf(cx, account.secret)[ROTATED_BY] !== order.id) return { [ROTATED_BY]: order.id };
  const due = dueAt(cx, account.secret);
  return due !== undefined && cx.serverTime() >= due ? {} : undefined;
}

/** When its schedule is due, in milliseconds. Its age is on the Secret, which may outlive its object. */
function dueAt<O extends Managed>(cx: Cx<O>, secret: string): number | undefined {
  const { schedule } = (cx.spec as Rotating).credentialRotation ?? {};
  const meta = cx.get(Secret, secret)?.metadata;
  const stamp = meta?.annotations?.[ROTATED_AT] ?? meta?.creationTimestamp;
  if (schedule === undefined || scheduleProblem(schedule) || stamp === undefined) return undefined;
  return nextTime(schedule, Date.parse(stamp));
}

/** What a plan must read for this. */
export const USERS = [Pod, Deployment, StatefulSet, DaemonSet] as const;

/** The first pod that runs, or object that could start one, which mounts such a Secret. */
export function whoMounts<O extends Managed>(
  cx: Cx<O>,
  holds: (data: Readonly<Record<string, string>>) => boolean,
): string | undefined {
  const known = new Map<string, boolean>();
  const bad = (pod: unknown): boolean =>
    mounted(pod).some(name => {
      const found = known.get(name) ?? holds(decoded(cx.get(Secret, name)));
      known.set(name, found);
      return found;
    });
  const templateOf = ({ spec }: DeepReadonly<AnyObject>): unknown =>
    (spec as { template?: { spec?: unknown } }).template?.spec;
  for (const resource of [Deployment, StatefulSet, DaemonSet, Job])
    for (const each of cx.list(resource, {}))
      if (!(resource === Job && hasEnded(each)) && bad(templateOf(each))) return `${each.kind} ${each.metadata.name}`;
  for (const each of cx.list(CronJob, {}))
    if (bad(templateOf({ ...each, spec: (each.spec as { jobTemplate?: { spec?: object } }).jobTemplate?.spec ?? {} })))
      return `${each.kind} ${each.metadata.name}`;
  // Last, because their names are of chance.
  const pod = cx.list(Pod, {}).find(each => !over(each) && bad(each.spec));
  return pod && `Pod ${pod.metadata.name}`;
}

const hasEnded = (job: DeepReadonly<AnyObject>): boolean =>
  ['Complete', 'Failed'].some(type => conditionOf(job, type)?.status === 'True');

/** Whether a pod that runs, or a workload that could start one, mounts such a Secret. */
export function mountedBy<O extends Managed>(
  cx: Cx<O>,
  holds: (data: Readonly<Record<string, string>>) => boolean,
  but: (object: DeepReadonly<AnyObject>) => boolean = () => false,
): boolean {
  return cx.places.some(place => {
    const names = new Set<string>();
    for (const pod of place.list(Pod, {}))
      if (!but(pod) && !over(pod)) for (const name of mounted(pod.spec)) names.add(name);
    for (const resource of [Deployment, StatefulSet, DaemonSet])
      for (const workload of place.list(resource, {})) {
        const { template } = workload.spec as { template?: { metadata?: object; spec?: object } };
        if (!but({ ...workload, metadata: { ...workload.metadata, ...template?.metadata } }))
          for (const name of mounted(template?.spec)) names.add(name);
      }
    return [...names].some(name => holds(decoded(place.get(Secret, name))));
  });
}

const over = (pod: DeepReadonly<AnyObject>): boolean =>
  ['Succeeded', 'Failed'].includes((pod.status as { phase?: string } | undefined)?.phase ?? '');

/** Whether anybody may know the former password. A Job's pod may have read a Secret that was changed under it since. */
function inUse<O extends Managed>(cx: Cx<O>, former: string, since: number, outdated: Outdated): boolean {
  const isOld = (pod: DeepReadonly<AnyObject>): boolean =>
    pod.metadata.labels?.['batch.kubernetes.io/job-name'] !== undefined &&
    Date.parse(pod.metadata.creationTimestamp ?? '') <= since;
  if (cx.list(Pod, {}).some(pod => !over(pod) && isOld(pod))) return true;
  return mountedBy(cx, data => Object.values(data).some(text => text.includes(former)) || outdated(data));
}

const mounted = (pod: unknown): readonly string[] =>
  ((pod ?? {}) as { volumes?: readonly { secret?: { secretName?: string } }[] }).volumes?.flatMap(
    volume => volume.secret?.secretName ?? [],
  ) ?? [];

const decoded = (secret: DeepReadonly<AnyObject> | undefined): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries((secret?.data ?? {}) as Record<string, string>).map(([key, value]) => [
      key,
      Buffer.from(value, 'base64').toString(),
    ]),
  );

interface State extends Account {
  readonly open: boolean;
  readonly making: boolean;
  readonly by: string | undefined;
}

/** RotationReady of an object without logins that the operator made: actions it is asked for are still answered. */
export const noRotationRow = <O extends Managed>(): Row<O, unknown> => anyRotationRow<O>(() => [], {}, []);

/** RotationReady: how far replacements are, and how those ended that were asked for. Ready does not hang on it. */
export const rotationRow = <O extends Managed>(
  accounts: (cx: Cx<O>) => readonly Account[],
  needs: Readonly<Record<string, Row<O, unknown>>>,
): Row<O, unknown> => anyRotationRow(accounts, needs, USERS);

const anyRotationRow = <O extends Managed>(
  accounts: (cx: Cx<O>) => readonly Account[],
  needs: Readonly<Record<string, Row<O, unknown>>>,
  reads: readonly Resource[],
): Row<O, unknown> =>
  rowsOf<O>()('RotationReady', {
    needs,
    aside: true,
    reads,
    run: async cx => {
      const all = accounts(cx);
      const states = await cx.all(all.map(account => stateOf(cx, account)));
      tellActions(cx, {
        rotate: {
          targets: [...new Set(all.map(account => account.target))],
          done: ({ target }, since) =>
            states
              .filter(state => target === undefined || state.target === target)
              .every(state => since.includes(state.by ?? '') && !state.open),
        },
      });
      const { schedule } = (cx.spec as Rotating).credentialRotation ?? {};
      if (schedule !== undefined) checkSchedule('spec.credentialRotation.schedule', schedule, '0 3 1 * *');
      allReplaced(states);
      const due = all.map(account => dueAt(cx, account.secret)).filter(time => time !== undefined);
      if (due.length > 0) cx.again(Math.max(1000, Math.min(...due) - cx.serverTime()));
    },
  });

async function stateOf<O extends Managed>(cx: Cx<O>, account: Account): Promise<State> {
  const data: Readonly<Record<string, string>> = (await cx.secretIfAny(account.secret)) ?? {};
  const open = Object.keys(data).some(key => key.startsWith('next-') || key.startsWith('previous-'));
  return { ...account, open, making: 'next-password' in data, by: marksOf(cx, account.secret)[ROTATED_BY] };
}

/** Throws while one is being replaced. */
function allReplaced(states: readonly State[]): void {
  const making = states.find(state => state.making);
  const open = making ?? states.find(state => state.open);
  if (open)
    throw wait({
      reason: 'Rotating',
      about: subjectOf(Secret, open.secret),
      ...(making
        ? {
            what: `The server has not taken the new login for Secret ${open.secret} yet; the current one goes on`,
            who: 'Operator',
            next: 'try again',
          }
        : {
            what: `The login in Secret ${open.secret} is new, and pods that know the former one are still there`,
            who: 'Cluster',
            next: 'replace them; then the former one goes',
          }),
    });
}
