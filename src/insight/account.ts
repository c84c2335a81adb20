import { ROW_LABEL } from '../runtime/plan/names.ts';
import { isReady } from '../runtime/plan/ready.ts';
import { cureOf } from './cures.ts';
import { workloadFinding } from './evidence.ts';
import { type Finding, refOf } from './finding.ts';
import { type Account, type Draft, deletion, type Found, goingIn, held, unseen, unwell } from './held.ts';
import { refusalOf } from './refusals.ts';
import { backendIn, namedIn, standsOn } from './standing.ts';
import { stateOf } from './status.ts';
import { conditionsOf, type Live, labelOf, namespaceOf, type View } from './view.ts';
import { givenLogin, policyBetween } from './ways.ts';
import { isWorkload, movesOf } from './workloads.ts';

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
    place(view, account, finding.reason, type, finding.what, finding);
  }
  if (!ready && !object.metadata.deletionTimestamp)
    for (const complaint of complaintsOf(object)) {
      if (covered.has(complaint.type)) continue;
      place(view, account, complaint.reason, complaint.type, complaint.message, undefined);
    }
  return account;
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

/** Decides what a complaint or a finding is: an edge to another object, something on its way, or a cause. */
function place(
  view: View,
  account: Draft,
  reason: string,
  type: string | undefined,
  message: string,
  finding: Finding | undefined,
): void {
  const { object } = account;
  const afterwards =
    finding?.root.kind === 'Job' || reason === 'JobFailed'
      ? [...cureOf(view, { reason: 'JobFailed', root: finding?.root ?? refOf(object), object, message }).afterwards]
      : [];
  const named = finding === undefined ? namedIn(view, object, message) : undefined;
  if (named) {
    if (!isReady(named) || stateOf(named) !== 'ready') account.edges.push({ to: named, afterwards });
    else account.moving.push(`${labelOf(object)}: ${message}`);
    return;
  }
  const said = [message, ...(finding?.links ?? []).map(link => link.says)].join('\n');
  const refusal = finding === undefined ? refusalOf(namespaceOf(object), message) : undefined;
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
    const going = goingIn(view, object, message);
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
  const root = between?.root ?? finding?.root ?? refusal?.root ?? rootOf(view, object, reason, message);
  const full = finding ? (complaintsOf(object).find(c => c.type === type)?.message ?? finding.what) : message;
  const what = finding?.what ?? message.replace(/\. (User|Operator|Cluster): .*$/s, '');
  account.found.push({
    case: {
      reason: refusal?.reason ?? reason,
      root,
      object,
      message: full,
      ...(type && { type }),
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

interface Complaint {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
}

/** Conditions that are False, and every line of a list in status (cells) that is not ready: one condition tells of one line only. */
function complaintsOf(object: Live): readonly Complaint[] {
  // That nobody outside can come in is no fault: few clouds have such hosts.
  const bad = conditionsOf(object).filter(c => c.status === 'False' && c.type !== 'Ready' && c.reason !== 'NotExposed');
  const lines = Object.values((object.status ?? {}) as Readonly<Record<string, unknown>>)
    .flatMap(value => (Array.isArray(value) ? (value as Readonly<Record<string, unknown>>[]) : []))
    .filter(line => line.ready === false && typeof line.message === 'string' && line.kind === undefined)
    .map(line => ({ name: String(line.name), reason: String(line.reason), message: String(line.message) }));
  const out: Complaint[] = bad.map(({ type, reason, message }) => ({ type, reason, message }));
  for (const { name, reason, message } of lines) {
    const row = bad.find(c => c.message.startsWith(`${name}: `));
    if (row === undefined && reason !== 'Blocked') out.push({ type: name, reason, message: `${name}: ${message}` });
  }
  if (out.length > 0) return out;
  return conditionsOf(object).filter(c => c.type === 'Ready' && c.status === 'False');
}

/** The object that a message is about, where that is not the one that complains. */
function rootOf(view: View, object: Live, reason: string, message: string): Finding['root'] {
  const namespace = namespaceOf(object);
  const find = (kind: string, pattern: RegExp): Finding['root'] | undefined => {
    const name = pattern.exec(message)?.[1];
    return name ? { kind, namespace, name } : undefined;
  };
  if (reason.startsWith('Secret')) return find('Secret', /Secret (\S+?)[,\s]/) ?? refOf(object);
  if (reason === 'StorageClassNotFound')
    return { ...(find('StorageClass', /StorageClass (\S+?)[,\s]/) ?? refOf(object)), namespace: '' };
  if (reason === 'Forbidden')
    return {
      kind: 'Permission',
      namespace: '',
      name: /cannot (\w+ resource "[^"]+")/.exec(message)?.[1]?.replace(/ resource|"/g, '') ?? 'operator',
    };
  if (reason === 'AccessDenied') return refOf(backendIn(view, object, message)[0] ?? object);
  const other =
    /\b([A-Z]\w+) ([a-z0-9][-a-z0-9.]*)(?: in namespace (\S+))? (?:does not exist|exists and|belongs to|is kept for this|spec\.)/.exec(
      message,
    );
  if (other?.[1] && other[2]) return { kind: other[1], namespace: other[3] ?? namespace, name: other[2] };
  return refOf(object);
}
