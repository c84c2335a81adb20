import { existsSync } from 'node:fs';
import ts from 'typescript';
import { declarationsOf, sourceOf, textOf } from './tree.ts';

/** docs/explanation/walks.md, read as data: a chain of hops below each heading that has a list. */
export const PAGE = 'docs/explanation/walks.md';

export interface Hop {
  /** Its line on the page. */
  readonly line: number;
  readonly path: string;
  readonly symbol: string;
  /** What the hop before names and this one too, where it does not name the symbol itself. */
  readonly through?: string;
  /** A call that comes back before the walk goes on. */
  readonly aside: boolean;
}

export interface Walk {
  readonly title: string;
  readonly hops: readonly Hop[];
}

const HOP = /^( *)(?:\d+\.|-) `([^`]+)` `(\w+)`(?: through `(\w+)`)?:/;

export function walksOf(page: string): Walk[] {
  const walks: { title: string; hops: Hop[] }[] = [];
  for (const [index, text] of page.split('\n').entries()) {
    const [, title] = /^##+ (.+)$/.exec(text) ?? [];
    if (title !== undefined) walks.push({ title, hops: [] });
    const [, indent, path, symbol, through] = HOP.exec(text) ?? [];
    if (path !== undefined && symbol !== undefined)
      walks.at(-1)?.hops.push({ line: index + 1, path, symbol, aside: indent !== '', ...(through && { through }) });
    else if (/^ *(?:\d+\.|-) /.test(text)) throw new Error(`${PAGE}:${index + 1}: not a hop: ${text}`);
  }
  return walks.filter(({ hops }) => hops.length > 0);
}

/** Identifiers and short texts below a node, and the names of private members without their mark. */
function wordsIn(node: ts.Node): Set<string> {
  const words = new Set<string>();
  const look = (at: ts.Node): void => {
    if (ts.isIdentifier(at) || ts.isStringLiteral(at)) words.add(at.text);
    if (ts.isPrivateIdentifier(at)) words.add(at.text.slice(1));
    ts.forEachChild(at, look);
  };
  look(node);
  return words;
}

/** What it declares, or else all of its file: rows are variables of their own beside the plan that lists them. */
const refers = ({ path, symbol }: Hop, word: string): boolean => {
  const declared = declarationsOf(path).get(symbol);
  return (declared !== undefined && wordsIn(declared.node).has(word)) || wordsIn(sourceOf(path)).has(word);
};

/** What is wrong with the hops of a walk, as lines. */
export function problemsOf({ hops }: Walk): string[] {
  const found: string[] = [];
  let before: Hop | undefined;
  for (const hop of hops) {
    const at = `${PAGE}:${hop.line}`;
    if (!existsSync(hop.path)) {
      found.push(`${at}: there is no ${hop.path}`);
      continue;
    }
    if (!declarationsOf(hop.path).get(hop.symbol)?.exported) {
      found.push(`${at}: ${hop.path} does not export ${hop.symbol}`);
      continue;
    }
    const word = hop.through ?? hop.symbol;
    if (before && !refers(before, word))
      found.push(`${at}: ${before.symbol} in ${before.path} does not refer to ${word}`);
    if (hop.through && !refers(hop, hop.through))
      found.push(`${at}: ${hop.symbol} in ${hop.path} does not know ${word}`);
    if (!hop.aside) before = hop;
  }
  return found;
}

export const walks = (): Walk[] => walksOf(textOf(PAGE));
