import { ageOf } from '../../insight/age.ts';
import { journeysOf } from '../../insight/config/journey.ts';
import { filesOf } from '../../insight/config/lint.ts';
import { configsBelow, traceInput } from '../../insight/config/settings.ts';
import { type Setter, type Trace, trace as traceOf } from '../../insight/config/trace.ts';
import { type Hide, hidden } from '../../insight/view/hide.ts';
import type { Live, View } from '../../insight/view/view.ts';
import { assignments, parse } from '../../oslo/parse.ts';
import { UsageError } from '../input/yaml.ts';
import { type Paper, table } from '../terminal/print.ts';
import type { Answer, Invocation } from './command.ts';
import { objectNamed } from './why.ts';

export async function trace(cx: Invocation): Promise<Answer> {
  const [service = '', ...words] = cx.args;
  const { view, notes, hide } = await cx.snapshot();
  const { node } = cx.flags as { node?: string };
  if (node !== undefined) return toNode(view, words, node, hide);
  const object = objectNamed(view, service);
  const secrets = configsBelow(view, object);
  if (secrets.length === 0) throw new UsageError(`${object.kind} ${object.metadata.name} has no config Secret (yet)`);
  const { pod } = cx.flags as { pod?: string };
  const reveal = cx.flags.reveal === true;
  const all = secrets.flatMap(secret =>
    sectionsFor(view, secret, words).map(([group, key]) => one(view, secret, group, key, reveal, pod)),
  );
  const found = reveal ? all : hidden(hide, all);
  if (found.length === 0)
    throw new UsageError(
      `nobody sets ${words.at(-1)} in ${secrets.map(s => s.metadata.name).join(', ')}: it has its default, or give the group: trace ${service} <group> ${words.at(-1)}`,
    );
  const text = (paper: Paper): string =>
    [...found.map(item => picture(paper, item, view.now)), ...notes.map(note => `Note: ${note}`)].join('\n\n');
  return {
    data: { traces: found, notes },
    text,
    code: found.some(item => item.pods.some(p => p.runs === 'other')) ? 1 : 0,
  };
}

/** To a host outside the cluster: the hops of the data plane instead of a Secret and its pods. */
function toNode(view: View, words: readonly string[], node: string, hide: Hide): Answer {
  const [group, key] =
    words.length === 2 ? [words[0]!.replace(/^\[|\]$/g, ''), words[1]!] : ['DEFAULT', words[0] ?? ''];
  const journeys = hidden(hide, journeysOf(view, group, key, node));
  if (journeys.length === 0) throw new UsageError(`no text that reaches ${node} sets [${group}] ${key}`);
  const text = (paper: Paper): string =>
    journeys
      .map(({ value, hops }) =>
        [
          paper.paint('bold', `[${group}] ${key} = ${value}   to ${node}`),
          table(
            paper,
            ['HOP', 'WHAT', 'STATE', 'SAYS'],
            hops.map(hop => [String(hop.number), hop.what, { text: hop.state, style: HOPS[hop.state] }, hop.says]),
          ),
        ].join('\n'),
      )
      .join('\n\n');
  return {
    data: { journeys },
    text,
    code: journeys.some(({ hops }) => hops.some(hop => hop.state === 'open')) ? 1 : 0,
  };
}
const HOPS = { done: 'green', open: 'yellow', unknown: 'gray' } as const;

/** With a group the one option; without, every group in which somebody sets it. */
function sectionsFor(view: View, secret: Live, words: readonly string[]): readonly (readonly [string, string])[] {
  if (words.length > 2) throw new UsageError('give an option, or a group and an option');
  const key = words.at(-1) ?? '';
  const group = words.length === 2 ? words[0]!.replace(/^\[|\]$/g, '') : undefined;
  const set = filesOf(secret).flatMap(({ text }) => {
    const parsed = parse(text);
    return 'ok' in parsed
      ? assignments(parsed.ok)
          .filter(item => item.key === key)
          .map(item => item.section)
      : [];
  });
  if (group === undefined) return [...new Set(set)].map(section => [section, key] as const);
  const { schema } = traceInput(view, secret);
  return set.includes(group) || schema?.option(group, key) ? [[group, key]] : [];
}

function one(view: View, secret: Live, group: string, key: string, reveal: boolean, pod: string | undefined): Trace {
  const input = traceInput(view, secret);
  const pods = input.pods.filter(found => pod === undefined || found.metadata.name === pod);
  return traceOf({ ...input, pods, reveal }, group, key);
}

const setterLine = (setter: Setter): string => {
  const place = setter.object
    ? `${setter.object} ${setter.field}${setter.line ? ` line ${setter.line}` : ''}`
    : 'the operator';
  return `${place}, in ${setter.file} line ${setter.fileLine}`;
};

function picture(paper: Paper, found: Trace, now: number): string {
  const value = found.values.length > 0 ? found.values.join(', ') : '(nobody sets it: the default of the service)';
  const rows = found.pods.map(pod => [
    pod.pod,
    {
      text: pod.runs === 'current' ? 'yes' : pod.runs === 'other' ? 'no' : 'unknown',
      style: pod.runs === 'current' ? 'green' : 'yellow',
    } as const,
    pod.since ? ageOf(now - Date.parse(pod.since)) : '',
    pod.copy,
    pod.value?.replaceAll('\n', ', ') ?? '',
  ]);
  return [
    `${paper.paint('bold', `[${found.section}] ${found.key} = ${value}`)}   Secret ${found.secret}`,
    ...found.setters.map(setter => `  set by      ${setterLine(setter)}`),
    ...[...found.overrides].reverse().map(setter => `  instead of  ${setter.value}, from ${setterLine(setter)}`),
    ...found.earlier.map(
      copy =>
        `  earlier     ${copy.values.join(', ') || '(default)'}, in ${copy.copy}${copy.created ? ` since ${copy.created}` : ''}`,
    ),
    ...(rows.length > 0
      ? [
          table(
            paper,
            ['  POD', 'RUNS IT', 'SINCE', 'MOUNTS', 'VALUE'],
            rows.map(row => [`  ${row[0]}`, ...row.slice(1)] as never),
          ),
        ]
      : ['  no pod mounts it']),
    ...(found.masked ? ['  A secret value is hidden; --reveal shows it.'] : []),
  ].join('\n');
}
