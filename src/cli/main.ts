#!/usr/bin/env node
import { Command } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { cloudCommand } from './cloud.ts';
import { runCommand } from './run.ts';

const program = new Command('openstack-operator')
  .description('turns a Kubernetes cluster into an OpenStack cloud and keeps it one')
  .version(packageJson.version)
  .showHelpAfterError();

runCommand(program);
cloudCommand(program);

try {
  await program.parseAsync();
} catch (error) {
  console.error(`openstack-operator: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}
// A command that has ended has ended: timers of an embedded world or idle sockets must not keep the process.
process.exit();
