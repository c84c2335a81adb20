import packageJson from '../../../package.json' with { type: 'json' };
import { type Change, DERIVED } from '../../insight/plan/diff.ts';
import { hidden, hiderOf } from '../../insight/view/hide.ts';
import type { Live } from '../../insight/view/view.ts';
import type { AnyObject, Status } from '../../kube/object.ts';
import type { Transport } from '../../kube/transport.ts';
import { isKnown } from '../input/resources.ts';
import { readObjects, UsageError } from '../input/yaml.ts';
import { type Planned, planned, type Rehearsed } from '../simulation/planning.ts';
import type { Write } from '../simulation/simulation.ts';
import { deployedOperator } from '../source/deployed.ts';
import type { Snapshot } from '../source/source.ts';
import { type Paper, type Style, table, wrapped } from '../terminal/print.ts';
import type { Answer, Invocation } from './command.ts';

interface Restart {
  readonly workload: string;
  readonly wave: number;
  readonly pods: number;
  /** Options or fields that changed under it. */
  readonly because: readonly string[];
}

export async function plan(cx: Invocation, rehearsed: Rehearsed = {}): Promise<Answer> {
  const { file, operator, failOn } = cx.flags as { file?: string; operator?: boolean; failOn?: string };
  if (file === undefined && !operator) throw new UsageError('-f is missing: what would be applied; or --operator');
  if (failOn !== undefined && !['restart', 'delete'].includes(failOn))
    throw new UsageError('--fail-on takes restart or delete');
  if (cx.flags.allNamespaces) throw new UsageError('a plan is about one namespace: -A makes no sense here');
  const edit = file === undefined ? [] : readObjects(file);
  const { data, stuck } = await planOf(await cx.snapshot(), edit, {
    remove: cx.flags.delete === true,
    operator: operator === true,
    rehearsed,
  });
  const { restarts, refused, changes } = data;
  const failed =
    stuck ||
    refused.length > 0 ||
    (failOn === 'restart' && restarts.length > 0) ||
    (failOn === 'delete' && changes.some(change => change.action === 'delete'));
  return { data, text: paper => pageOf(paper, { ...data, operator: operator === true }), code: failed ? 1 : 0 };
}

export interface PlanData extends Omit<Planned, 'writes'> {
  readonly restarts: readonly Restart[];
  /** What the cluster itself says against it. */
  readonly refused: readonly string[];
  readonly assumptions: readonly string[];
}

/** What an edit would do to the objects of a snapshot. */
export async function planOf(
  snapshot: Snapshot,
  edit: readonly AnyObject[],
  { remove = false, operator = false, rehearsed = {} as Rehearsed },
): Promise<{ readonly data: PlanData; readonly stuck: boolean }> {
  const namespace =
    snapshot.namespace ?? edit.find(object => object.metadata.namespace)?.metadata.namespace ?? 'openstack';
  const live = snapshot.view.objects as readonly AnyObject[];
  const foreign = live.filter(object => !isKnown(object) && !DERIVED.has(object.kind));
  const deployed = await deployedOperator(snapshot);
  const result = await applied(() =>
    planned({ objects: live.filter(isKnown), at: snapshot.view.now }, edit, {
      ...rehearsed,
      namespace,
      remove,
      ...(deployed && { env: deployed.env }),
    }),
  );
  const { anyway, steps, order, effects, warnings, why, unsettled } = result;
  const data: PlanData = {
    // An operator upgrade is what this version does to the objects as they are.
    changes: operator ? anyway : result.changes,
    restarts: restartsOf(result, snapshot.view.objects),
    steps,
    order,
    effects,
    warnings,
    refused: snapshot.transport ? await dryRun(snapshot.transport, result.writes) : [],
    assumptions: assumptionsOf(live, foreign, deployed?.version, snapshot),
    anyway: operator ? [] : anyway,
    why,
    ...(unsettled && { unsettled }),
  };
  const given = hiderOf(edit);
  // Before it is written down: what is cut to the width of a terminal is not found any more.
  return {
    data: hidden(text => given(snapshot.hide(text)), data),
    stuck: unsettled !== undefined || why.causes.length > 0,
  };
}

/** What the API server's own rules say against the edit is for the user to fix. */
async function applied<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (
      error instanceof Error &&
      /is invalid|field not declared|can't change|denied the request|strict decoding|no kind|not found/.test(
        error.message,
      )
    )
      throw new UsageError(`the cluster would refuse it: ${error.message}`);
    throw error;
  }
}

function restartsOf({ changes, steps }: Planned, before: readonly Live[]): readonly Restart[] {
  return steps
    .filter(step => step.is === 'rolls')
    .map(step => {
      const change = changes.find(c => c.kind === step.kind && c.name === step.name);
      const workload = before.find(o => o.kind === step.kind && o.metadata.name === step.name);
      const fields = (change?.fields ?? [])
        .filter(field => field.path.startsWith('spec.template'))
        .map(field => field.path);
      const hashed = fields.some(path => path.includes('config-hash'));
      const owner = workload?.metadata.labels?.['app.kubernetes.io/instance'];
      const config = changes.find(c => c.kind === 'Secret' && c.name === `${owner}-config-data`);
      const read = hashed ? (config?.fields ?? []).map(field => field.path) : [];
      // How the file is mounted follows from what is in it.
      const options = read.some(path => !path.startsWith('data.'))
        ? read.filter(path => !path.startsWith('data.'))
        : read;
      const rest = fields
        .filter(path => !/config-hash|volumes\./.test(path))
        .map(path => path.replace('spec.template.spec.', ''));
      const because = [...options, ...rest];
      const spec = workload?.spec as { replicas?: number } | undefined;
      const count = (workload?.status as { desiredNumberScheduled?: number } | undefined)?.desiredNumberScheduled;
      return {
        workload: `${step.kind} ${step.name}`,
        wave: step.wave,
        pods: count ?? spec?.replicas ?? 1,
        because: because.length > 0 ? because : fields,
      };
    });
}

function assumptionsOf(
  live: readonly Live[],
  foreign: readonly Live[],
  version: string | undefined,
  { notes }: Snapshot,
): readonly string[] {
  return [
    'pods start and Jobs succeed; every call to MariaDB, RabbitMQ and Keystone succeeds',
    ...(live.some(object => object.kind === 'Node') ? [] : ['no nodes were seen: three with every label are assumed']),
    ...(foreign.length > 0
      ? [
          `left out, because this program does not know their kinds: ${[...new Set(foreign.map(object => object.kind))].join(', ')}`,
        ]
      : []),
    ...(version === undefined
      ? [`the operator that runs is of this version (${packageJson.version}) and has no RELATED_IMAGE settings`]
      : version === packageJson.version
        ? []
        : [`the operator that runs is ${version}, this program ${packageJson.version}: what the two do may differ`]),
    ...notes,
  ];
}

/** The cluster itself says what webhooks, quotas and pod security think of it. Nothing is stored. */
async function dryRun(transport: Transport, writes: readonly Write[]): Promise<readonly string[]> {
  const answers = await Promise.all(
    writes.map(async ({ path, query, body }) => {
      const answer = await transport.send({
        method: 'PATCH',
        path,
        query: { ...query, dryRun: 'All' },
        body,
        contentType: 'application/apply-patch+yaml',
      });
      // A child's child has an owner that is not there yet; that it is missing is no refusal.
      if (answer.status < 300 || answer.status === 404) return [];
      return [
        `${body.kind} ${body.metadata.name}: ${(answer.body as Partial<Status>).message ?? `status ${answer.status}`}`,
      ];
    }),
  );
  return answers.flat();
}

const SIGNS: Readonly<Record<Change['action'], readonly [string, Style]>> = {
  create: ['+', 'green'],
  change: ['~', 'yellow'],
  delete: ['-', 'red'],
};

const VERBS: Readonly<Record<string, string>> = {
  ensureDatabase: 'create database',
  ensureUser: 'create user',
  ensureVhost: 'create virtual host',
  ensureService: 'put into the catalog:',
  ensureRole: 'create role',
  ensureProject: 'create project',
  ensureDomain: 'create domain',
  dropDomain: 'drop domain',
  dropDatabase: 'drop database',
  dropUser: 'drop user',
  dropVhost: 'drop virtual host',
  dropService: 'take out of the catalog:',
};
export const effectText = ({ method, what, at }: Planned['effects'][number]): string =>
  `${VERBS[method] ?? method} ${what} at ${at}`;

type Page = PlanData & { readonly operator: boolean };

function pageOf(paper: Paper, page: Page): string {
  const list = (title: string, lines: readonly string[]): string[] =>
    lines.length === 0
      ? []
      : [`${paper.paint('bold', title)}\n${lines.map(line => wrapped(paper, '  ', line)).join('\n')}`];
  const count = (action: Change['action']): number => page.changes.filter(change => change.action === action).length;
  const starts = page.steps
    .filter(step => step.is === 'created')
    .map(step => `${step.wave}. ${step.kind} ${step.name}`);
  const ends = [
    ...page.why.causes.map(cause => `${cause.reason}: ${cause.what}. ${cause.who}: ${cause.next} (${cause.command})`),
    ...(page.unsettled ?? []).map(again => `it does not come to rest: ${again}`),
  ];
  return [
    ...(page.changes.length > 0
      ? [changesText(paper, page.changes)]
      : [page.operator ? 'This version changes nothing.' : 'Nothing changes.']),
    ...(page.restarts.length > 0 ? [restartsText(paper, page.restarts)] : []),
    ...list('Starts, in this order', starts),
    ...list('Outside Kubernetes', page.effects.map(effectText)),
    ...list('Refused by the cluster', page.refused),
    ...list('Does not end well', ends),
    ...list('Warnings', page.warnings),
    ...list(
      'Would happen anyway',
      page.anyway.map(change => `${change.action} ${change.kind} ${change.name}`),
    ),
    ...list('Assumed', page.assumptions),
    `${count('create')} to create, ${count('change')} to change, ${count('delete')} to delete; ${page.restarts.length} ${page.restarts.length === 1 ? 'workload restarts' : 'workloads restart'}.`,
  ].join('\n\n');
}

function changesText(paper: Paper, changes: readonly Change[]): string {
  return changes
    .map(({ action, kind, name, fields }) => {
      const [sign, style] = SIGNS[action];
      const lines = fields.map(field => {
        const arrow =
          field.before === undefined ? `${field.after ?? ''}` : `${field.before} -> ${field.after ?? '(gone)'}`;
        const text = `    ${field.path}: ${arrow}`.replaceAll('\n', '\\n');
        return paper.width !== undefined && text.length > paper.width ? `${text.slice(0, paper.width - 1)}…` : text;
      });
      return [paper.paint(style, `${sign} ${kind} ${name}`), ...lines].join('\n');
    })
    .join('\n');
}

function restartsText(paper: Paper, restarts: readonly Restart[]): string {
  const rows = restarts.map(({ wave, workload, pods, because }) => [
    String(wave),
    workload,
    String(pods),
    because.join(', '),
  ]);
  return table(paper, ['WAVE', 'RESTARTS', 'PODS', 'BECAUSE OF'], rows);
}
