import type { Cx } from '../../runtime/plan/cx.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import { fieldMissing } from '../../runtime/plan/unmet.ts';
import { checkGiven } from '../backends/given.ts';

export const METADATA_KEY = 'metadata-secret';

/** What nova-metadata and the agents that forward to it both know. */
export async function sharedSecret<O extends Managed>(cx: Cx<O>, name: string | undefined): Promise<string> {
  if (name === undefined)
    throw fieldMissing(
      'spec.metadataSecret',
      'spec.metadataSecret is not set',
      `name a Secret with key ${METADATA_KEY} in it`,
    );
  const data = await cx.secret(name, [METADATA_KEY], 'spec.metadataSecret');
  checkGiven(data, name, 'spec.metadataSecret', [METADATA_KEY]);
  return data[METADATA_KEY];
}

/** The key under which pods that remember cells have what they know of them. */
export const MAPPED_CELLS = 'mapped-cells';

export const cellsText = (cells: Readonly<Record<string, string>>): string =>
  Object.entries(cells)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, hash]) => `${name} ${hash}\n`)
    .join('');

/** A CA in a Secret tells its reader that the way is encrypted. */
export const packed = (ca: string | undefined): Readonly<Record<string, string>> =>
  ca === undefined ? {} : { 'ca.crt': ca };
