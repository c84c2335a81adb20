import type { LabNode } from '../cluster/layout.ts';
import { type Extra, extras, startExtras } from '../extras.ts';
import { browserRoots } from '../images/browser.ts';
import { guestImage } from '../images/guest.ts';
import { buildPrevious } from '../previous.ts';
import { tempestVenv } from '../venv.ts';
import { type Need, scenarios } from './scenarios.ts';

const needsOf = (name: string): readonly Need[] => scenarios.find(each => each.name === name)?.needs ?? [];

/** The file of a scenario; other words are left to vitest, which looks for files that have them in their path. */
export const fileOf = (name: string): string =>
  scenarios.some(each => each.name === name) ? `test/e2e/${name}.lab.test.ts` : name;

const fetching: Readonly<Partial<Record<Need, () => Promise<unknown>>>> = {
  browser: browserRoots,
  tempest: tempestVenv,
  previous: buildPrevious,
};

/** The lab's network leads nowhere: what a scenario needs from elsewhere is fetched before. */
export async function fetchFor(name: string): Promise<void> {
  await guestImage();
  for (const need of needsOf(name)) await fetching[need]?.();
}

const starting: Readonly<Partial<Record<Need, readonly Extra[]>>> = { extras, ceph: ['ceph'] };

/** What it finds running beside the operator, whatever its cloud asks for. */
export async function startFor(name: string, nodes: readonly LabNode[]): Promise<void> {
  for (const need of needsOf(name)) await startExtras(nodes, starting[need] ?? []);
}
