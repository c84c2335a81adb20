import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What every result depends on: the operator, its kinds, the lab that runs it, and what it is installed from. */
export const CODE = ['src', 'api', 'lab', 'config'] as const;

/** Enough that two trees never share it by chance, short enough to read. */
const LENGTH = 16;

/** Files of git below these paths as they are on disk now: changed, and new ones that are not ignored, included. */
function listed(root: string, paths: readonly string[]): string[] {
  const words = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', ...paths];
  const text = execFileSync('git', words, { cwd: root, encoding: 'utf8', maxBuffer: 64 << 20 });
  return [...new Set(text.split('\0'))].filter(path => path !== '' && existsSync(join(root, path))).sort();
}

/** Tests beside the code change nothing of what a scenario runs. */
const counts = (path: string): boolean => !path.endsWith('.test.ts');

function digest(root: string, paths: readonly string[]): string {
  const hash = createHash('sha256');
  for (const path of paths) {
    const bytes = readFileSync(join(root, path));
    hash.update(`${path}\0${bytes.length}\0`).update(bytes);
  }
  return hash.digest('hex');
}

/**
 * The hash of the code, and of the files of the test itself: a test that was rewritten has not passed either. What is
 * below CODE is read once.
 */
export function hashing(root: string): (own?: readonly string[]) => string {
  let code: string | undefined;
  return (own = []) => {
    code ??= digest(root, listed(root, CODE).filter(counts));
    const rest = own.length === 0 ? '' : digest(root, listed(root, own));
    return createHash('sha256').update(`${code}\0${rest}`).digest('hex').slice(0, LENGTH);
  };
}

/** The commit that the tree is at, with a mark when the code differs from it. */
export function commitOf(root: string): string {
  const git = (...words: string[]): string => execFileSync('git', words, { cwd: root, encoding: 'utf8' }).trim();
  const changed = git('status', '--porcelain', '--', ...CODE) !== '';
  return `${git('rev-parse', '--short=10', 'HEAD')}${changed ? '-dirty' : ''}`;
}
