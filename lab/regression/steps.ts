import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Report, ranOf } from '../../evidence/suites.ts';
import type { Release } from '../images/names.ts';
import { cache, repo } from '../paths.ts';
import { bounded, type Ended } from './child.ts';
import type { Item } from './plan.ts';
import type { Outcome, Steps } from './run.ts';
import { type CloudName, clouds } from './scenarios.ts';

/** Logs of every scenario, and what is kept of those that failed. */
export const folder = join(cache, 'regression');

/** The first time, programs and images are built: Go modules, Debian packages, PyPI. */
const BUILD_MINUTES = 150;
const DEPLOY_MINUTES = 25;
const ASK_MINUTES = 1;

const fileOf = ({ scenario, release }: Item, ending: string): string =>
  join(folder, `${scenario.name}-${release}${ending}`);

/** Figures that a scenario wrote, one JSON object per line. */
export function figuresIn(text: string): Record<string, number | string> {
  const lines = text.split('\n').filter(line => line.trim() !== '');
  return Object.assign({}, ...lines.map(line => JSON.parse(line) as object)) as Record<string, number | string>;
}

/** What vitest reported, or why there is no report. */
export function outcomeOf(ended: Ended, report: string | undefined, figures: string, limit: number): Outcome {
  const { seconds } = ended;
  const measured = figuresIn(figures);
  const more = Object.keys(measured).length > 0 ? { figures: measured } : {};
  if (ended.cut === 'time')
    return { result: 'failed', seconds, ...more, failure: `not done within its limit of ${limit} minutes` };
  const file = report === undefined ? undefined : (JSON.parse(report) as Report).testResults[0];
  if (file === undefined) {
    const words = ended.tail.trim().split('\n').slice(-5).join('\n');
    return { result: 'failed', seconds, ...more, failure: `no report of its tests, exit code ${ended.code}: ${words}` };
  }
  const { seconds: _, ...ran } = ranOf(file);
  // A run that tested nothing has shown nothing, and one that ended badly has not passed.
  if (ran.result === 'passed' && ended.code !== 0)
    return { ...ran, result: 'failed', seconds, ...more, failure: `exit code ${ended.code} though no test failed` };
  return { ...ran, seconds, ...more };
}

const readIfThere = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
};

/** Every step is a command that a person could type, in a process of its own that can be ended. */
export function labSteps(signal: AbortSignal, say: (text: string) => void): Steps {
  mkdirSync(folder, { recursive: true });
  const lab = (
    words: readonly string[],
    log: string,
    minutes: number,
    env: object = {},
    onLine?: (l: string) => void,
  ) =>
    bounded(process.execPath, ['--import', 'tsx', join(repo, 'lab', 'main.ts'), ...words], {
      minutes,
      signal,
      log,
      cwd: repo,
      env: { ...process.env, NO_COLOR: '1', ...env },
      ...(onLine && { onLine }),
    });
  async function must(words: readonly string[], minutes: number, release: Release): Promise<Ended> {
    const log = join(folder, 'lab.log');
    say(`   lab/main.ts ${words.join(' ')}`);
    const ended = await lab(words, log, minutes, { LAB_RELEASES: release });
    if (ended.code === 0) return ended;
    const why = ended.cut === 'time' ? `not done within ${minutes} minutes` : ended.tail.trim().split('\n').at(-1);
    throw new Error(`lab/main.ts ${words.join(' ')}: ${why}; all of it: ${log}`);
  }
  return {
    prepare: async ({ scenario, release }) => void (await must(['prepare', scenario.name], BUILD_MINUTES, release)),
    async freshLab(release) {
      await must(['down'], ASK_MINUTES * 5, release);
      await must(['up'], BUILD_MINUTES, release);
    },
    async deploy(cloud: CloudName, release) {
      const { tail, seconds } = await must(['cloud', release, `--file=${clouds[cloud]}`], DEPLOY_MINUTES, release);
      // From the edit to Ready, as the command says: what the cloud needs beside it may have been started before.
      return Number(/Ready after (\d+) s/.exec(tail)?.[1] ?? Math.round(seconds));
    },
    async run(item) {
      const { scenario, release } = item;
      const [log, report, figures] = ['.log', '.report.json', '.figures'].map(ending => fileOf(item, ending)) as [
        string,
        string,
        string,
      ];
      for (const old of [log, report, figures]) rmSync(old, { force: true });
      const words = ['test', scenario.name, '--reporter=verbose', '--reporter=json', `--outputFile.json=${report}`];
      const env = { LAB_RELEASES: release, EVIDENCE_FIGURES: figures, ...scenario.env };
      const ended = await lab(words, log, scenario.limit, env, line => {
        if (/^\s*[✓×]/.test(line)) say(`   ${line.trim()}`);
      });
      return { ...outcomeOf(ended, readIfThere(report), readIfThere(figures) ?? '', scenario.limit), log };
    },
    async dump(item) {
      const file = fileOf(item, '.dump.txt');
      writeFileSync(file, `${new Date().toISOString()}\n`);
      const questions: readonly (readonly string[])[] = [
        ['enter', process.execPath, join(repo, 'dist', 'openstack-operator.js'), 'why', '-A'],
        ['kubectl', 'get', 'pods', '-A', '-o', 'wide'],
        ['kubectl', 'get', 'openstackcontrolplanes', '-A', '-o', 'yaml'],
        ['kubectl', 'get', 'events', '-A', '--sort-by=.lastTimestamp'],
        ['kubectl', '-n', 'openstack-operator-system', 'logs', 'deployment/openstack-operator', '--tail=300'],
        ['status'],
      ];
      for (const words of questions) {
        if (signal.aborted) break;
        await lab(words, file, ASK_MINUTES).catch(error => appendFileSync(file, `${error}\n`));
      }
      return file;
    },
  };
}
