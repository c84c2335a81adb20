import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { repo } from '../../lab/paths.ts';
import { virtualenv as made } from '../../lab/venv.ts';

/** Need compilers and headers of the hypervisor, or belong to services that this suite does not read. */
const WITHOUT = /^(uwsgi|libvirt-python|horizon|xstatic.*|pyperclip|cinder|openstack-heat)==/;

/** The lab runs no 2025.1, so the lock of that release lies here. */
export const lockOf = (release: string): string =>
  release === '2025.1'
    ? fileURLToPath(new URL('./lock-2025.1.txt', import.meta.url))
    : join(repo, 'lab', 'images', `lock-${release}.txt`);

/** The services of a release in a virtualenv. */
export function virtualenv(release: string): Promise<string> {
  const lock = readFileSync(lockOf(release), 'utf8')
    .split('\n')
    .filter(line => !WITHOUT.test(line))
    .join('\n');
  return made(`options-venv-${release}`, lock);
}
