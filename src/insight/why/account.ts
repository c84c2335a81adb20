import { ROW_LABEL } from '../../runtime/plan/names.ts';
import { isReady } from '../../runtime/plan/ready.ts';
import { awaited, backendIn, type Complaint, standsOn, words } from '../status/standing.ts';
import { stateOf } from '../status/status.ts';
import { isWorkload, movesOf } from '../status/workloads.ts';
import { causesOf, conditionsOf, type Live, labelOf, namespaceOf, type Told, type View } from '../view/view.ts';
import { givenLogin, policyBetween } from './connections.ts';
import { cureOf } from './cures.ts';
import { workloadFinding } from './evidence.ts';
import { type Finding, refOf } from './finding.ts';
import { type Account, type Draft, deletion, type Found, goingIn, held, plain, unseen, unwell } from './held.ts';
import { refusalOf } from './refusals.ts';

export function accountOf(view: View, object: Live): Account {
  const account: { object: Live; found: Found[]; edges: { to: Live; afterwards: string[] }[]; moving: string[] } = {
    object,
    found: [],
    edges: [],
    moving: [],
  };
  const covered = new Set<string>();
  const ready = isReady(object);
  if (object.metadata.deletionTimestamp) deletion(view, object, account);
  else if (stateOf(object) === 'paused') {
    const what = `${labelOf(object)} is paused: nothing below it is written`;
    account.found.push({ case: { reason: 'Annotated', root: refOf(object), object, message: what }, what, links: [] });
  } else unseen(view, object, account);
  // Pods speak for themselves, also where the operator that should speak for them is away.
  for (const child of view.owned(object)) {
    if (!isWorkload(child) && (child.kind !== 'Job' || ready)) continue;
    const finding = workloadFinding(view, child);
    if (finding === undefined) continue;
    const type = child.metadata.labels?.[ROW_LABEL]?.split('.')[0];
    if (type) covered.add(type);
    place(view, account, toldOf(object, type, finding), finding);
  }
  if (!ready && !object.metadata.deletionTimestamp)
    for (const complaint of complaintsOf(object)) {
      if (covered.has(complaint.type)) continue;
      place(view, account, complaint, undefined);
    }
  return account;
}

/** What a finding says in the words of a complaint, with what the operator knows of it. */
function toldOf(object: Live, type: string | undefined, { reason, what }: Finding): Placed {
  const complaint = complaintsOf(object).find(c => c.type === type);
  const { message: full = what, cause } = complaint ?? {};
  return { type, reason, message: what, full, ...(cause && { cause }) };
}

/** Reasons that come by themselves, unless evidence below says otherwise. */
const ON_ITS_WAY = new Set([
  'Reconciling',
  'Progressing',
  'JobRunning',
  'VolumePending',
  'CellsNotMapped',
  'Conflict',
  'Blocked',
  'Terminating',
  'Deleting',
  'NoAddress',
]);
/** Reasons that another object's trouble may be behind. */
const FROM_AFAR = new Set(['Unreachable', 'BackendError', 'Error', 'ServiceSilent', 'ProbeFails']);

/** `full`: what the condition says, where a finding says more of it. */
type Placed = Omit<Complaint, 'type'> & { readonly type?: string | undefined; readonly full?: string };

/** Decides what a complaint or a finding is: an edge to another object, something on its way, or a cause. */
function place(view: View, account: Draft, complaint: Placed, finding: Finding | undefined): void {
  const { object } = account;
  const { reason, type, message, cause } = complaint;
  const afterwards =
    finding?.root.kind === 'Job' || reason === 'JobFailed'
      ? [...cureOf(view, { reason: 'JobFailed', root: finding?.root ?? refOf(object), object, message }).afterwards]
      : [];
  const named = finding === undefined ? awaited(view, object, complaint) : undefined;
  if (named) {
    if (!isReady(named) || stateOf(named) !== 'ready') account.edges.push({ to: named, afterwards });
    else account.moving.push(`${labelOf(object)}: ${message}`);
    return;
  }
  // Findings are made of foreign words: those of pods, events and logs.
  const said = finding ? [message, ...finding.links.map(link => link.says)].join('\n') : words(cause);
  const refusal = finding === undefined ? refusalOf(namespaceOf(object), cause?.details?.said ?? '') : undefined;
  if (refusal === undefined && (FROM_AFAR.has(reason) || finding?.meaning?.reason === 'Unreachable')) {
    const behind = [...backendIn(view, object, said), ...standsOn(view, object)].find(
      other => other !== object && unwell(view, other),
    );
    if (behind) {
      account.edges.push({ to: behind, afterwards });
      return;
    }
    // A backend of ours that fails its own proof is known by its pods, if they say anything.
    if (finding === undefined && account.found.length > 0) return;
  }
  if (finding === undefined && reason === 'Terminating') {
    const going = goingIn(view, object, cause);
    if (going && view.ours.includes(going)) return void account.edges.push({ to: going, afterwards });
    const stuck = going && held(view, object, going);
    if (stuck) account.found.push(stuck);
    else account.moving.push(`${labelOf(object)}: ${message}`);
    return;
  }
  if (finding === undefined && ON_ITS_WAY.has(reason)) {
    account.moving.push(
      ...(movesOf(view, object).length > 0 ? movesOf(view, object) : [`${labelOf(object)}: ${message}`]),
    );
    return;
  }
  const between = refusal ? undefined : betweenOf(view, object, reason, said, finding);
  const root = between?.root ?? finding?.root ?? refusal?.root ?? rootOf(view, object, complaint);
  const what = finding?.what ?? plain(message, cause);
  account.found.push({
    case: {
      reason: refusal?.reason ?? reason,
      root,
      object,
      message: complaint.full ?? message,
      ...(type && { type }),
      ...(cause && { cause }),
      ...(finding && { finding }),
    },
    what: between ? `${what}; ${between.says}` : what,
    links: finding?.links ?? [],
  });
}

/** Why two that are well do not meet: somebody's policy, or a login that somebody wrote. */
function betweenOf(
  view: View,
  object: Live,
  reason: string,
  said: string,
  finding: Finding | undefined,
): { readonly root: Finding['root']; readonly says: string } | undefined {
  const unreachable = [reason, finding?.meaning?.reason].includes('Unreachable');
  if (!unreachable && ![reason, finding?.meaning?.reason].includes('AccessDenied')) return undefined;
  const policy = unreachable ? policyBetween(view, object, said, finding?.pod) : undefined;
  if (policy)
    return {
      root: refOf(policy),
      says: `its pods are ready, and NetworkPolicy ${policy.metadata.name} decides who may reach them`,
    };
  const login = backendIn(view, object, said).length > 0 ? undefined : givenLogin(view, object, said);
  return (
    login && {
      root: { kind: 'Secret', namespace: namespaceOf(object), name: login.secret },
      says: `the address and the login are those of Secret ${login.secret} (${login.field})`,
    }
  );
}

/** Conditions that are False, and every key of one that sums up several (cells): the condition tells of one key only. */
function complaintsOf(object: Live): readonly Complaint[] {
  // That nobody outside can come in is no fault: few clouds have such hosts.
  const bad = conditionsOf(object).filter(c => c.status === 'False' && c.type !== 'Ready' && c.reason !== 'NotExposed');
  const causes = causesOf(object);
  const complaint = ({ type, reason, message }: (typeof bad)[number]): Complaint => {
    const cause = causes.find(each => each.type === type);
    return { type, reason, message, ...(cause && { cause }) };
  };
  const keys = bad.flatMap(({ type }) => {
    const told = causes.find(cause => cause.type === type)?.key;
    return causes
      .filter(cause => cause.type.startsWith(`${type}.`) && cause.type !== `${type}.${told}`)
      .map(cause => keyOf(object, type, cause));
  });
  const out = [...bad.map(complaint), ...keys];
  if (out.length > 0) return out;
  return conditionsOf(object)
    .filter(c => c.type === 'Ready' && c.status === 'False')
    .map(complaint);
}

interface Line {
  readonly name?: string;
  readonly reason?: string;
  readonly message?: string;
}

/** What a key says of itself stands in its line of a list in status. */
function keyOf(object: Live, type: string, cause: Told): Complaint {
  const key = cause.type.slice(type.length + 1);
  const line = Object.values((object.status ?? {}) as Readonly<Record<string, unknown>>)
    .flatMap(value => (Array.isArray(value) ? (value as readonly Line[]) : []))
    .find(each => each.name === key && each.reason !== undefined);
  const message = `${key}: ${line?.message ?? cause.next ?? cause.reason}`;
  return { type: cause.type, reason: line?.reason ?? cause.reason, message, cause };
}

/** The object that a complaint is about, where that is not the one that complains. */
function rootOf(view: View, object: Live, { reason, cause }: Placed): Finding['root'] {
  if (reason === 'Forbidden')
    return { kind: 'Permission', namespace: '', name: permissionIn(cause?.details?.said ?? '') ?? 'operator' };
  if (reason === 'AccessDenied') return refOf(backendIn(view, object, words(cause))[0] ?? object);
  if (cause === undefined) return refOf(object);
  const { kind, name, namespace = '' } = cause.object;
  return { kind, namespace, name };
}

/** The API server's words. */
const permissionIn = (said: string): string | undefined =>
  /cannot (\w+ resource "[^"]+")/.exec(said)?.[1]?.replace(/ resource|"/g, '');
