import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

/** The first block of a style sheet: the colours of a theme by name. */
function coloursIn(file: string): ReadonlyMap<string, string> {
  const text = readFileSync(fileURLToPath(new URL(file, import.meta.url)), 'utf8');
  const root = /:root \{([^}]*)\}/.exec(text)?.[1] ?? '';
  return new Map([...root.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map(([, name, value]) => [name!, value!]));
}

const light = coloursIn('style.css');
const dark = coloursIn('dark.css');

/** https://www.w3.org/TR/WCAG22/#dfn-relative-luminance */
function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5]
    .map(at => Number.parseInt(hex.slice(at, at + 2), 16) / 255)
    .map(c => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
function contrast(a: string, b: string): number {
  const [low = 0, high = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

/** What is written on what. */
const WRITTEN: Readonly<Record<string, readonly string[]>> = {
  ink: ['paper', 'card', 'code', 'ready-back', 'moving-back', 'stuck-back'],
  soft: ['paper', 'card', 'code', 'moving-back', 'stuck-back'],
  accent: ['paper', 'card'],
  paper: ['accent'],
  ready: ['paper', 'card'],
  moving: ['paper', 'card', 'moving-back'],
  stuck: ['paper', 'card', 'stuck-back'],
  quiet: ['paper', 'card'],
};

describe('colours', () => {
  it('are the same set in both themes', () => {
    expect(light.size).toBeGreaterThan(10);
    expect([...dark.keys()]).toEqual([...light.keys()]);
  });

  it.each([
    ['light', light],
    ['dark', dark],
  ] as const)('of the %s theme can be read', (_name, theme) => {
    // AA of WCAG 2.2 for text of normal size.
    for (const [ink, papers] of Object.entries(WRITTEN))
      for (const paper of papers)
        expect(contrast(theme.get(ink)!, theme.get(paper)!), `${ink} on ${paper}`).toBeGreaterThanOrEqual(4.5);
  });
});
