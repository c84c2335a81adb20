import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { LabNode } from '../cluster/layout.ts';
import { buildExtras, type CloudSpec, type Extra, extras, neededBy, startExtras } from '../extras.ts';
import { browserRoots } from '../images/browser.ts';
import { guestImage } from '../images/guest.ts';
import { repo } from '../paths.ts';
import { buildPrevious, previousCloud } from '../previous.ts';
import { tempestVenv } from '../venv.ts';
import { clouds, type Need, type Scenario, scenarios } from './scenarios.ts';

const scenarioOf = (name: string): Scenario | undefined => scenarios.find(each => each.name === name);
const needsOf = (name: string): readonly Need[] => scenarioOf(name)?.needs ?? [];

/** The file of a scenario; other words are left to vitest, which looks for files that have them in their path. */
export const fileOf = (name: string): string =>
  scenarios.some(each => each.name === name) ? `test/e2e/${name}.lab.test.ts` : name;

const fetching: Readonly<Partial<Record<Need, () => Promise<unknown>>>> = {
  browser: browserRoots,
  tempest: tempestVenv,
  previous: buildPrevious,
};

const published = ['ceph', 'ingress', 'certificates'] as const;
const starting: Readonly<Partial<Record<Need, readonly Extra[]>>> = {
  extras: published,
  ceph: ['ceph'],
  policies: [...published, 'policies'],
};

/** What runs beside the operator for this scenario and the cloud that it finds. */
export function extrasFor(name: string): readonly Extra[] {
  const file = needsOf(name).includes('previous')
    ? join('lab', previousCloud())
    : clouds[scenarioOf(name)?.cloud ?? 'none'];
  const { spec } = file === undefined ? { spec: {} } : (parse(readFileSync(join(repo, file), 'utf8')) as Cloud);
  const wanted = [...neededBy(spec), ...needsOf(name).flatMap(need => starting[need] ?? [])];
  return extras.filter(each => wanted.includes(each));
}

interface Cloud {
  readonly spec: CloudSpec;
}

/**
 * The lab's network leads nowhere: what a scenario needs from elsewhere is fetched before. So is what takes minutes to
 * build the first time: a cloud has only so long to become Ready.
 */
export async function fetchFor(name: string): Promise<void> {
  await guestImage();
  await buildExtras(extrasFor(name));
  for (const need of needsOf(name)) await fetching[need]?.();
}

/** What it finds running beside the operator, whatever its cloud asks for. */
export async function startFor(name: string, nodes: readonly LabNode[]): Promise<void> {
  for (const need of needsOf(name)) await startExtras(nodes, starting[need] ?? []);
}
