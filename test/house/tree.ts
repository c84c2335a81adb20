import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import ts from 'typescript';

/** Every file that git knows or would add, with text in it. Downloads, results of runs and pictures are not ours to read. */
export const files: readonly string[] = [
  ...new Set(
    execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { encoding: 'utf8' })
      .split('\n')
      .filter(path => path !== '' && !/\.(png|svg|br|sum|lock|json)$|^NOTICE$|\/lock[\w.-]*\.txt$/.test(path)),
  ),
]
  .filter(existsSync)
  .sort();

const texts = new Map<string, string>();
export function textOf(path: string): string {
  const known = texts.get(path) ?? readFileSync(path, 'utf8');
  texts.set(path, known);
  return known;
}

export const isTest = (path: string): boolean => /\.test\.m?ts$/.test(path);

const parsed = new Map<string, ts.SourceFile>();
export function sourceOf(path: string): ts.SourceFile {
  const known = parsed.get(path) ?? ts.createSourceFile(path, textOf(path), ts.ScriptTarget.ES2023, true);
  parsed.set(path, known);
  return known;
}

export const lineOf = (source: ts.SourceFile, position: number): number =>
  source.getLineAndCharacterOfPosition(position).line + 1;

/** The files of this repository that a file imports, types included. */
export const importsOf = (path: string): readonly string[] =>
  sourceOf(path).statements.flatMap(statement => {
    if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) return [];
    const from = statement.moduleSpecifier;
    return from && ts.isStringLiteral(from) && from.text.startsWith('.')
      ? [normalize(join(dirname(path), from.text))]
      : [];
  });

/** What a file declares at its top, by name: variables, functions, classes, interfaces and types. */
export function declarationsOf(
  path: string,
): ReadonlyMap<string, { readonly node: ts.Node; readonly exported: boolean }> {
  const found = new Map<string, { node: ts.Node; exported: boolean }>();
  const add = (name: ts.Node | undefined, node: ts.Node, exported: boolean): void => {
    if (name && ts.isIdentifier(name) && !found.has(name.text)) found.set(name.text, { node, exported });
  };
  for (const statement of sourceOf(path).statements) {
    const exported =
      ts.canHaveModifiers(statement) &&
      ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true;
    if (ts.isVariableStatement(statement))
      for (const each of statement.declarationList.declarations) add(each.name, each, exported);
    else if (
      ts.isFunctionDeclaration(statement) ||
      ts.isClassDeclaration(statement) ||
      ts.isInterfaceDeclaration(statement) ||
      ts.isTypeAliasDeclaration(statement)
    )
      add(statement.name, statement, exported);
  }
  return found;
}
