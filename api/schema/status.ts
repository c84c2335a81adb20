import * as z from 'zod';
import { int, list, listMap, map, oneOf, text } from './helpers.ts';

/** 2^31-1: generations and ports are small, and the bound keeps the format int32 honest. */
export const MAX_INT = 2147483647;

export const time = (description: string) => z.iso.datetime().describe(description);

const condition = z.object({
  type: text('What this condition is about, e.g. Ready, DatabaseReady.').max(316),
  status: oneOf(['True', 'False', 'Unknown'], 'Whether it holds; Unknown means not found out yet.'),
  reason: text('Why, in one CamelCase word that scripts may compare.').max(1024),
  message: text('What happens next and who must act: user, operator or cluster.').max(32768),
  lastTransitionTime: time('When status last changed.'),
  observedGeneration: int(0, MAX_INT, 'The generation of the spec this condition speaks of.').optional(),
});

const object = (description: string) =>
  z
    .object({
      kind: text('Its kind.'),
      name: text('Its name.'),
      namespace: text('Its namespace; absent for an object that is in none.').optional(),
    })
    .describe(description);

/** Why a condition is not True, for programs (StatusCause in kind.ts). */
const cause = z.object({
  type: text('The condition; CellsReady.cell1 for one key of a condition that sums up several.').max(316),
  reason: text('Why, in one CamelCase word; where the object only waits for another one, why that one is not Ready.'),
  actor: oneOf(['User', 'Operator', 'Cluster'], 'Who acts next.'),
  object: object('The object concerned.'),
  waitsFor: object('Another object of OpenStack that has this cause, and this one waits for it.').optional(),
  condition: text('Of Ready: the condition that it tells of.').optional(),
  key: text('Of a condition that sums up several keys: the key that it tells of.').optional(),
  next: text('What happens next, or what to do.').optional(),
  details: map(
    z.string().describe('Text.'),
    'What to mend it takes: field, keys, host, label. Under said are the words of another program.',
  ).optional(),
});

/** The same list for the one kind whose CRD has no room for it: each entry has the fields that all other kinds describe. */
export const causesInShort = () => ({
  causes: listMap(
    z.object({ type: text('The condition.') }).meta({ 'x-kubernetes-preserve-unknown-fields': true }),
    ['type'],
    'As in the status of every child.',
  ).optional(),
});

const actionResult = z.object({
  name: text('The action asked for in spec.actions.'),
  id: text('The id it was asked for with; the same id never runs twice.'),
  state: oneOf(['Running', 'Done', 'Failed'], 'How far it is.'),
  message: text('The result, or why it failed.').optional(),
  completionTime: time('When it ended.').optional(),
});

const adopted = () => ({
  adopted: list(
    z.string().describe('What was adopted, e.g. Database keystone.'),
    'Things outside Kubernetes that were adopted because of annotation openstack.k8s.io/adopt.',
    20,
  ).optional(),
});

/** Fields of status that come with fields of spec. */
const following = (): Readonly<Record<string, z.ZodRawShape>> => ({
  databaseInstance: {
    ...adopted(),
    lostSince: text(
      'Since when data is missing that had been there. Annotation openstack.k8s.io/accept-data-loss with this value accepts the loss.',
    ).optional(),
  },
  messageBusInstance: adopted(),
  keystoneInstance: adopted(),
  pools: adopted(),
  release: {
    release: text('The OpenStack release that runs now; differs from spec.release during an upgrade.').optional(),
  },
  actions: { actions: listMap(actionResult, ['name', 'id'], 'Results of spec.actions.').optional() },
  replicas: {
    replicas: int(0, MAX_INT, 'Pods wanted, over all workloads of this object.').optional(),
    readyReplicas: int(0, MAX_INT, 'Pods ready, over all workloads of this object.').optional(),
  },
  ingress: {
    endpoints: map(
      z.string().describe('URL.'),
      'Where to reach it: URL by interface (public, internal), on a control plane by service.',
    ).optional(),
  },
});

/**
 * The status of a kind: what the engine writes everywhere, what its spec asks for, and the kind's own fields. All of it
 * optional.
 */
export function statusSchemaOf(own: z.ZodRawShape, specFields: readonly string[]) {
  const asked = Object.entries(following()).filter(([field]) => specFields.includes(field));
  return z
    .object({
      observedGeneration: int(0, MAX_INT, 'The generation of the spec this status was computed from.').optional(),
      conditions: listMap(condition, ['type'], 'The state in parts; Ready sums them up.').optional(),
      causes: listMap(
        cause,
        ['type'],
        'Why conditions are not True, for programs: who acts next, on which object.',
      ).optional(),
      hashes: map(
        z.string().describe('Hash of the inputs.'),
        'Inputs of work that runs once per input, by step. Written by the operator.',
      ).optional(),
      ...Object.assign({}, ...asked.map(([, fields]) => fields)),
      ...own,
    })
    .describe('What the operator saw and did. Written by the operator only.');
}

/** One line per thing that a parent waits for. */
export const summaryLine = (subject: string) => ({
  name: text(`Name of the ${subject}.`),
  ready: z.boolean().describe('Whether it is Ready.'),
  reason: text('Why, in one CamelCase word.').optional(),
  message: text('What happens next and who must act.').max(512).optional(),
});
