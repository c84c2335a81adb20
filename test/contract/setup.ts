import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** What the contract needs on a fresh machine: packages of the distribution, and Keystone in a virtualenv of its own. */

export const programs = {
  mariadbd: '/usr/sbin/mariadbd',
  installDb: '/usr/bin/mariadb-install-db',
  rabbitServer: '/usr/lib/rabbitmq/bin/rabbitmq-server',
  rabbitctl: '/usr/lib/rabbitmq/bin/rabbitmqctl',
  epmd: '/usr/bin/epmd',
} as const;

/** Debian's packages start their services when installed, unless this file says no. */
const POLICY = '/usr/sbin/policy-rc.d';

const sh = (command: string, args: readonly string[], env: Record<string, string> = {}): void => {
  try {
    execFileSync(command, args, { stdio: 'pipe', env: { ...process.env, ...env } });
  } catch (error) {
    const text = String((error as { stderr?: Buffer }).stderr ?? '')
      .split('\n')
      .slice(-15)
      .join('\n');
    throw new Error(`${command} ${args.join(' ')} failed:\n${text}`);
  }
};

export function ensurePackages(): void {
  const missing = Object.values(programs).filter(path => !existsSync(path));
  if (missing.length === 0) return;
  const packages = ['mariadb-server', 'rabbitmq-server', 'memcached'];
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
    throw new Error(`${missing.join(', ')} missing: install ${packages.join(', ')} (no need to start them)`);
  }
  const ours = !existsSync(POLICY);
  if (ours) writeFileSync(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    const env = { DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
    sh('apt-get', ['update', '-q'], env);
    sh('apt-get', ['install', '-y', '-q', '--no-install-recommends', ...packages], env);
  } finally {
    if (ours) rmSync(POLICY);
  }
}

const LOCK = fileURLToPath(new URL('./keystone.lock', import.meta.url));

/** The virtualenv with Keystone and uwsgi, named after its lock file: another lock is another virtualenv. */
export function ensureKeystone(): string {
  const lock = readFileSync(LOCK, 'utf8');
  const cache = process.env.OPENSTACK_OPERATOR_CACHE ?? join(homedir(), '.cache', 'openstack-operator');
  const venv = join(cache, `contract-venv-${createHash('sha256').update(lock).digest('hex').slice(0, 12)}`);
  const done = join(venv, '.complete');
  if (existsSync(done)) return venv;
  // A half-made one is no use: an interrupted install leaves no mark.
  rmSync(venv, { recursive: true, force: true });
  mkdirSync(cache, { recursive: true });
  sh('python3', ['-m', 'venv', venv]);
  sh(join(venv, 'bin', 'pip'), ['install', '-q', '--disable-pip-version-check', '--no-deps', '-r', LOCK]);
  writeFileSync(done, '');
  return venv;
}
