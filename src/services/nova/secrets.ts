import type { Cx } from '../../runtime/plan/cx.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import { stall } from '../../runtime/plan/unmet.ts';

export const METADATA_KEY = 'metadata-secret';

/** What nova-metadata and the agents that forward to it both know. */
export async function sharedSecret<O extends Managed>(cx: Cx<O>, name: string | undefined): Promise<string> {
  if (name === undefined)
    throw stall({
      reason: 'FieldMissing',
      what: 'spec.metadataSecret is not set',
      who: 'User',
      next: `name a Secret with key ${METADATA_KEY} in it`,
    });
  return (await cx.secret(name, [METADATA_KEY], 'spec.metadataSecret'))[METADATA_KEY];
}

export const encoded = (values: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')]));
