import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BUILD_CONSTRAINTS, uv } from './images/build.ts';
import { cache, paths, repo } from './paths.ts';
import { must } from './shell.ts';

const uvEnv = () => ({
  ...process.env,
  UV_CACHE_DIR: paths.uv,
  SSL_CERT_FILE: '/etc/ssl/certs/ca-certificates.crt',
});

/** Resolves lab/tempest/requirements.in anew; versions in the lock file are kept where they still fit. */
export async function lockTempest(): Promise<string> {
  const folder = join(repo, 'lab', 'tempest');
  const lock = join(folder, 'lock.txt');
  const compile = ['pip', 'compile', '-q', '--no-header', '--no-annotate', '--python', '/usr/bin/python3'];
  await must(await uv(), [...compile, '-o', lock, join(folder, 'requirements.in')], { env: uvEnv() });
  return lock;
}

/**
 * Python programs in a virtualenv, from PyPI by a lock file. Made once, some 10 s with a warm cache and a minute
 * without; named after what is in it, so that another lock is another virtualenv. Answers with a folder that has `venv`.
 */
export async function virtualenv(name: string, lock: string): Promise<string> {
  const hash = createHash('sha256').update(lock).digest('hex').slice(0, 12);
  const folder = join(cache, `${name}-${hash}`);
  if (existsSync(folder)) return folder;
  const part = `${folder}.part`;
  rmSync(part, { recursive: true, force: true });
  mkdirSync(part, { recursive: true });
  const file = (name: string, text: string): string => {
    writeFileSync(join(part, name), text);
    return join(part, name);
  };
  const constraints = file('build.txt', BUILD_CONSTRAINTS);
  const program = await uv();
  const env = uvEnv();
  const install = (...args: string[]) =>
    must(program, ['pip', 'install', '-q', '--python', join(part, 'venv/bin/python'), ...args], { env });
  await must(program, ['venv', '-q', '--relocatable', '--python', '/usr/bin/python3', join(part, 'venv')], { env });
  await install('--no-deps', '--build-constraints', constraints, '-r', file('lock.txt', lock));
  // Some dependencies still import pkg_resources.
  await install('setuptools<81');
  renameSync(part, folder);
  return folder;
}

export const tempestVenv = (): Promise<string> =>
  virtualenv('tempest-venv', readFileSync(join(repo, 'lab', 'tempest', 'lock.txt'), 'utf8'));
