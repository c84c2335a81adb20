import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { LabNode } from './cluster/layout.ts';
import { importImages } from './images/import.ts';
import { operatorBundle, operatorImage } from './images/small.ts';
import { kubectl } from './kubectl.ts';
import { repo } from './paths.ts';
import { phase } from './progress.ts';

const DEFAULT = join(repo, 'config', 'default');

interface DeploymentList {
  readonly items: readonly {
    readonly kind: string;
    readonly metadata: { readonly name: string; readonly namespace?: string };
  }[];
}

/** The operator as anybody installs it: config/default with its own account and the generated rights, no more. */
export async function deployOperator(nodes: readonly LabNode[]): Promise<void> {
  if (!existsSync(operatorBundle)) {
    process.stderr.write(`  ${operatorBundle} is not there (make build): the lab runs without the operator\n`);
    return;
  }
  await phase('operator:image', 'image of the operator', async () => importImages(nodes, [await operatorImage()]));
  if (!existsSync(join(DEFAULT, 'kustomization.yaml'))) {
    process.stderr.write(`  ${DEFAULT} is not there (make manifests): the lab runs without the operator\n`);
    return;
  }
  await phase('operator:deploy', 'the operator, from config/default', async () => {
    const text = await kubectl(['apply', '--server-side', '--force-conflicts', '-k', DEFAULT, '-o', 'json']);
    const applied = JSON.parse(text) as DeploymentList;
    for (const each of applied.items.filter(item => item.kind === 'Deployment')) {
      // A pod of the same image name keeps the old content until it is made anew.
      await kubectl([
        '-n',
        each.metadata.namespace ?? 'default',
        'rollout',
        'restart',
        `deployment/${each.metadata.name}`,
      ]);
      await kubectl([
        '-n',
        each.metadata.namespace ?? 'default',
        'rollout',
        'status',
        `deployment/${each.metadata.name}`,
        '--timeout=120s',
      ]);
    }
  });
}
