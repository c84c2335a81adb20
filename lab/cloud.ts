import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { NODES_OF_LABEL } from '../src/runtime/plan/names.ts';
import { nameIngresses } from './cluster/ingress.ts';
import type { LabNode } from './cluster/layout.ts';
import { type CloudSpec, giveCeph, neededBy, startExtras } from './extras.ts';
import type { Release } from './images/names.ts';
import { kubectl, tryKubectl } from './kubectl.ts';
import { repo } from './paths.ts';
import { phase } from './progress.ts';
import { sleep } from './shell.ts';

export const CLOUD_NAMESPACE = process.env.LAB_NAMESPACE ?? 'openstack';

/** A minute per service of a machine that does other things as well. */
const MINUTES = 20;

interface Cloud {
  readonly metadata: { readonly generation: number };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly services?: readonly { readonly name: string; readonly ready: boolean }[];
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message: string }[];
  };
}

/** Makes the namespace and what the cloud counts on outside of it. */
export async function prepareCloud(nodes: readonly LabNode[], spec: CloudSpec): Promise<void> {
  const needed = neededBy(spec);
  await startExtras(nodes, needed);
  await tryKubectl(['create', 'namespace', CLOUD_NAMESPACE]);
  if (spec.nodeNamespace !== undefined) {
    await tryKubectl(['create', 'namespace', spec.nodeNamespace]);
    await kubectl(['label', '--overwrite', 'namespace', spec.nodeNamespace, `${NODES_OF_LABEL}=${CLOUD_NAMESPACE}`]);
  }
  if (needed.includes('ceph')) await giveCeph(CLOUD_NAMESPACE);
}

/** Applies a control plane and waits for it, saying which services are not there yet; answers with the seconds to Ready. */
export async function deployCloud(
  nodes: readonly LabNode[],
  release: Release,
  { file = join(repo, 'lab', 'cloud.yaml'), strict = false }: { file?: string; strict?: boolean } = {},
): Promise<number> {
  const object = parse(readFileSync(file, 'utf8')) as { metadata: { name: string }; spec: CloudSpec };
  const { name } = object.metadata;
  await prepareCloud(nodes, object.spec);
  const rollout = strict ? { rollout: 'strict' } : {};
  const title = `${name}, ${release}${strict ? ', strict' : ''}`;
  return phase(`cloud:${title}`, `the cloud ${title}`, async note => {
    const wanted = stringify({ ...object, spec: { ...object.spec, release, ...rollout } });
    await kubectl(['-n', CLOUD_NAMESPACE, 'apply', '--server-side', '--force-conflicts', '-f', '-'], wanted);
    const began = performance.now();
    const end = Date.now() + MINUTES * 60_000;
    for (;;) {
      const text = await kubectl(['-n', CLOUD_NAMESPACE, 'get', 'openstackcontrolplane', name, '-o', 'json']);
      const { metadata, status } = JSON.parse(text) as Cloud;
      const ready = status?.conditions?.find(condition => condition.type === 'Ready');
      if (object.spec.publicDomain !== undefined) await nameIngresses();
      if (ready?.status === 'True' && status?.observedGeneration === metadata.generation)
        return (performance.now() - began) / 1000;
      if (Date.now() > end) throw new Error(`the cloud is not Ready after ${MINUTES} minutes: ${ready?.message}`);
      const waiting = status?.services?.filter(service => !service.ready).map(service => service.name) ?? [];
      note(`waits for ${waiting.join(', ')}`);
      await sleep(1000);
    }
  });
}
