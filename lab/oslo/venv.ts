import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { repo } from '../paths.ts';
import { virtualenv as made } from '../venv.ts';

/** Need compilers and headers of the hypervisor, or belong to Horizon, which reads no oslo files. */
const WITHOUT = /^(uwsgi|libvirt-python|horizon|xstatic.*|pyperclip)==/;

/** The lab runs no 2025.1, so the lock of that release lies here. */
export const lockOf = (release: string): string =>
  release === '2025.1'
    ? fileURLToPath(new URL('./lock-2025.1.txt', import.meta.url))
    : join(repo, 'lab', 'images', `lock-${release}.txt`);

/** The services of a release in a virtualenv: those that read oslo files, all of them. */
export function virtualenv(release: string): Promise<string> {
  const lock = readFileSync(lockOf(release), 'utf8')
    .split('\n')
    .filter(line => !WITHOUT.test(line))
    .join('\n');
  return made(`options-venv-${release}`, lock);
}

/** Python of such a virtualenv; `oslo-config-validator` among the words means the program of that name in it. */
export function python(venv: string, args: readonly string[], input = ''): SpawnSyncReturns<string> {
  const bin = join(venv, 'venv/bin');
  const words = args.map(arg => (arg === 'oslo-config-validator' ? join(bin, arg) : arg));
  const done = spawnSync(join(bin, 'python'), words, { input, encoding: 'utf8', timeout: 600_000, maxBuffer: 1 << 26 });
  if (done.error) throw done.error;
  return done;
}
