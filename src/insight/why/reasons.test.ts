import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { conditionsPage, EVENTS, REASONS } from './reasons.ts';

/** Where conditions and events come from. Elsewhere `reason` is the API server's word, or a pretender's. */
const FOLDERS = ['src/runtime', 'src/services', 'src/controlplane', 'src/operator', 'src/world'];

const sources = FOLDERS.flatMap(folder =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map(name => readFileSync(join(folder, name), 'utf8')),
);

/** Words after `reason:` up to the end of the line: also both arms of a choice. */
const used = new Set(
  sources.flatMap(text =>
    [...text.matchAll(/\breason: ([^\n]*)/g)].flatMap(([, rest = '']) =>
      [...rest.split(/,\s*\w+:/)[0]!.matchAll(/'([A-Z]\w+)'/g)].map(([, word = '']) => word),
    ),
  ),
);

describe('the table of reasons', () => {
  it('has every reason that the code uses', () => {
    expect(used.size).toBeGreaterThan(30);
    expect([...used].filter(reason => !(reason in REASONS) && !(reason in EVENTS))).toEqual([]);
  });

  it('has no reason that the code does not use', () => {
    expect([...Object.keys(REASONS), ...Object.keys(EVENTS)].filter(reason => !used.has(reason))).toEqual([]);
  });

  it('is in CamelCase and says what to do', () => {
    for (const [reason, { meaning, cure }] of Object.entries(REASONS)) {
      expect(reason).toMatch(/^[A-Z][A-Za-z]+$/);
      for (const text of [meaning, cure]) expect(text).toMatch(/\.$/);
    }
  });

  it('becomes a page with one line per reason and type', () => {
    const page = conditionsPage(new Map([['Answering', ['Keystone']]]));
    for (const reason of Object.keys(REASONS)) expect(page).toContain(`| \`${reason}\` |`);
    expect(page).toContain('| `Answering` | Keystone |');
  });
});
