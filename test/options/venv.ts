import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BUILD_CONSTRAINTS, uv } from '../../lab/images/build.ts';
import { cache, paths, repo } from '../../lab/paths.ts';
import { must } from '../../lab/shell.ts';

/** Need compilers and headers of the hypervisor, or belong to services that this suite does not read. */
const WITHOUT = /^(uwsgi|libvirt-python|horizon|xstatic.*|pyperclip|cinder|openstack-heat)==/;

/** The lab runs no 2025.1, so the lock of that release lies here. */
export const lockOf = (release: string): string =>
  release === '2025.1'
    ? fileURLToPath(new URL('./lock-2025.1.txt', import.meta.url))
    : join(repo, 'lab', 'images', `lock-${release}.txt`);

/**
 * The services of a release in a virtualenv, from PyPI by our lock file. Made once, some 10 s with a warm cache and a
 * minute without; named after what is in it, so that another lock is another virtualenv.
 */
export async function virtualenv(release: string): Promise<string> {
  const lock = readFileSync(lockOf(release), 'utf8')
    .split('\n')
    .filter(line => !WITHOUT.test(line))
    .join('\n');
  const hash = createHash('sha256').update(lock).digest('hex').slice(0, 12);
  const venv = join(cache, `options-venv-${release}-${hash}`);
  if (existsSync(venv)) return venv;
  const part = `${venv}.part`;
  rmSync(part, { recursive: true, force: true });
  mkdirSync(part, { recursive: true });
  const file = (name: string, text: string): string => {
    writeFileSync(join(part, name), text);
    return join(part, name);
  };
  const constraints = file('build.txt', BUILD_CONSTRAINTS);
  const program = await uv();
  const env = { ...process.env, UV_CACHE_DIR: paths.uv, SSL_CERT_FILE: '/etc/ssl/certs/ca-certificates.crt' };
  const install = (...args: string[]) =>
    must(program, ['pip', 'install', '-q', '--python', join(part, 'venv/bin/python'), ...args], { env });
  await must(program, ['venv', '-q', '--relocatable', '--python', '/usr/bin/python3', join(part, 'venv')], { env });
  await install('--no-deps', '--build-constraints', constraints, '-r', file('lock.txt', lock));
  // Some dependencies still import pkg_resources.
  await install('setuptools<81');
  renameSync(part, venv);
  return venv;
}
