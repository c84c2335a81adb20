import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repo } from '../paths.ts';

/** The flags that the Dockerfile starts Node with: what the lab and the bench run is what users get. */
export function nodeFlags(): string[] {
  const line = /^ENTRYPOINT (\[.*\])$/m.exec(readFileSync(join(repo, 'Dockerfile'), 'utf8'))?.[1];
  if (line === undefined) throw new Error('Dockerfile: no ENTRYPOINT in its list form');
  return (JSON.parse(line) as string[]).filter(word => word.startsWith('--'));
}
