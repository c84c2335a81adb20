import { existsSync } from 'node:fs';
import { textOf } from './tree.ts';

/** A block of code on a page that names the file it is from, in the prose or in a comment in front of it. */
interface Snippet {
  readonly page: string;
  readonly line: number;
  readonly file: string;
  readonly code: string;
}

/** The file stands after the language: ```ts src/services/placement/index.ts */
export const snippetsOf = (page: string, text = textOf(page)): Snippet[] =>
  [...text.matchAll(/^```ts (\S+)\n([\s\S]*?)^```/gm)].map(match => ({
    page,
    line: text.slice(0, match.index).split('\n').length,
    file: match[1]!,
    code: match[2]!,
  }));

/** Blocks of TypeScript whose origin nobody could check. */
export const unnamed = (page: string, text = textOf(page)): number[] =>
  [...text.matchAll(/^```ts\n/gm)].map(match => text.slice(0, match.index).split('\n').length);

const normalised = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** Whether the file has these lines; `// ...` stands for lines that are left out. */
export function isIn({ file, code }: Snippet): boolean {
  if (!existsSync(file)) return false;
  const text = normalised(textOf(file));
  let from = 0;
  for (const part of code.split(/^ *\/\/ \.\.\.$/m).map(normalised)) {
    const found = text.indexOf(part, from);
    if (found === -1) return false;
    from = found + part.length;
  }
  return true;
}
