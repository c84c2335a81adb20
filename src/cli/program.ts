import { Command, CommanderError } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { maskShapes } from '../world/mask/shapes.ts';
import { cloudCommand } from './commands/cloud.ts';
import { runCommand } from './commands/run.ts';
import { COMMANDS } from './commands.ts';
import { addCommand, type Terminal } from './frame.ts';
import { UsageError } from './input/yaml.ts';

/** Runs one command line and gives its exit code: 0 fine, 1 a problem was found, 2 the command line or the input is wrong. */
export async function execute(name: string, args: readonly string[], terminal: Terminal): Promise<number> {
  const program = new Command(name)
    .description('turns a Kubernetes cluster into an OpenStack cloud and keeps it one')
    .version(packageJson.version, '-V, --version')
    .showHelpAfterError('(--help shows what there is)')
    .exitOverride()
    .configureOutput({ writeOut: text => terminal.out(text), writeErr: text => terminal.err(text) });
  let code = 0;
  const exit = (found: number): void => {
    code = found;
  };
  runCommand(program);
  cloudCommand(program);
  for (const command of COMMANDS) addCommand(program, command, terminal, exit);
  try {
    await program.parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    terminal.err(`${name}: ${maskShapes(error instanceof Error ? error.message : String(error))}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}
