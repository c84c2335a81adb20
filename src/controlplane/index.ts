import { NovaCell } from '../../api/nova/cell.ts';
import { OpenStackControlPlane, PHASES, type Phase } from '../../api/openstack/controlplane.ts';
import type { AnyObject, DeepReadonly } from '../kube/object.ts';
import { Secret } from '../kube/resource.ts';
import type { Cx } from '../runtime/plan/cx.ts';
import { conditionOf, isReady } from '../runtime/plan/ready.ts';
import { type Plan, plan, type Row, rowName, rowsOf } from '../runtime/plan/row.ts';
import { fieldMissing, stall, subjectOf, wait } from '../runtime/plan/unmet.ts';
import { runningRelease } from '../services/standard/release.ts';
import { publicCertificate as certifyPublic, MANAGES, READS, SERVING_LABEL } from '../services/tls/certificate.ts';
import { REFERENCES, type Reference, type User, usersOf, usersWith } from '../services/users.ts';
import { union } from '../world/x509.ts';
import {
  CLOUD_BUNDLE,
  CLOUD_CERTIFICATE,
  type Cloud,
  type CloudSpec,
  certifiedHost,
  childSpec,
  enabled,
  heldAt,
  kindOf,
  SECTION_NAMES,
  SECTIONS,
  type SectionName,
} from './sections.ts';

const row = rowsOf<Cloud>();

/** storageBackend asks for a Ceph that its section says nothing about. */
const cephUnsaid = ({ ceph }: DeepReadonly<CloudSpec>): boolean =>
  !ceph.enabled && ceph.external === undefined && ceph.rook === undefined;

/** Whether the cloud has a child for this section: a CephStorage that somebody made beside the cloud does as well. */
function isOn(cx: Cx<Cloud>, section: SectionName): boolean {
  if (!enabled(cx.spec, section)) return false;
  if (section !== 'ceph' || !cephUnsaid(cx.spec)) return true;
  const { uid } = cx.object.metadata;
  const all = cx.wishes(kindOf('ceph'));
  return all.length === 0 || all.some(each => each.metadata.ownerReferences?.some(owner => owner.uid === uid));
}

function checkCeph(cx: Cx<Cloud>): void {
  if (cephUnsaid(cx.spec) && cx.get(kindOf('ceph'), 'ceph') === undefined)
    throw fieldMissing(
      'spec.ceph',
      'spec.storageBackend is ceph, and neither spec.ceph.external nor spec.ceph.rook is set',
      'name the Secret of an existing cluster in spec.ceph.external.secret, or let Rook run one by spec.ceph.rook',
    );
}

/** Also reports the progress of each child, from the cache: a change of a child runs this again. */
const input = row('InputReady', {
  reads: [OpenStackControlPlane, ...Object.values(REFERENCES).flatMap(({ field }) => usersWith(field))],
  run: async cx => {
    const lines = SECTION_NAMES.filter(section => isOn(cx, section)).map(section => lineOf(cx, section));
    cx.report({ services: lines, phase: phaseOf(cx, lines), endpoints: endpointsOf(cx) });
    // From the first part on that responds: a cloud that is half up can't be changed to another release.
    const { release } = cx.spec;
    if (SECTION_NAMES.some(section => releaseIn(cx, section) === release)) cx.report({ release });
    sumUpActions(cx);
    const others = cx.wishes(OpenStackControlPlane).filter(other => older(other, cx.object));
    if (others[0])
      throw stall({
        reason: 'AnotherControlPlane',
        what: `OpenStackControlPlane ${others[0].metadata.name} is in this namespace already`,
        who: 'User',
        next: 'delete one of the two, or use another namespace',
      });
  },
});

/** The first to come owns the namespace; names decide among equals, so that both agree who it is. */
function older(other: DeepReadonly<AnyObject>, self: DeepReadonly<Cloud>): boolean {
  if (other.metadata.uid === self.metadata.uid) return false;
  const [theirs, ours] = [other.metadata.creationTimestamp ?? '', self.metadata.creationTimestamp ?? ''];
  return theirs < ours || (theirs === ours && other.metadata.name < self.metadata.name);
}

interface Line {
  name: string;
  kind: string;
  ready: boolean;
  reason?: string;
  message?: string;
}

function lineOf(cx: Cx<Cloud>, section: SectionName): Line {
  const kind = kindOf(section);
  const child = cx.get(kind, section) as DeepReadonly<AnyObject> | undefined;
  const ready = child && conditionOf(child, 'Ready');
  return {
    name: section,
    kind: kind.kind,
    ready: child !== undefined && isReady(child),
    ...(ready && { reason: ready.reason }),
    ...(ready?.message && { message: ready.message }),
  };
}

/** The lowest phase that is not complete. Once Ready it stays: a restart is not a new installation (rule 9). */
function phaseOf(cx: Cx<Cloud>, lines: readonly Line[]): Phase {
  if (cx.status.phase === 'Ready') return 'Ready';
  const open = lines.filter(line => !line.ready).map(line => SECTIONS[line.name as SectionName].phase);
  return PHASES.find(phase => open.includes(phase)) ?? 'Ready';
}

type Action = NonNullable<Cloud['spec']['actions']>[number];
type Result = NonNullable<NonNullable<Cloud['status']>['actions']>[number];

const isActing = (cx: Cx<Cloud>, section: SectionName): boolean =>
  isOn(cx, section) && kindOf(section).specFields.includes('actions');

/** What the child of a section made of it so far. */
function resultOf(
  cx: Cx<Cloud>,
  section: SectionName,
  { name, id }: DeepReadonly<Action>,
): DeepReadonly<Result> | undefined {
  const child = cx.get(kindOf(section), section) as DeepReadonly<{ status?: { actions?: Result[] } }> | undefined;
  return child?.status?.actions?.find(result => result.name === name && result.id === id);
}

const hasEnded = (result: DeepReadonly<Result> | undefined): boolean =>
  result !== undefined && result.state !== 'Running';

/**
 * A child hears of an action when the services that it calls have ended it: one that restarts for a new login would
 * hold up the next one's, whose pods would be replaced a second time for it. Servers restart for nothing of the kind.
 */
function itsTurn(cx: Cx<Cloud>, section: SectionName, action: DeepReadonly<Action>): boolean {
  return SECTIONS[section].after
    .filter(before => SECTIONS[before].phase !== 'Infrastructure' && isActing(cx, before))
    .every(before => hasEnded(resultOf(cx, before, action)));
}

/** An action of the cloud is what its children made of it: done when all have ended, failed when none could do it. */
function sumUpActions(cx: Cx<Cloud>): void {
  const { actions = [] } = cx.spec;
  if (actions.length === 0 && (cx.status.actions ?? []).length === 0) return;
  const children = SECTION_NAMES.filter(name => isActing(cx, name));
  cx.report({
    actions: actions.map((action): Result => {
      const { name, id } = action;
      const before = cx.status.actions?.find(result => result.name === name && result.id === id);
      if (before && before.state !== 'Running') return { ...before };
      const results = children.map(section => [section, resultOf(cx, section, action)] as const);
      const open = results.filter(([, result]) => !hasEnded(result)).map(([section]) => section);
      if (open.length > 0) return { name, id, state: 'Running', message: `not yet by ${open.join(', ')}` };
      const done = results.flatMap(([section, result]) => (result?.state === 'Done' ? [section] : []));
      const completionTime = `${new Date(cx.serverTime()).toISOString().slice(0, 19)}Z`;
      const first = results[0]?.[1];
      if (done.length > 0) return { name, id, state: 'Done', message: `by ${done.join(', ')}`, completionTime };
      return { name, id, state: 'Failed', message: first?.message ?? 'nobody could do it', completionTime };
    }),
  });
}

function endpointsOf(cx: Cx<Cloud>): Record<string, string> {
  const urls: Record<string, string> = {};
  for (const section of SECTION_NAMES) {
    const child = cx.get(kindOf(section), section) as
      | DeepReadonly<{ status?: { endpoints?: Record<string, string> } }>
      | undefined;
    const url = child?.status?.endpoints?.public;
    if (url) urls[section] = url;
  }
  return urls;
}

/** One bundle for the cloud: what each of its servers wants to be trusted for, and what the user adds. */
const caBundle = row('CABundleReady', {
  needs: { input },
  manages: [Secret],
  when: object => object.spec.tls.enabled,
  run: async cx => {
    const { caBundleSecretName: extra } = cx.spec.tls;
    const more = extra && (await cx.secret(extra, ['ca.crt'], 'spec.tls.caBundleSecretName'))['ca.crt'];
    const shown = cx.list(Secret, { [SERVING_LABEL]: 'true' }).map(secret => {
      const { 'ca.crt': ca = '' } = (secret.data ?? {}) as Readonly<Record<string, string>>;
      return Buffer.from(ca, 'base64').toString();
    });
    const data = { 'ca.crt': Buffer.from(union(more, ...shown)).toString('base64') };
    await cx.apply(Secret, { metadata: { name: CLOUD_BUNDLE }, type: 'Opaque', data });
  },
});

/** One owner: of Ingresses that share a Secret, the one that asked first would take it along when it goes. */
const publicCertificate = row('PublicCertificateReady', {
  needs: { input },
  manages: MANAGES,
  reads: READS,
  when: object => certifiedHost(object.spec) !== undefined,
  run: async cx => {
    const [host, { issuerRef }] = [certifiedHost(cx.spec), cx.spec.tls];
    if (host !== undefined && issuerRef) await certifyPublic(cx, issuerRef, CLOUD_CERTIFICATE, host);
  },
});

/** What the child of a section runs; undefined while it does not. */
const releaseIn = (cx: Cx<Cloud>, section: SectionName): string | undefined =>
  enabled(cx.spec, section) ? runningRelease(cx.get(kindOf(section), section)) : undefined;

function specOf(cx: Cx<Cloud>, section: SectionName): Record<string, unknown> {
  const due = cx.spec.actions?.filter(action => itsTurn(cx, section, action));
  const spec = childSpec(cx.spec, section, due);
  const held = heldAt(
    section,
    cx.spec.release,
    name => releaseIn(cx, name),
    name => enabled(cx.spec, name),
  );
  return held === undefined ? spec : { ...spec, release: held };
}

const rows: Partial<Record<SectionName, Row<Cloud, unknown>>> = {};
for (const section of SECTION_NAMES) {
  const kind = kindOf(section);
  rows[section] = row(`${kind.kind}Ready`, {
    needs: { input, caBundle },
    manages: [kind],
    uses: SECTIONS[section].after.map(before => rows[before]!),
    when: object => enabled(object.spec, section),
    run: async cx => {
      if (!isOn(cx, section)) return;
      if (section === 'ceph') checkCeph(cx);
      if (cx.spec.rollout === 'strict') inTurn(cx, section);
      await cx.readyChild(kind, section, specOf(cx, section));
    },
    off: async cx => {
      checkUnused(cx, section);
      await keepData(cx, section);
      await cx.remove(kind, section);
    },
    undo: async cx => {
      await tellPolicy(cx, section);
      await cx.remove(kind, section);
    },
  });
}

/** A policy that was edited a moment before the deletion has not reached the child yet, and the child goes by its own. */
async function tellPolicy(cx: Cx<Cloud>, section: SectionName): Promise<void> {
  const child = cx.get(kindOf(section), section) as DeepReadonly<AnyObject> | undefined;
  if (child === undefined || child.metadata.deletionTimestamp !== undefined) return;
  const wanted = specOf(cx, section);
  const policyOf = (spec: unknown): unknown => (spec as { deletionPolicy?: string } | undefined)?.deletionPolicy;
  if (policyOf(child.spec) !== policyOf(wanted)) await cx.child(kindOf(section), section, wanted);
}

/** A backend that is being deleted can't be kept any more: it would wait for its users, and they for it. */
function checkUnused(cx: Cx<Cloud>, section: SectionName): void {
  const kind = kindOf(section);
  const child = cx.get(kind, section) as DeepReadonly<AnyObject> | undefined;
  const reference = (REFERENCES as Readonly<Record<string, Reference>>)[kind.kind];
  if (reference === undefined || child === undefined || child.metadata.deletionTimestamp !== undefined) return;
  const users = usersOf(cx, reference, section);
  // The parts of Nova go with it.
  const sectionOf = ({ kind, name }: User): SectionName | undefined =>
    kind.group === NovaCell.group ? 'nova' : SECTION_NAMES.find(each => each === name && kindOf(each) === kind);
  const goesToo = (user: User): boolean => {
    const of = sectionOf(user);
    return user.leaves || (of !== undefined && !isOn(cx, of));
  };
  const staying = users.filter(user => !goesToo(user));
  const listed = (staying.length > 0 ? staying : users).map(user => `${user.kind.kind} ${user.name}`).join(', ');
  const what = `spec.${section} switches ${kind.kind} ${section} off, which is used by ${listed}`;
  if (staying.length > 0)
    throw stall({
      reason: 'InUse',
      field: `spec.${section}`,
      what,
      who: 'User',
      next: `switch spec.${section} on, or delete these objects first`,
    });
  if (users.length > 0) throw wait({ reason: 'Terminating', what, who: 'Cluster', next: 'delete these objects first' });
}

/**
 * A section that is switched off takes its pods along and leaves its data, whatever the policy: the cloud is not being
 * deleted. Switched on again, it finds what was kept.
 */
async function keepData(cx: Cx<Cloud>, section: SectionName): Promise<void> {
  const kind = kindOf(section);
  const child = cx.get(kind, section) as DeepReadonly<AnyObject> | undefined;
  if (child === undefined || child.metadata.deletionTimestamp !== undefined) return;
  const { deletionPolicy } = child.spec as { deletionPolicy?: string };
  if (deletionPolicy === 'Delete') await cx.child(kind, section, { ...specOf(cx, section), deletionPolicy: 'Retain' });
}

/** `strict`: each child is made when the one before it is Ready. Like every edge it gates the first creation only. */
function inTurn(cx: Cx<Cloud>, section: SectionName): void {
  if (cx.get(kindOf(section), section)) return;
  const before = SECTION_NAMES.slice(0, SECTION_NAMES.indexOf(section)).filter(name => isOn(cx, name));
  const open = before.find(name => {
    const child = cx.get(kindOf(name), name) as DeepReadonly<AnyObject> | undefined;
    return child === undefined || !isReady(child);
  });
  if (open)
    throw wait({
      reason: 'InTurn',
      about: subjectOf(kindOf(open), open),
      waitsFor: subjectOf(kindOf(open), open),
      what: `Waiting for ${kindOf(open).kind} ${open}, because rollout is strict`,
      who: 'Operator',
    });
}

export const controlplane: Plan<Cloud> = plan<Cloud>(OpenStackControlPlane, {
  input,
  caBundle,
  publicCertificate,
  ...Object.fromEntries(SECTION_NAMES.map(section => [rowName(rows[section]!.type), rows[section]!])),
});
