import { parse, values } from '../../../src/oslo/parse.ts';
import type { ParseAnswer } from './oracle.ts';

/**
 * Our answer in the oracle's form. oslo notices a missing section only when the assignment ends, so there its line is
 * that of what follows; ours is the key's, which must not be later.
 */
export function ours(text: string, theirs: ParseAnswer): ParseAnswer {
  const parsed = parse(text);
  if ('error' in parsed) {
    const { message, line } = parsed.error;
    const late = message === 'Section must be started before assignment' && 'line' in theirs && line <= theirs.line;
    return { error: message, line: late ? theirs.line : line };
  }
  const sections: [string, Record<string, string[]>][] = [...values(parsed.ok)].map(([name, options]) => [
    name,
    Object.fromEntries(options),
  ]);
  return { sections: Object.fromEntries(sections) };
}
