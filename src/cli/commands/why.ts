import type { Live, View } from '../../insight/view/view.ts';
import { type Cause, why as whyOf } from '../../insight/why/why.ts';
import { UsageError } from '../input/yaml.ts';
import type { Snapshot } from '../source/source.ts';
import { type Paper, wrapped } from '../terminal/print.ts';
import type { Answer, Invocation } from './command.ts';

type Told = Cause & { readonly log?: readonly string[] };

export async function why(cx: Invocation): Promise<Answer> {
  const snapshot = await cx.snapshot();
  const { view, notes, namespace, where } = snapshot;
  const about = cx.args[0] === undefined ? undefined : objectNamed(view, cx.args[0]);
  const { causes: told, moving } = await toldWhy(snapshot, about);
  const text = (paper: Paper): string => {
    const parts = told.map((cause, index) => paragraph(paper, cause, told.length > 1 ? `${index + 1}. ` : ''));
    if (told.length === 0 && view.ours.length === 0)
      parts.push(`No cloud ${namespace === undefined ? 'in any namespace' : `in namespace ${namespace}`} of ${where}.`);
    else if (told.length === 0 && moving.length === 0) parts.push('Everything is ready.');
    else if (told.length === 0) parts.push('Nothing is wrong; this is on its way:');
    if (moving.length > 0)
      parts.push(
        [...(told.length > 0 ? ['On its way:'] : []), ...moving.map(line => wrapped(paper, '  ', line))].join('\n'),
      );
    return [...parts, ...notes.map(note => wrapped(paper, 'Note: ', note))].join('\n\n');
  };
  return { data: { causes: told, moving, notes }, text, code: told.length > 0 ? 1 : 0 };
}

/** With the termination messages of the pods behind the causes. */
export async function toldWhy(
  snapshot: Snapshot,
  about?: Live,
): Promise<{ causes: Told[]; moving: readonly string[] }> {
  const { causes, moving } = whyOf(snapshot.view, about);
  return { causes: await Promise.all(causes.map(cause => withLog(snapshot, cause))), moving };
}

/** `keystone/keystone`, `keystone` where that is clear, `Nova/nova`. */
export function objectNamed(view: View, given: string): Live {
  const [kind, name] = given.includes('/') ? given.split('/') : [undefined, given];
  const found = view.ours.filter(
    object => (kind === undefined || object.kind.toLowerCase() === kind.toLowerCase()) && object.metadata.name === name,
  );
  if (found.length === 1) return found[0]!;
  const all = (found.length > 1 ? found : view.ours).map(
    object => `${object.kind.toLowerCase()}/${object.metadata.name}`,
  );
  if (found.length > 1)
    throw new UsageError(`${given} may be ${all.join(' or ')}: say which, and -n if they are in several namespaces`);
  throw new UsageError(
    `there is no ${given}; there ${all.length === 0 ? 'is nothing of ours here' : `are ${all.join(', ')}`}`,
  );
}

const LOG_LINES = 5;

/** The end of the log, where a cluster can give it and the pod's status did not hold it already. */
async function withLog({ logs }: Snapshot, cause: Cause): Promise<Told> {
  const { pod } = cause;
  if (pod?.container === undefined || cause.chain.some(link => link.what === 'last words')) return cause;
  const text = await logs(pod, pod.container, { lines: LOG_LINES }).catch(() => undefined);
  const log = text?.trim().split('\n').filter(Boolean).slice(-LOG_LINES) ?? [];
  return log.length > 0 ? { ...cause, log } : cause;
}

function paragraph(paper: Paper, cause: Told, number: string): string {
  const pad = ' '.repeat(number.length);
  const field = (name: string, text: string): string => wrapped(paper, `${pad}${`${name}:`.padEnd(10)}`, text);
  const chain = cause.chain.map((link, depth) => {
    const line = `${pad}  ${' '.repeat(Math.min(depth, 8))}${depth === 0 ? '' : '└ '}${link.what}: `;
    const room = paper.width === undefined ? link.says.length : Math.max(20, paper.width - line.length);
    return paper.paint('gray', `${line}${link.says.length > room ? `${link.says.slice(0, room - 1)}…` : link.says}`);
  });
  return [
    paper.paint('bold', wrapped(paper, number, `${cause.reason}: ${cause.what}`)),
    field(cause.who, cause.next),
    `${pad}${'Type:'.padEnd(10)}${paper.paint('cyan', cause.command)}`,
    ...cause.afterwards.map(command => `${pad}${'Then:'.padEnd(10)}${paper.paint('cyan', command)}`),
    `${pad}Seen at:`,
    ...chain,
    ...(cause.log ?? []).map(line => paper.paint('gray', `${pad}  | ${line}`)),
    ...(cause.consequences.length > 0 ? [field('Hence', `not ready either: ${cause.consequences.join(', ')}`)] : []),
  ].join('\n');
}
