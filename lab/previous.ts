import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { cache, repo } from './paths.ts';
import { phase } from './progress.ts';
import { bash, must } from './shell.ts';

/** Who was there before this tree: a commit, or a folder of somebody's own. */
const named = (): string => process.env.PREVIOUS ?? 'HEAD~1';

/** The cloud that it deploys: a file of lab/. */
export const previousCloud = (): string => process.env.UPGRADE_CLOUD ?? 'cloud.yaml';

async function placeOf(): Promise<{ readonly folder: string; readonly commit?: string }> {
  if (existsSync(join(named(), 'build.mjs'))) return { folder: named() };
  const words = ['-C', repo, 'rev-parse', '--verify', '--quiet', `${named()}^{commit}`];
  const commit = (await must('git', words).catch(() => '')).trim();
  if (commit === '') throw new Error(`PREVIOUS=${named()} is neither a commit nor a folder with the sources`);
  return { folder: join(cache, 'previous', commit.slice(0, 12)), commit };
}

/** Where an operator that was built before lies; without network or time for more. */
export async function previousFolder(): Promise<string> {
  const { folder } = await placeOf();
  if (existsSync(join(folder, 'dist', 'openstack-operator.js'))) return folder;
  throw new Error(`the operator of ${named()} is not built; build it with: npx tsx lab/main.ts prepare upgrade`);
}

/** Unpacks and builds the operator of that commit beside the other things that were built, once. */
export async function buildPrevious(): Promise<string> {
  const { folder, commit } = await placeOf();
  const bundle = join(folder, 'dist', 'openstack-operator.js');
  if (commit === undefined || existsSync(bundle)) {
    if (!existsSync(bundle)) await must(process.execPath, ['build.mjs'], { cwd: folder });
    return folder;
  }
  return phase('operator:previous', `the operator of ${named()}`, async () => {
    const part = `${folder}.part`;
    rmSync(part, { recursive: true, force: true });
    mkdirSync(part, { recursive: true });
    await bash(`git -C "$REPO" archive "$COMMIT" | tar -x -C "$PART"`, {
      env: { ...process.env, REPO: repo, COMMIT: commit, PART: part },
    });
    const lock = (root: string): string => readFileSync(join(root, 'package-lock.json'), 'utf8');
    if (lock(part) === lock(repo)) symlinkSync(join(repo, 'node_modules'), join(part, 'node_modules'));
    else await must('npm', ['install', '--no-save'], { cwd: part });
    await must(process.execPath, ['build.mjs'], { cwd: part });
    rmSync(folder, { recursive: true, force: true });
    renameSync(part, folder);
    return folder;
  });
}
