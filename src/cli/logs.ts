import { below, type Live, namespaceOf } from '../insight/view.ts';
import { redactText } from '../world/log.ts';
import type { Answer, Invocation } from './command.ts';
import type { Paper, Style } from './print.ts';
import type { Snapshot } from './source.ts';
import { objectNamed } from './why.ts';
import { UsageError } from './yaml.ts';

interface Line {
  readonly at: string;
  readonly pod: string;
  readonly container: string;
  readonly text: string;
}

/** Lines of all containers below an object, in the order of their times. */
export async function logs(cx: Invocation): Promise<Answer> {
  const snapshot = await cx.snapshot();
  const { lines = '20', container, previous } = cx.flags as { lines?: string; container?: string; previous?: boolean };
  if (!(Number(lines) > 0)) throw new UsageError('--lines must be a number above 0');
  const object = objectNamed(snapshot.view, cx.args[0] ?? '');
  const pods = below(snapshot.view, object).filter(one => one.kind === 'Pod');
  if (pods.length === 0) throw new UsageError(`${object.kind} ${object.metadata.name} has no pods`);
  const read = await Promise.all(
    pods
      .flatMap(pod => containersOf(pod).map(name => ({ pod, name })))
      .filter(one => container === undefined || one.name === container)
      .map(one => linesOf(snapshot, one.pod, one.name, Number(lines), previous === true)),
  );
  const sorted = read.flat().sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
  const several = new Set(sorted.map(line => `${line.pod} ${line.container}`)).size > 1;
  const text = (paper: Paper): string =>
    sorted.length === 0
      ? `No lines: ${snapshot.where} has no logs of ${object.kind} ${object.metadata.name}.`
      : sorted
          .map(line =>
            several ? `${paper.paint(styleOf(line), `${line.pod} ${line.container}`)}  ${line.text}` : line.text,
          )
          .join('\n');
  return { data: { lines: sorted }, text, code: 0 };
}

const COLOURS: readonly Style[] = ['cyan', 'green', 'yellow', 'gray'];
const styleOf = ({ pod, container }: Line): Style =>
  COLOURS[[...`${pod}${container}`].reduce((sum, c) => sum + c.charCodeAt(0), 0) % COLOURS.length]!;

const containersOf = (pod: Live): readonly string[] =>
  ((pod.spec as { containers?: readonly { name: string }[] } | undefined)?.containers ?? []).map(
    container => container.name,
  );

async function linesOf(
  { logs: fetch }: Snapshot,
  pod: Live,
  container: string,
  lines: number,
  previous: boolean,
): Promise<readonly Line[]> {
  const at = { namespace: namespaceOf(pod), name: pod.metadata.name };
  const text = await fetch(at, container, { lines, previous, timestamps: true });
  return (text ?? '')
    .split('\n')
    .filter(Boolean)
    .map(line => {
      const [, time = '', rest = line] = /^(\d{4}-\d\d-\d\dT\S+Z) (.*)$/.exec(line) ?? [];
      return { at: time, pod: at.name, container, text: redactText(rest) };
    });
}
