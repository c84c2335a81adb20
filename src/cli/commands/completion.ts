import packageJson from '../../../package.json' with { type: 'json' };
import { releases } from '../../oslo/options.ts';
import { UsageError } from '../input/yaml.ts';
import type { Answer, CommandSpec, Invocation } from './command.ts';

const COMMON = [
  '--output',
  '--namespace',
  '--all-namespaces',
  '--kubeconfig',
  '--context',
  '--from',
  '--embedded',
  '--after',
  '--help',
];

const flagsOf = (spec: CommandSpec): readonly string[] => [
  ...(spec.flags ?? []).flatMap(([flags]) => /--[\w-]+/.exec(flags)?.[0] ?? []),
  ...(spec.watch ? ['--watch'] : []),
  ...(spec.follow ? ['--follow'] : []),
  ...(spec.reads === 'none' ? ['--output', '--help'] : COMMON),
];

/** A script for the shell, made from the table of commands. */
export function completion(commands: readonly CommandSpec[]) {
  return async (cx: Invocation): Promise<Answer> => {
    const [shell = ''] = cx.args;
    const make = SHELLS[shell];
    if (!make) throw new UsageError(`completion takes one of ${Object.keys(SHELLS).join(', ')}`);
    const script = make(commands);
    return { data: { shell, script }, text: () => script.trimEnd(), code: 0 };
  };
}

const names = (commands: readonly CommandSpec[]): string =>
  ['run', 'cloud', ...commands.map(command => command.name)].join(' ');

const bash = (commands: readonly CommandSpec[]): string => `# source <(openstack-operator completion bash)
_openstack_operator() {
  local word="\${COMP_WORDS[COMP_CWORD]}"
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${names(commands)}" -- "$word"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${commands.map(command => `    ${command.name}) COMPREPLY=($(compgen -W "${flagsOf(command).join(' ')}" -f -- "$word")) ;;`).join('\n')}
  esac
}
complete -F _openstack_operator openstack-operator kubectl-openstack
`;

const SHELLS: Readonly<Record<string, (commands: readonly CommandSpec[]) => string>> = {
  bash,
  zsh: commands =>
    `# source <(openstack-operator completion zsh)\nautoload -U +X bashcompinit && bashcompinit\n${bash(commands)}`,
  fish: commands =>
    `# openstack-operator completion fish | source\n${commands
      .flatMap(command => [
        `complete -c openstack-operator -n __fish_use_subcommand -a ${command.name} -d '${command.summary.replaceAll("'", '')}'`,
        ...flagsOf(command).map(
          flag => `complete -c openstack-operator -n '__fish_seen_subcommand_from ${command.name}' -l ${flag.slice(2)}`,
        ),
      ])
      .join('\n')}\n`,
};

export async function version(): Promise<Answer> {
  const data = { version: packageJson.version, node: process.version, releases };
  return {
    data,
    text: () => `openstack-operator ${data.version}, Node ${data.node}, option tables of ${releases.join(', ')}`,
    code: 0,
  };
}
