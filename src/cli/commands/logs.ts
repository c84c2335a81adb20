import { below, type Live, namespaceOf } from '../../insight/view/view.ts';
import { type Clock, sleep } from '../../world/clock.ts';
import { maskShapes } from '../../world/mask/shapes.ts';
import { UsageError } from '../input/yaml.ts';
import type { LogOptions, Snapshot } from '../source/source.ts';
import type { Paper, Style } from '../terminal/print.ts';
import type { Answer, Invocation } from './command.ts';
import { objectNamed } from './why.ts';

interface Line {
  readonly at: string;
  readonly pod: string;
  readonly container: string;
  readonly text: string;
}

interface Place {
  readonly pod: Live;
  readonly container: string;
}

const flagsOf = (cx: Invocation) => {
  const flags = cx.flags as { lines?: string; container?: string; previous?: boolean };
  const lines = Number(flags.lines ?? '20');
  if (!(lines > 0)) throw new UsageError('--lines must be a number above 0');
  return { lines, only: flags.container, previous: flags.previous === true };
};

function placesIn({ view }: Snapshot, name: string, only: string | undefined): { object: Live; places: Place[] } {
  const object = objectNamed(view, name);
  const pods = below(view, object).filter(one => one.kind === 'Pod');
  const places = pods
    .flatMap(pod => containersOf(pod).map(container => ({ pod, container })))
    .filter(one => only === undefined || one.container === only);
  return { object, places };
}

const byTime = (a: Line, b: Line): number => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0);

/** Lines of all containers below an object, in the order of their times. */
export async function logs(cx: Invocation): Promise<Answer> {
  const snapshot = await cx.snapshot();
  const { lines, only, previous } = flagsOf(cx);
  const { object, places } = placesIn(snapshot, cx.args[0] ?? '', only);
  if (places.length === 0) throw new UsageError(`${object.kind} ${object.metadata.name} has no pods`);
  const read = await Promise.all(places.map(place => linesOf(snapshot, place, { lines, previous })));
  const sorted = read.flat().sort(byTime);
  const several = new Set(sorted.map(line => `${line.pod} ${line.container}`)).size > 1;
  const text = (paper: Paper): string =>
    sorted.length === 0
      ? `No lines: ${snapshot.where} has no logs of ${object.kind} ${object.metadata.name}.`
      : sorted.map(line => (several ? named(paper, line) : line.text)).join('\n');
  return { data: { lines: sorted }, text, code: 0 };
}

const named = (paper: Paper, line: Line): string =>
  `${paper.paint(styleOf(line), `${line.pod} ${line.container}`)}  ${line.text}`;

/** Between two questions for new lines, and after how many of them pods are looked for again. */
const EVERY_MS = 1000;
const ROUNDS = 10;

/**
 * New lines of all containers as they come, also of pods that come later. It asks again and again instead of holding a
 * stream for each: pods come and go while a service rolls, and no line may be lost or repeated by that.
 */
export async function follow(
  cx: Invocation,
  out: { readonly paper: Paper; line(text: string): void },
  clock: Clock,
  signal?: AbortSignal,
): Promise<void> {
  const { lines, only } = flagsOf(cx);
  const heard = new Map<string, Heard>();
  let [snapshot, places] = [await cx.snapshot(), [] as Place[]];
  if (snapshot.transport === undefined)
    throw new UsageError('--follow needs a cluster: what --from and --embedded show does not change');
  for (let round = 0; !signal?.aborted; round++) {
    if (round > 0 && round % ROUNDS === 0) snapshot = await cx.snapshot();
    if (round % ROUNDS === 0) ({ places } = placesIn(snapshot, cx.args[0] ?? '', only));
    const read = await Promise.all(
      places.map(async place => {
        const key = `${place.pod.metadata.uid} ${place.container}`;
        const last = heard.get(key) ?? { at: '', lines: new Set() };
        const found = await linesOf(snapshot, place, last.at ? { since: last.at } : { lines });
        const { fresh, now } = unheard(last, found);
        heard.set(key, now);
        return fresh;
      }),
    );
    for (const line of read.flat().sort(byTime))
      out.line(cx.flags.output === 'table' ? named(out.paper, line) : JSON.stringify(line));
    await sleep(clock, EVERY_MS, signal);
  }
}

interface Heard {
  /** The time of the last line. */
  readonly at: string;
  /** All lines of that time: the next answer begins with them. */
  readonly lines: ReadonlySet<string>;
}

function unheard(last: Heard, found: readonly Line[]): { fresh: readonly Line[]; now: Heard } {
  const fresh = found.filter(line => line.at > last.at || (line.at === last.at && !last.lines.has(line.text)));
  const at = fresh.at(-1)?.at ?? last.at;
  const lines = new Set(found.filter(line => line.at === at).map(line => line.text));
  return { fresh, now: { at, lines: at === last.at ? new Set([...last.lines, ...lines]) : lines } };
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
  { pod, container }: Place,
  options: Omit<LogOptions, 'timestamps'>,
): Promise<readonly Line[]> {
  const at = { namespace: namespaceOf(pod), name: pod.metadata.name };
  const text = await fetch(at, container, { ...options, timestamps: true });
  const found = (text ?? '')
    .split('\n')
    .filter(Boolean)
    .map(line => {
      const [, time = '', rest = line] = /^(\d{4}-\d\d-\d\dT\S+Z) (.*)$/.exec(line) ?? [];
      return { at: time, text: rest };
    });
  // All lines at once and without their times: a key has several, and a file's lines begin where it printed them.
  const masked = maskShapes(found.map(line => line.text).join('\n')).split('\n');
  return found.map((line, index) => ({ at: line.at, pod: at.name, container, text: masked[index] ?? '' }));
}
