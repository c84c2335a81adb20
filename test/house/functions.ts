import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';

const ROOT = join(import.meta.dirname, '../..');

export interface LongFunction {
  readonly file: string;
  readonly name: string;
  readonly lines: number;
}

/** Functions of `src` whose text is longer than `most` lines, longest first. Tests tell stories and are not counted. */
export function longFunctions(most = 60, folder = 'src'): readonly LongFunction[] {
  return sources(join(ROOT, folder))
    .flatMap(path => functionsOf(relative(ROOT, path), readFileSync(path, 'utf8')))
    .filter(({ lines }) => lines > most)
    .sort((a, b) => b.lines - a.lines);
}

const sources = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.ts') && !name.endsWith('.test.ts') && !name.endsWith('.d.ts'))
    .sort()
    .map(name => join(folder, name));

/** Every function with a body, from its first line to its last. */
export function functionsOf(file: string, text: string): readonly LongFunction[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: LongFunction[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body && !isTable(node)) {
      const line = (position: number): number => source.getLineAndCharacterOfPosition(position).line;
      found.push({ file, name: nameOf(node), lines: line(node.end) - line(node.getStart(source)) + 1 });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** A function that is nothing but one literal, an object or a list: a table of data with a few blanks filled in. */
function isTable(node: ts.SignatureDeclaration): boolean {
  const { body } = node as { readonly body?: ts.Node };
  if (body === undefined) return false;
  if (!ts.isBlock(body)) return isLiteral(body);
  const [only, ...more] = body.statements;
  return more.length === 0 && only !== undefined && ts.isReturnStatement(only) && isLiteral(only.expression);
}

function isLiteral(node: ts.Node | undefined): boolean {
  if (node === undefined) return false;
  if (ts.isParenthesizedExpression(node) || ts.isAsExpression(node) || ts.isSatisfiesExpression(node))
    return isLiteral(node.expression);
  return (
    (ts.isObjectLiteralExpression(node) || ts.isArrayLiteralExpression(node) || ts.isTemplateExpression(node)) &&
    !holdsStatements(node)
  );
}

/** Code hidden in a literal, e.g. methods, is code. */
function holdsStatements(node: ts.Node): boolean {
  return ts.isBlock(node) || (ts.forEachChild(node, child => holdsStatements(child) || undefined) ?? false);
}

function nameOf(node: ts.SignatureDeclaration): string {
  if (node.name) return node.name.getText();
  const { parent } = node;
  if (ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent) || ts.isPropertyDeclaration(parent))
    return parent.name.getText();
  return ts.isConstructorDeclaration(node) ? 'constructor' : 'anonymous';
}
