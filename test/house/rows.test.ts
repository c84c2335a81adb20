import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it, vi } from 'vitest';
import { type Row, rowName } from '../../src/runtime/plan/row.ts';

/* A row's variable is its condition without `Ready`, in the code that makes it and in the plan that lists it. */

const records: { readonly kind: string; readonly key: string; readonly type: string }[] = [];
vi.mock('../../src/runtime/plan/row.ts', async original => {
  const real = await original<typeof import('../../src/runtime/plan/row.ts')>();
  const plan: typeof real.plan = (kind, rows, options) => {
    for (const [key, { type }] of Object.entries<Row<never, unknown>>(rows))
      records.push({ kind: kind.kind, key, type });
    return real.plan(kind, rows, options);
  };
  return { ...real, plan };
});

const sources = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map(name => join(folder, name));

/** The condition of `row('T', ...)`, `row.each('T', ...)` or `rowsOf<O>()('T', ...)`. */
function conditionIn(node: ts.Node): string | undefined {
  if (!ts.isCallExpression(node)) return undefined;
  const [type] = node.arguments;
  // First: the text of a call with much in it is long.
  if (type === undefined || !ts.isStringLiteral(type)) return undefined;
  return /^(row(\.each)?|rowsOf<.*>\(\)(\.each)?)$/s.test(node.expression.getText()) ? type.text : undefined;
}

/** What holds it: a variable, or a function that makes it and is called `<name>Row`. */
function holderOf(node: ts.Node): string | undefined {
  for (let at = node.parent; at; at = at.parent) {
    if (ts.isVariableDeclaration(at)) return at.name.getText();
    if (ts.isFunctionDeclaration(at)) return at.name?.getText();
  }
  return undefined;
}

interface Named {
  readonly at: string;
  readonly type: string;
  readonly holder: string | undefined;
}

function rowsIn(path: string): readonly Named[] {
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);
  const found: Named[] = [];
  const visit = (node: ts.Node): void => {
    const type = conditionIn(node);
    if (type !== undefined) found.push({ at: path, type, holder: holderOf(node) });
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

describe("a row's variable is its condition without Ready", () => {
  it.each([
    ['DatabaseSyncReady', 'databaseSync'],
    ['Answering', 'answering'],
    ['APIReady', 'api'],
    ['CABundleReady', 'caBundle'],
    ['MariaDBReady', 'mariaDB'],
    ['OVNNetworkReady', 'ovnNetwork'],
  ])('%s is %s', (type, name) => {
    expect(rowName(type)).toBe(name);
  });

  it('in the records of all plans', async () => {
    const { PLANS } = await import('../../src/operator/plans.ts');
    expect(new Set(records.map(({ kind }) => kind)).size).toBe(PLANS.length);
    expect(records.filter(({ key, type }) => key !== rowName(type))).toEqual([]);
  });

  it('where each is made', () => {
    const all = sources('src').flatMap(rowsIn);
    expect(all.length).toBeGreaterThan(60);
    const wrong = all.filter(({ type, holder = '' }) => {
      const name = rowName(type);
      // A factory says of whom, where there are several: `givenIdentityRow`.
      return holder !== name && !new RegExp(`${name}Row$`, 'i').test(holder);
    });
    expect(wrong).toEqual([]);
  });
});
