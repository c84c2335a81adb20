import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import ts from 'typescript';
import { danglingReferences } from './references.ts';
import { declarationsOf, files, importsOf, isTest, lineOf, sourceOf, textOf } from './tree.ts';

/**
 * The figures of the house that `make lint` prints, each with its limit. A figure over its limit fails only when it is
 * worse than the one in figures.json; with `--strict`, or without that file, every figure over its limit fails. `--write`
 * records those of today, `--all` shows what is counted, also where a figure is within its limit.
 */
interface Figure {
  readonly name: string;
  readonly limit: number;
  /** What was counted; where that is a size, `size` is the figure and these say of what. */
  readonly found: readonly string[];
  readonly size?: number;
}

const RECORD = 'test/house/figures.json';
const MAX_FUNCTION = 60;
const MAX_FOLDER = 25;

const product = files.filter(path => /^(api|src|ui|lab|evidence|config|release)\/.*\.ts$/.test(path) && !isTest(path));
const src = product.filter(path => path.startsWith('src/'));

const linesOf = (path: string): number => textOf(path).split('\n').length - 1;
const span = (source: ts.SourceFile, node: ts.Node): number =>
  lineOf(source, node.getEnd()) - lineOf(source, node.getStart(source)) + 1;

/** Of the function that declares the rows which every service has, where it is. */
function serveLines(): Figure {
  const found = src.flatMap(path => {
    const serve = declarationsOf(path).get('serve');
    return serve?.exported && ts.isFunctionDeclaration(serve.node) && path.startsWith('src/services/')
      ? [{ path, lines: span(sourceOf(path), serve.node) }]
      : [];
  });
  return {
    name: 'lines of serve()',
    limit: 80,
    size: found.reduce((sum, { lines }) => sum + lines, 0),
    found: found.map(({ path, lines }) => `${path}: ${lines} lines`),
  };
}

/** A table is data with blanks filled in: at least half of the lines are one object or array. Statements in it are code. */
function isTable(source: ts.SourceFile, body: ts.Node): boolean {
  let longest = 0;
  const look = (node: ts.Node): void => {
    if ((ts.isObjectLiteralExpression(node) || ts.isArrayLiteralExpression(node)) && !holdsStatements(node))
      longest = Math.max(longest, span(source, node));
    else ts.forEachChild(node, look);
  };
  look(body);
  return longest * 2 >= span(source, body);
}

const holdsStatements = (node: ts.Node): boolean =>
  ts.isBlock(node) || (ts.forEachChild(node, child => holdsStatements(child) || undefined) ?? false);

function nameOf(node: ts.FunctionLikeDeclaration): string {
  const named = node.name ?? (ts.isVariableDeclaration(node.parent) ? node.parent.name : undefined);
  return named?.getText() ?? (ts.isPropertyAssignment(node.parent) ? node.parent.name.getText() : 'a function');
}

/** Functions that nobody reads at one go. One that is long only by functions within it counts as well: it is a closure. */
function longFunctions(): Figure {
  const found: string[] = [];
  for (const path of product) {
    const source = sourceOf(path);
    const look = (node: ts.Node): void => {
      if (ts.isFunctionLike(node) && 'body' in node && node.body) {
        const lines = span(source, node);
        if (lines > MAX_FUNCTION && !isTable(source, node.body))
          found.push(`${path}:${lineOf(source, node.getStart(source))} ${nameOf(node)}: ${lines} lines`);
      }
      ts.forEachChild(node, look);
    };
    look(source);
  }
  return { name: `functions over ${MAX_FUNCTION} lines, but for tables`, limit: 0, found };
}

function fullFolders(): Figure {
  const sizes = new Map<string, number>();
  for (const path of files.filter(each => each.startsWith('src/')))
    sizes.set(dirname(path), (sizes.get(dirname(path)) ?? 0) + 1);
  const found = [...sizes].filter(([, size]) => size > MAX_FOLDER).sort(([, a], [, b]) => b - a);
  return {
    name: `folders of src with more than ${MAX_FOLDER} files`,
    limit: 0,
    found: found.map(([folder, size]) => `${folder}: ${size} files`),
  };
}

/** The simulated world has names of its own for what the product has too, e.g. an object as the API server keeps it. */
function doubleNames(): Figure {
  const places = new Map<string, string[]>();
  for (const path of product.filter(each => /^(api|src|ui)\//.test(each) && !each.startsWith('src/embedded/')))
    for (const [name, { exported }] of declarationsOf(path))
      if (exported) places.set(name, [...(places.get(name) ?? []), path]);
  const found = [...places].filter(([, paths]) => paths.length > 1).sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    name: 'exported names that mean two things',
    limit: 0,
    found: found.map(([name, paths]) => `${name}: ${paths.join(', ')}`),
  };
}

/** Sets of folders that reach each other through imports, types included. `depth` is counted below src. */
function folderCycles(depth: number): Figure {
  const folderOf = (path: string): string =>
    dirname(path)
      .split('/')
      .slice(0, depth + 1)
      .join('/');
  const arrows = new Map<string, Map<string, string>>();
  for (const path of src) {
    const from = folderOf(path);
    const to = arrows.get(from) ?? new Map<string, string>();
    arrows.set(from, to);
    for (const target of importsOf(path))
      if (target.startsWith('src/') && folderOf(target) !== from && !to.has(folderOf(target)))
        to.set(folderOf(target), `${path} imports ${target}`);
  }
  const reach = (start: string): Set<string> => {
    const seen = new Set<string>();
    const open = [start];
    for (let at = open.pop(); at !== undefined; at = open.pop())
      for (const next of arrows.get(at)?.keys() ?? [])
        if (!seen.has(next)) {
          seen.add(next);
          open.push(next);
        }
    return seen;
  };
  const reached = new Map([...arrows.keys()].map(folder => [folder, reach(folder)]));
  const together = new Map<string, string[]>();
  for (const [folder, seen] of reached) {
    if (!seen.has(folder)) continue;
    const group = [...seen].filter(each => reached.get(each)?.has(folder)).sort();
    together.set(group.join(), group);
  }
  const found = [...together.values()].map(group => {
    const inside = group.flatMap(folder =>
      [...(arrows.get(folder) ?? [])].filter(([target]) => group.includes(target)).map(([, why]) => why),
    );
    return [`${group.join(' <-> ')}, ${inside.length} arrows`, ...inside.map(why => `    ${why}`)].join('\n    ');
  });
  return {
    name: depth === 1 ? 'cycles of folders in src' : 'cycles of folders in src, one level deeper',
    limit: 0,
    // Folders, so that a cycle that loses one of them is progress.
    size: [...together.values()].reduce((sum, group) => sum + group.length, 0),
    found,
  };
}

function dangling(): Figure {
  return {
    name: 'references that lead nowhere',
    limit: 0,
    found: danglingReferences().map(({ path, line, mention, why }) => `${path}:${line} "${mention}": ${why}`),
  };
}

/** Exports and files that only tests use. */
function deadCode(): Figure {
  const { stdout } = spawnSync('node_modules/.bin/knip', ['--production', '--reporter', 'json'], { encoding: 'utf8' });
  const report = JSON.parse(stdout) as { issues: ({ file: string } & Record<string, unknown>)[] };
  const found = report.issues.flatMap(({ file, ...kinds }) =>
    Object.entries(kinds).flatMap(([kind, items]) =>
      (Array.isArray(items) ? items : []).map(item => `${file}: ${kind} ${(item as { name?: string }).name ?? ''}`),
    ),
  );
  return { name: 'unused in production (knip --production)', limit: 0, found };
}

function subjects(): Figure {
  const { stderr } = spawnSync('sh', ['.githooks/commit-msg', '--since', '117cffb'], { encoding: 'utf8' });
  return { name: 'subjects of commits', limit: 0, found: stderr.split('\n').filter(line => line !== '') };
}

const { values } = parseArgs({
  options: { strict: { type: 'boolean' }, write: { type: 'boolean' }, all: { type: 'boolean' } },
});

function recorded(): Readonly<Record<string, number>> {
  if (values.strict) return {};
  try {
    return JSON.parse(readFileSync(RECORD, 'utf8')) as Record<string, number>;
  } catch {
    return {};
  }
}

const figures: readonly Figure[] = [
  serveLines(),
  {
    name: 'lines of src/services/keystone/index.ts',
    limit: 150,
    size: linesOf('src/services/keystone/index.ts'),
    found: [],
  },
  longFunctions(),
  fullFolders(),
  dangling(),
  doubleNames(),
  folderCycles(1),
  folderCycles(2),
  deadCode(),
  subjects(),
];
const known = recorded();
let worse = 0;
for (const { name, limit, found, size = found.length } of figures) {
  const before = known[name];
  const failed = size > limit && (before === undefined || size > before);
  if (failed) worse++;
  const verdict = size <= limit ? 'ok' : failed ? 'OVER' : 'over';
  const note = size > limit && before !== undefined ? `, ${before} recorded` : '';
  console.log(`${verdict.padEnd(6)} ${String(size).padStart(4)}  ${name} (limit ${limit}${note})`);
  if (failed || values.all) for (const each of found) console.log(`         ${each}`);
}
if (values.write) {
  const over = figures.flatMap(({ name, limit, found, size = found.length }) => (size > limit ? [[name, size]] : []));
  writeFileSync(RECORD, `${JSON.stringify(Object.fromEntries(over), undefined, 2)}\n`);
} else if (worse > 0) {
  console.log(`${worse} figures are worse than ${values.strict ? 'their limits' : `in ${RECORD}`}`);
  process.exitCode = 1;
}
