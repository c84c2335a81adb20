import type { AnyObject } from '../../../kube/object.ts';
import { type Server, timeOf } from '../call.ts';
import type { Json } from '../json.ts';

/** What upstream's naming and establishing controllers write a moment later; here it is there with the answer. */
export function establish(server: Server, crd: AnyObject, existing: AnyObject | undefined): void {
  const spec = crd.spec as { names: Json; versions: { name: string; storage: boolean }[] };
  if (existing) return;
  const time = timeOf(server);
  const stored = (spec.versions ?? []).filter(v => v.storage).map(v => v.name);
  crd.status = {
    conditions: [
      {
        type: 'NamesAccepted',
        status: 'True',
        lastTransitionTime: time,
        reason: 'NoConflicts',
        message: 'no conflicts found',
      },
      {
        type: 'Established',
        status: 'True',
        lastTransitionTime: time,
        reason: 'InitialNamesAccepted',
        message: 'the initial names have been accepted',
      },
    ],
    acceptedNames: structuredClone(spec.names),
    storedVersions: stored,
  };
}
