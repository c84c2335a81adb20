import { type Command, Option } from 'commander';
import { stringify } from 'yaml';
import { type Hide, hidden } from '../insight/view/hide.ts';
import { realClock } from '../real/clock.ts';
import { sleep } from '../world/clock.ts';
import type { Answer, CommandSpec, Flags } from './commands/command.ts';
import { UsageError } from './input/yaml.ts';
import { readSource } from './source/source.ts';
import type { Paper } from './terminal/print.ts';

/** What every command has in common: where to look, how to print, what the exit code means. */

export interface Terminal {
  out(text: string): void;
  err(text: string): void;
  readonly paper: Paper;
  /** Whether what was printed can be painted over. */
  readonly repaints: boolean;
}

const WATCH_MS = 2000;

export function addCommand(
  program: Command,
  spec: CommandSpec,
  terminal: Terminal,
  exit: (code: number) => void,
): void {
  const command = program
    .command(spec.args ? `${spec.name} ${spec.args}` : spec.name)
    .description(spec.summary)
    .addOption(
      new Option('-o, --output <format>', 'table, json or yaml').choices(['table', 'json', 'yaml']).default('table'),
    );
  for (const [flags, description, fallback] of spec.flags ?? []) command.option(flags, description, fallback);
  if (spec.reads !== 'none')
    command
      .option('-n, --namespace <name>', 'where; the namespace of your context unless given')
      .option('-A, --all-namespaces', 'everywhere')
      .option('--kubeconfig <file>', 'which cluster; else KUBECONFIG, the service account of the pod, ~/.kube/config')
      .option('--context <name>', 'which context of the kubeconfig')
      .option('--from <path>', 'objects from a folder or file of YAML instead of a cluster')
      .option('--embedded [yaml]', 'an embedded cloud of these objects (the slice unless given) instead of a cluster')
      .option('--after <seconds>', 'look at the embedded cloud after that much of its time; else when nothing moves');
  if (spec.follow) command.option('-f, --follow', 'go on with new lines as they come, also of new pods, until stopped');
  if (spec.watch) command.option('-w, --watch', 'look again every two seconds until stopped');
  const name = program.name();
  const examples = spec.examples.map(([args, what]) => [`${name} ${spec.name} ${args}`.trimEnd(), what] as const);
  const width = Math.max(...examples.map(([line]) => line.length));
  const lines = examples.map(([line, what]) => `  ${line.padEnd(width)}  ${what}`).join('\n');
  command.addHelpText('after', `\n${spec.about}\n\nExamples:\n${lines}`);
  command.action(async (...given: unknown[]) => {
    const flags = given[spec.args ? spec.args.split(' ').length : 0] as Flags & { watch?: boolean; follow?: boolean };
    const args = given
      .slice(0, spec.args ? spec.args.split(' ').length : 0)
      .flat()
      .filter(arg => arg !== undefined);
    const hides: Hide[] = [];
    const hide: Hide = flags.reveal ? text => text : text => hides.reduce((out, each) => each(out), text);
    const cx = {
      args: args as string[],
      flags,
      snapshot: async () => {
        const snapshot = await readSource(flags, spec.reads === 'none' ? 'look' : spec.reads);
        hides.splice(0, hides.length, snapshot.hide);
        return snapshot;
      },
      say: (text: string) => terminal.out(hide(text)),
    };
    // The last look, whatever the command did: no value of a Secret leaves unless somebody asked for it.
    const run = async () => {
      try {
        const answer = await spec.run(cx);
        return { ...answer, data: hidden(hide, answer.data), text: (paper: Paper) => hide(answer.text(paper)) };
      } catch (error) {
        if (error instanceof Error) error.message = hide(error.message);
        throw error;
      }
    };
    if (flags.follow && spec.follow)
      return spec.follow(
        cx,
        {
          paper: terminal.paper,
          line: text => terminal.out(`${hide(text)}\n`),
        },
        realClock,
      );
    if (flags.watch) return watch(run, flags, terminal);
    const answer = await run();
    terminal.out(printed(answer, flags, terminal.paper));
    exit(answer.code);
  });
}

function printed(answer: Answer, flags: Pick<Flags, 'output'>, paper: Paper): string {
  if (flags.output === 'json') return `${JSON.stringify(answer.data, null, 2)}\n`;
  if (flags.output === 'yaml')
    return stringify(answer.data, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false });
  return `${answer.text(paper)}\n`;
}

async function watch(run: () => Promise<Answer>, flags: Flags, terminal: Terminal): Promise<void> {
  if (flags.embedded !== undefined || flags.from !== undefined)
    throw new UsageError('--watch needs a cluster: what --from and --embedded show does not change');
  let last = '';
  for (;;) {
    const text = printed(await run(), flags, terminal.paper);
    if (terminal.repaints) terminal.out(`\x1b[H\x1b[J${text}`);
    else if (text !== last) terminal.out(text);
    last = text;
    await sleep(realClock, WATCH_MS);
  }
}
