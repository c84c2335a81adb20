import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cache } from '../../lab/paths.ts';

/**
 * promtool of Debian's package prometheus. The package is taken apart instead of installed: it would start a server, and
 * one program of it is all that is wanted.
 */
export function promtool(): string {
  const ours = join(cache, 'promtool');
  if (existsSync(ours)) return ours;
  const folder = mkdtempSync(join(tmpdir(), 'promtool-'));
  const run = (command: string, ...args: string[]) => execFileSync(command, args, { cwd: folder, stdio: 'pipe' });
  try {
    try {
      // As the user `_apt` it could not write into this folder.
      run('apt-get', 'download', '-q', '-o', 'APT::Sandbox::User=root', 'prometheus');
    } catch {
      run('apt-get', 'update', '-q');
      run('apt-get', 'download', '-q', '-o', 'APT::Sandbox::User=root', 'prometheus');
    }
    const archive = readdirSync(folder).find(name => name.endsWith('.deb'));
    if (archive === undefined) throw new Error('apt-get brought no package prometheus');
    run('dpkg-deb', '-x', archive, 'root');
    mkdirSync(cache, { recursive: true });
    run('cp', 'root/usr/bin/promtool', `${ours}.part`);
    renameSync(`${ours}.part`, ours);
    return ours;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
