import type { Command } from 'commander';
import type { CloudOptions } from './cloud-live.ts';

export function cloudCommand(program: Command): void {
  program
    .command('cloud')
    .description('an embedded cloud: the real operator on a cluster that lives in this process')
    .option('-f, --file <yaml>', 'what to apply; the slice (database, bus, cache, identity) unless given')
    .option('-n, --namespace <name>', 'where', 'openstack')
    .option('--once', 'end when everything is Ready; exit 1 when it does not get there in 5 minutes')
    .option('--port <port>', 'of the API server, on 127.0.0.1; 0 chooses a free one', '0')
    .option('--page-port <port>', 'of the page, on 127.0.0.1; 0 chooses a free one', '0')
    .option('--speed <factor>', 'how much faster than real pods the simulated ones start', '8')
    .option('--verbose', "show the operator's log")
    .addHelpText(
      'after',
      `
Nothing of OpenStack runs here: workloads, database, message bus and Keystone are simulated. The operator is the real one, and
so is the API that kubectl sees. For a real cloud on this machine: make lab.

Examples:
  openstack-operator cloud                     watch a cloud come up, then look around with kubectl
  openstack-operator cloud --once              the same as a check: exit 0 when Ready
  openstack-operator cloud -f my-cloud.yaml    your own objects`,
    )
    // The embedded world is loaded only by who asks for it: the operator in a cluster must stay small.
    .action(async (options: CloudOptions) => (await import('./cloud-live.ts')).cloud(options));
}
