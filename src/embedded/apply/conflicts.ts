/** Refusals of an apply, in the words of apimachinery's managedfields. */
import { type FieldSet, pathText } from './fieldset.ts';
import type { Owner } from './managers.ts';

export interface Failure {
  code: 400 | 409 | 500;
  /** '' is how the API server says "unknown": the field manager's own errors carry no reason. */
  reason: 'BadRequest' | 'Conflict' | '';
  message: string;
  causes: { reason: 'FieldManagerConflict'; message: string; field: string }[];
}

export class Refused extends Error {
  readonly failure: Failure;
  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

export const badRequest = (message: string): Refused =>
  new Refused({ code: 400, reason: 'BadRequest', message, causes: [] });

export class Conflicts extends Refused {
  readonly paths: { id: string; owner: Owner; path: readonly string[] }[];
  constructor(paths: Conflicts['paths']) {
    super({
      code: 409,
      reason: 'Conflict',
      message: conflictMessage(paths),
      causes: paths.map(({ owner, path }) => ({
        reason: 'FieldManagerConflict',
        message: `conflict with ${ownerText(owner)}`,
        field: pathText(path),
      })),
    });
    this.paths = paths;
  }
}

export function conflictOf(conflicts: Map<string, { owner: Owner; fields: FieldSet }>): Conflicts {
  const ids = [...conflicts.keys()].sort();
  return new Conflicts(
    ids.flatMap(id => {
      const { owner, fields } = conflicts.get(id)!;
      return [...fields.paths()].map(path => ({ id, owner, path }));
    }),
  );
}

function conflictMessage(paths: Conflicts['paths']): string {
  if (paths.length === 1)
    return `Apply failed with 1 conflict: conflict with ${ownerText(paths[0]!.owner)}: ${pathText(paths[0]!.path)}`;
  const lines: string[] = [];
  for (const [i, { id, owner, path }] of paths.entries()) {
    if (id !== paths[i - 1]?.id) lines.push(`conflicts with ${ownerText(owner)}:`);
    lines.push(`- ${pathText(path)}`);
  }
  return `Apply failed with ${paths.length} conflicts: ${lines.join('\n')}`;
}

function ownerText(owner: Owner): string {
  const sub = owner.subresource === '' ? '' : ` with subresource ${JSON.stringify(owner.subresource)}`;
  const using = owner.operation === 'Update' ? ` using ${owner.apiVersion}` : '';
  return JSON.stringify(owner.manager) + sub + using;
}
