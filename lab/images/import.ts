import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { enter } from '../cluster/host.ts';
import type { LabNode } from '../cluster/layout.ts';
import { ctr, socket } from '../cluster/node.ts';
import { tool } from '../tools.ts';
import { type Image, layout } from './oci.ts';

/** References as containerd spells them: a short name gets the default registry and namespace. */
export function normalized(reference: string): string {
  const first = reference.split('/')[0] ?? '';
  if (reference.includes('/') && (first.includes('.') || first.includes(':') || first === 'localhost'))
    return reference;
  return reference.includes('/') ? `docker.io/${reference}` : `docker.io/library/${reference}`;
}

async function present(node: LabNode): Promise<Map<string, string>> {
  const rows = (await ctr(node, 'images', 'list'))
    .split('\n')
    .slice(1)
    .map(line => line.trim().split(/\s+/));
  return new Map(rows.map(([reference, , digest]) => [reference ?? '', digest ?? '']));
}

/** Imports what the node does not have yet, in one stream, so that shared layers are unpacked once. */
export async function importImages(
  nodes: readonly LabNode[],
  images: readonly Image[],
  note: (text: string) => void = () => undefined,
): Promise<void> {
  for (const node of nodes) {
    const have = await present(node);
    const missing = images
      .map(each => ({ ...each, reference: normalized(each.reference) }))
      .filter(each => have.get(each.reference) !== each.digest);
    if (missing.length === 0) continue;
    note(`${missing.length} for ${node.name}`);
    const already = new Set((await ctr(node, 'content', 'list', '-q')).split('\n'));
    const folder = layout(missing, already);
    try {
      await stream(folder, [
        ...enter(node.name),
        await tool('ctr'),
        '-a',
        socket(node),
        '-n',
        'k8s.io',
        'images',
        'import',
        '--snapshotter',
        'overlayfs',
        '-',
      ]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
    const now = await present(node);
    const lost = missing.filter(each => now.get(each.reference) !== each.digest);
    if (lost.length > 0)
      throw new Error(
        `containerd of ${node.name} imported without error, but lacks ${lost.map(each => each.reference).join(', ')}`,
      );
  }
}

async function stream(folder: string, into: readonly string[]): Promise<void> {
  const [program, ...args] = into;
  const tar = spawn('tar', ['--create', '--directory', folder, 'oci-layout', 'index.json', 'blobs'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const reader = spawn(program!, args, { stdio: [tar.stdout, 'pipe', 'pipe'] });
  let words = '';
  reader.stdout?.on('data', () => undefined);
  reader.stderr?.on('data', (chunk: Buffer) => {
    words += chunk.toString();
  });
  tar.stdout.destroy();
  const code = await new Promise<number>((resolve, reject) => {
    reader.on('error', reject);
    reader.on('close', result => resolve(result ?? 1));
  });
  if (code !== 0)
    throw new Error(`images could not be imported (${code}): ${words.trim().split('\n').slice(-3).join(' ')}`);
}

export async function listImages(node: LabNode): Promise<string[]> {
  return [...(await present(node)).keys()].filter(name => name !== '' && !name.startsWith('sha256:')).sort();
}
