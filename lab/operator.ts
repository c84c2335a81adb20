import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { LabNode } from './cluster/layout.ts';
import { importImages } from './images/import.ts';
import { bundleIn, operatorImage } from './images/small.ts';
import { kubectl } from './kubectl.ts';
import { repo } from './paths.ts';
import { phase } from './progress.ts';

interface Applied {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly spec: { readonly template: { readonly metadata: { annotations?: Record<string, string> } } };
}

/**
 * The operator as anybody installs it: config/default with its own account and the generated rights, no more. `root`: the
 * tree that it comes from, this one unless somebody else's is to run.
 */
export async function deployOperator(nodes: readonly LabNode[], root = repo): Promise<void> {
  const bundleFile = bundleIn(root);
  const kustomization = join(root, 'config', 'default');
  if (!existsSync(bundleFile)) {
    process.stderr.write(`  ${bundleFile} is not there (make build): the lab runs without the operator\n`);
    return;
  }
  await phase('operator:image', 'image of the operator', async () => importImages(nodes, [await operatorImage(root)]));
  if (!existsSync(join(kustomization, 'kustomization.yaml'))) {
    process.stderr.write(`  ${kustomization} is not there (make manifests): the lab runs without the operator\n`);
    return;
  }
  const bundle = createHash('sha256').update(readFileSync(bundleFile)).digest('hex').slice(0, 16);
  await phase('operator:deploy', 'the operator, from config/default', async () => {
    const objects = parseAllDocuments(await kubectl(['kustomize', kustomization])).map(doc => doc.toJS() as Applied);
    const deployments = objects.filter(object => object.kind === 'Deployment');
    // The image keeps its name when its content changes: the content in the template makes the pods follow, once.
    for (const { spec } of deployments)
      spec.template.metadata.annotations = { ...spec.template.metadata.annotations, 'lab/bundle': bundle };
    await kubectl(
      ['apply', '--server-side', '--force-conflicts', '-f', '-'],
      JSON.stringify({ kind: 'List', apiVersion: 'v1', items: objects }),
    );
    for (const { metadata } of deployments)
      await kubectl(['-n', metadata.namespace, 'rollout', 'status', `deployment/${metadata.name}`, '--timeout=120s']);
  });
}
