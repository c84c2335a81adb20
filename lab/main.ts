import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { census } from './census.ts';
import { clientWords } from './client.ts';
import { deployCloud } from './cloud.ts';
import { CONTROL } from './cluster/control.ts';
import { alive, enter, pidOf, started } from './cluster/host.ts';
import { NETNS, nodesOf } from './cluster/layout.ts';
import { netnsPath } from './cluster/network.ts';
import { clean } from './down.ts';
import { type Extra, extras, startExtras } from './extras.ts';
import { record, run as runHandmade } from './handmade.ts';
import { lock } from './images/build.ts';
import { guestImage } from './images/guest.ts';
import { importImages, listImages } from './images/import.ts';
import { type Release, releases } from './images/names.ts';
import { openstackImages } from './images/openstack.ts';
import { kubectlWords, tryKubectl } from './kubectl.ts';
import { release, take } from './lockfile.ts';
import { deployOperator } from './operator.ts';
import { adminKubeconfig, cache, runPaths } from './paths.ts';
import { ELSEWHERE, look, refusals } from './preflight.ts';
import { expected, phase, readHistory, seconds } from './progress.ts';
import { regressionCommand } from './regression/command.ts';
import { fetchFor, fileOf, startFor } from './regression/needs.ts';
import { interactive, stopChildren } from './shell.ts';
import { allGroups, type ToolGroup, tools } from './tools.ts';
import { isRunning, up } from './up.ts';
import { lockTempest } from './venv.ts';

const USAGE = `usage: npx tsx lab/main.ts COMMAND

  up [--no-operator]    real Kubernetes, the images of OpenStack, the operator; again: repairs what is missing
  deploy                the operator again, from dist/ and config/default
  down [--wipe]         everything away; --wipe also the unpacked images
  status                what runs, with pids and times of earlier runs
  shell [NODE]          a shell on a host of the lab (n1)
  logs [NAME]           the last lines of a component's log, or the list of logs
  kubectl ARGUMENTS     kubectl as the administrator, inside the lab's network
  openstack ARGUMENTS   the openstack client, with the clouds.yaml that the operator wrote
  enter COMMAND         any command inside the lab's network, with KUBECONFIG set
  images [RELEASE...]   build and import the images of a release; "images list" shows what the node has
  extras [NAME...]      what the lab has only when asked for: ${extras.join(', ')}
  cloud [RELEASE]       the cloud of lab/cloud.yaml with the extras it needs, until it is Ready [--file=cloud.yaml] [--strict]
  test [NAME]           a scenario on the lab: test/e2e/NAME.lab.test.ts, e.g. slice, cloud, ceph, tempest
  prepare NAME          only fetch and build what that scenario needs
  regression            all scenarios one after the other, results in docs/evidence.json; regression --help
  handmade [record]     the same cloud by a script in an empty namespace, for its time; "record" first, from a Ready one
  guest                 a small guest image for Glance, booted once to prove it
  selftest              tests of the lab itself, in a second lab: 5 minutes
  tools [GROUP...]      build programs: ${allGroups.join(', ')}
  lock RELEASE|tempest  resolve the Python packages of a release, or of Tempest, anew
  census                what of the lab is on this machine, as JSON

Settings: LAB_NAME (oslab), LAB_NODES (1), LAB_RELEASES (${releases[0]}, the operator's default; all: ${releases.join(',')}), OPENSTACK_OPERATOR_CACHE (${cache})
`;

function wantedReleases(text = process.env.LAB_RELEASES ?? releases[0]): Release[] {
  return text.split(/[ ,]+/).filter(Boolean).map(asRelease);
}

function asRelease(text: string): Release {
  const found = releases.find(each => each === text);
  if (found === undefined) throw new Error(`the lab has no release ${text}; it has ${releases.join(', ')}`);
  return found;
}

function asExtra(text: string): Extra {
  const found = extras.find(each => each === text);
  if (found === undefined) throw new Error(`the lab has no extra ${text}; it has ${extras.join(', ')}`);
  return found;
}

const nodeCount = (): number => Number(process.env.LAB_NODES ?? '1');

/** One command at a time changes the lab. The second one is told who the first is. */
async function alone(what: string, work: () => Promise<void>): Promise<void> {
  const held = take(runPaths.lock, what);
  if (held !== undefined)
    throw new Error(
      `process ${held.pid} is already busy with the lab (${held.what}); wait for it, or end it and try again`,
    );
  try {
    await work();
  } finally {
    release(runPaths.lock);
  }
}

async function mustFit(): Promise<void> {
  const machine = await look();
  const reasons = refusals(
    machine,
    isRunning(nodesOf(nodeCount())) || Object.keys(readHistory()).includes('cluster:nodes'),
  );
  if (reasons.length > 0) throw new Error(`The lab can't run here:\n  - ${reasons.join('\n  - ')}\n${ELSEWHERE}`);
}

async function status(): Promise<number> {
  const names = started().sort();
  if (names.length === 0) {
    console.log('The lab does not run. Start it with: make lab');
    return 1;
  }
  for (const name of names)
    console.log(`${alive(name) ? 'running' : 'DEAD   '}  ${name.padEnd(26)} ${pidOf(name) ?? ''}`);
  const nodes = await tryKubectl(['get', 'nodes,pods', '-A', '-o', 'wide']).catch(() => undefined);
  console.log(nodes?.stdout ?? 'the API server does not answer');
  console.log(`KUBECONFIG=${adminKubeconfig} (inside the network: npx tsx lab/main.ts enter COMMAND)`);
  const history = readHistory();
  console.log('\nMedian seconds of earlier runs:');
  for (const name of Object.keys(history).sort())
    console.log(`  ${name.padEnd(28)} ${seconds(expected(history, name) ?? 0)}`);
  return names.every(alive) ? 0 : 1;
}

async function logs(name: string | undefined): Promise<number> {
  if (name === undefined) {
    for (const file of readdirSync(runPaths.log).sort()) console.log(join(runPaths.log, file));
    return 0;
  }
  return interactive('tail', ['-n', '100', join(runPaths.log, name.endsWith('.log') ? name : `${name}.log`)]);
}

async function main(command: string | undefined, args: string[]): Promise<number> {
  switch (command) {
    case 'up':
      await mustFit();
      await alone('up', () =>
        phase('up', 'the lab', () =>
          up({ nodes: nodeCount(), releases: wantedReleases(), operator: !args.includes('--no-operator') }),
        ),
      );
      console.log(
        `The lab runs.  npx tsx lab/main.ts status | kubectl get pods -A | shell | down\nKUBECONFIG=${adminKubeconfig}`,
      );
      return 0;
    case 'down':
      await alone('down', () =>
        phase('down', 'the lab goes away', () => clean({ keepImages: !args.includes('--wipe') })),
      );
      return 0;
    case 'status':
      return status();
    case 'shell': {
      const [program, ...rest] = [...enter(args[0] ?? 'n1'), 'env', `KUBECONFIG=${adminKubeconfig}`, 'bash', '-l'];
      return interactive(program!, rest);
    }
    case 'enter': {
      const [program, ...rest] = [...enter(CONTROL), 'env', `KUBECONFIG=${adminKubeconfig}`, ...args];
      return interactive(program!, rest);
    }
    case 'logs':
      return logs(args[0]);
    case 'kubectl':
      return interactive(...(await kubectlWords(args)));
    case 'openstack': {
      const { words, env } = await clientWords(wantedReleases()[0] ?? releases[0], ['openstack', ...args]);
      return interactive(...words, env);
    }
    case 'images': {
      const nodes = nodesOf(nodeCount());
      if (args[0] === 'list') {
        console.log((await listImages(nodes[0]!)).join('\n'));
        return 0;
      }
      for (const each of args.length > 0 ? args.map(asRelease) : wantedReleases()) {
        const images = await openstackImages(each);
        if (isRunning(nodes))
          await phase(`cluster:import-${each}`, `import ${images.length} images of ${each}`, note =>
            importImages(nodes, images, note),
          );
        for (const one of images) console.log(one.reference);
      }
      return 0;
    }
    case 'cloud': {
      const release = wantedReleases(args.find(word => !word.startsWith('-')))[0] ?? releases[0];
      const file = args.find(arg => arg.startsWith('--file='))?.slice('--file='.length);
      const options = { ...(file && { file }), strict: args.includes('--strict') };
      console.log(`Ready after ${Math.round(await deployCloud(nodesOf(nodeCount()), release, options))} s`);
      return 0;
    }
    case 'handmade':
      await (args[0] === 'record' ? record() : runHandmade());
      return 0;
    case 'test': {
      const [name = '', ...rest] = args;
      await fetchFor(name);
      await startFor(name, nodesOf(nodeCount()));
      const words = [...(name === '' ? [] : [fileOf(name)]), ...rest];
      // In its network but not on its hosts: stories kill processes by pid and look at the world outside.
      const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'vitest.lab.config.ts', ...words];
      return interactive('nsenter', [`--net=${netnsPath(NETNS)}`, process.execPath, ...vitest]);
    }
    case 'prepare':
      await fetchFor(args[0] ?? '');
      return 0;
    case 'regression':
      return regressionCommand(args);
    case 'extras':
      await startExtras(nodesOf(nodeCount()), args.length > 0 ? args.map(asExtra) : extras);
      return 0;
    case 'guest':
      console.log(await guestImage(text => console.log(text)));
      return 0;
    case 'selftest':
      return (await import('./selftest.ts')).selftest();
    case 'deploy':
      await deployOperator(nodesOf(nodeCount()));
      return 0;
    case 'tools':
      console.log(await tools(args.length > 0 ? (args as ToolGroup[]) : undefined));
      return 0;
    case 'lock':
      console.log(await (args[0] === 'tempest' ? lockTempest() : lock(asRelease(args[0] ?? ''))));
      return 0;
    case 'census':
      console.log(JSON.stringify(await census(), null, 1));
      return 0;
    default:
      console.log(USAGE);
      return command === undefined || command === 'help' || command === '--help' ? 0 : 2;
  }
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    // These hand the terminal to another program, which gets the signal as well and ends by itself, or end what they started.
    if (['kubectl', 'shell', 'enter', 'openstack', 'logs', 'regression'].includes(process.argv[2] ?? '')) return;
    stopChildren().then(() => {
      release(runPaths.lock);
      console.error(
        '\nStopped. What is built is kept; go on with the same command, or clean up with: npx tsx lab/main.ts down',
      );
      process.exit(130);
    });
  });
}

try {
  process.exitCode = await main(process.argv[2], process.argv.slice(3));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
