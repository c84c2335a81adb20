import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The newest release on PyPI when this was written; iniparser.py has not changed in years, cfg.py hardly. */
export const version = '10.7.0';

const venv = join(homedir(), '.cache/openstack-operator/oslo-venv');
const script = fileURLToPath(new URL('./oracle.py', import.meta.url));

function run(command: string, args: string[], input?: string): string {
  const done = spawnSync(command, args, { encoding: 'utf8', input: input ?? '', maxBuffer: 1 << 28 });
  if (done.error) throw done.error;
  if (done.status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${done.status}:\n${done.stderr}`);
  return done.stdout;
}

/** Makes the virtualenv once; later runs only look whether the wanted version is in it. */
export function prepare(): void {
  const marker = join(venv, 'lib');
  if (!existsSync(marker)) run('python3', ['-m', 'venv', venv]);
  const pip = join(venv, 'bin/pip');
  if (!run(pip, ['list', '--format=freeze']).includes(`oslo.config==${version}\n`)) {
    run(pip, ['install', '--quiet', `oslo.config==${version}`]);
  }
}

export type Case =
  | { kind: 'parse'; text: string }
  | { kind: 'substitute'; text: string; options: Registered[]; section: string; key: string }
  | { kind: 'type'; shape: object; value: string }
  | { kind: 'layers'; files: string[]; options: Registered[] }
  | { kind: 'data'; name: string; data: object }
  | { kind: 'validate'; text: string; name: string };

/** group, name, MultiStr?, deprecated [group, name]s */
export type Registered = [string, string, boolean, [string, string][]];

/** The answers of the real oslo.config, in the order of the cases. */
export function ask<Answer>(cases: readonly Case[]): Answer[] {
  return JSON.parse(run(join(venv, 'bin/python'), [script], JSON.stringify(cases)));
}

export interface Recorded {
  text: string;
  answer: ParseAnswer;
}

export type ParseAnswer = { sections: Record<string, Record<string, string[]>> } | { error: string; line: number };

export const recordedPath = fileURLToPath(new URL('./recorded.json', import.meta.url));
export const recorded = (): Recorded[] => JSON.parse(readFileSync(recordedPath, 'utf8'));
