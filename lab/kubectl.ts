import { CONTROL } from './cluster/control.ts';
import { enter } from './cluster/host.ts';
import { adminKubeconfig } from './paths.ts';
import { must, type Ran, run } from './shell.ts';
import { tool } from './tools.ts';

/** The words that run kubectl as the administrator, inside the lab's network. */
export async function kubectlWords(args: readonly string[]): Promise<[string, string[]]> {
  const [program, ...rest] = [
    ...enter(CONTROL),
    'env',
    `KUBECONFIG=${adminKubeconfig}`,
    await tool('kubectl'),
    ...args,
  ];
  return [program!, rest];
}

export async function kubectl(args: readonly string[], input?: string): Promise<string> {
  const [program, rest] = await kubectlWords(args);
  return must(program, rest, input === undefined ? {} : { input });
}

export async function tryKubectl(args: readonly string[]): Promise<Ran> {
  const [program, rest] = await kubectlWords(args);
  return run(program, rest);
}
