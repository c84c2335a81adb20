import type { PlanData } from '../src/cli/commands/plan.ts';
import type { Change, FieldChange } from '../src/insight/plan/diff.ts';
import type { PagePlan } from '../src/server/page/wire.ts';
import { causeView } from './causes.ts';
import { type Child, h } from './dom.ts';
import type { State } from './state.ts';

const SIGNS: Readonly<Record<Change['action'], string>> = { create: '+', change: '~', delete: '−' };

/** Where one writes an edit, and what it would do. */
export function planView({ busy, result, error }: State['plan'], can: boolean): HTMLElement {
  if (!can)
    return h(
      'section',
      { class: 'plan', key: 'plan' },
      h(
        'p',
        { class: 'empty' },
        'This server makes no plans: they take a whole core for seconds. Ask: kubectl openstack plan -f cloud.yaml',
      ),
    );
  return h(
    'section',
    { class: 'plan', key: 'plan', 'aria-label': 'Plan' },
    h('p', { class: 'lead' }, 'What would this edit do? Nothing is changed: the operator is run on a copy.'),
    h('textarea', {
      key: 'text',
      id: 'edit',
      rows: 12,
      spellcheck: 'false',
      'aria-label': 'What you would apply, as YAML',
      placeholder: 'apiVersion: openstack.k8s.io/v1alpha1\nkind: OpenStackControlPlane\nmetadata:\n  name: …',
    }),
    h(
      'div',
      { class: 'buttons' },
      h('button', { class: 'primary', 'data-act': 'plan', disabled: busy }, busy ? 'Planning…' : 'Plan'),
      h(
        'label',
        { class: 'button' },
        'Open a file',
        h('input', { type: 'file', class: 'hidden-visually', accept: '.yaml,.yml,.json', 'data-act': 'file' }),
      ),
      h('span', { class: 'small' }, 'or drop one here; Ctrl+Enter plans'),
    ),
    error && h('p', { class: 'trouble', role: 'alert' }, error),
    result && h('div', { class: busy ? 'result old' : 'result', role: 'status' }, resultView(result)),
  );
}

function resultView({ plan, outside }: PagePlan<PlanData>): Child {
  const count = (action: Change['action']): number => plan.changes.filter(change => change.action === action).length;
  const list = (title: string, kind: string, lines: readonly Child[]): Child =>
    lines.length > 0 && [
      h('h3', {}, title),
      h(
        'ul',
        { class: kind },
        lines.map(line => h('li', {}, line)),
      ),
    ];
  return [
    h(
      'p',
      { class: 'summary' },
      plan.changes.length === 0
        ? 'Nothing changes.'
        : `${count('create')} to create, ${count('change')} to change, ${count('delete')} to delete; ${plan.restarts.length} ${plan.restarts.length === 1 ? 'workload restarts' : 'workloads restart'}.`,
    ),
    list('Refused by the cluster', 'trouble', plan.refused),
    plan.why.causes.length > 0 && [
      h('h3', {}, 'Does not end well'),
      h('div', { class: 'causes' }, plan.why.causes.map(causeView)),
    ],
    list('It does not come to rest', 'trouble', plan.unsettled ?? []),
    list('Warnings', 'warnings', plan.warnings),
    plan.restarts.length > 0 && [
      h('h3', {}, 'Restarts, wave by wave'),
      h(
        'ol',
        { class: 'waves' },
        plan.restarts.map(({ wave, workload, pods, because }) =>
          h(
            'li',
            { value: wave },
            h('b', {}, workload),
            ` ${pods} ${pods === 1 ? 'pod' : 'pods'}, because of ${because.join(', ')}`,
          ),
        ),
      ),
    ],
    plan.changes.length > 0 && [h('h3', {}, 'Objects'), plan.changes.map(changeView)],
    list(
      'Starts, in this order',
      'plain',
      plan.steps.filter(step => step.is === 'created').map(step => `${step.wave}. ${step.kind} ${step.name}`),
    ),
    list('Outside Kubernetes', 'plain', outside),
    list(
      'Would happen anyway',
      'plain',
      plan.anyway.map(change => `${change.action} ${change.kind} ${change.name}`),
    ),
    list('Assumed', 'small', plan.assumptions),
  ];
}

const changeView = ({ action, kind, name, fields }: Change): HTMLElement =>
  h(
    'details',
    { key: `${kind} ${name}`, class: `change ${action}`, open: action === 'change' && fields.length <= 20 },
    h(
      'summary',
      {},
      h('b', { class: 'act' }, SIGNS[action]),
      ` ${kind} `,
      h('b', {}, name),
      fields.length > 0 && h('span', { class: 'small' }, ` ${fields.length}`),
    ),
    fields.length > 0 && h('ul', { class: 'fields' }, fields.map(fieldView)),
  );

const fieldView = ({ path, before, after }: FieldChange): HTMLElement =>
  h(
    'li',
    {},
    h('code', { class: 'path' }, path),
    h(
      'pre',
      { class: 'lines' },
      linesOf(before, after).map(({ is, text }) => h('span', { class: is }, `${LINE_SIGNS[is]} ${text}`)),
    ),
  );

const LINE_SIGNS = { same: ' ', before: '−', after: '+' } as const;

/** So many unchanged lines around what changes say where it is. */
const AROUND = 2;

/** Two texts as one: the lines that go, those that come, and a few of the same before and after them. */
export function linesOf(
  before: string | undefined,
  after: string | undefined,
): readonly { readonly is: keyof typeof LINE_SIGNS; readonly text: string }[] {
  const lines = (text: string | undefined): readonly string[] => text?.replace(/\n$/, '').split('\n') ?? [];
  const [old, now] = [lines(before), lines(after)];
  const most = Math.min(old.length, now.length);
  let head = 0;
  while (head < most && old[head] === now[head]) head++;
  let tail = 0;
  while (tail < most - head && old.at(-1 - tail) === now.at(-1 - tail)) tail++;
  const of = (is: keyof typeof LINE_SIGNS, some: readonly string[]) => some.map(text => ({ is, text }));
  return [
    ...of('same', now.slice(Math.max(0, head - AROUND), head)),
    ...of('before', old.slice(head, old.length - tail)),
    ...of('after', now.slice(head, now.length - tail)),
    ...of('same', now.slice(now.length - tail, now.length - tail + AROUND)),
  ];
}
