import { basename } from 'node:path';
import { type LintReport, lintAccess, lintRendered, lintSpecs } from '../../insight/config/lint.ts';
import type { Live } from '../../insight/view/view.ts';
import { lint as lintText } from '../../oslo/lint.ts';
import { releases, schemaOf } from '../../oslo/options.ts';
import { ALLOW_HOST_ACCESS } from '../../services/host-access/index.ts';
import { parseObjects, readObjects, readText, UsageError } from '../input/yaml.ts';
import { deployedOperator } from '../source/deployed.ts';
import { type Paper, type Style, wrapped } from '../terminal/print.ts';
import type { Answer, Invocation } from './command.ts';

const STYLES: Readonly<Record<string, Style>> = { error: 'red', warning: 'yellow', info: 'gray' };

export async function lint(cx: Invocation): Promise<Answer> {
  const { file, release, service, strict, allowHostAccess } = cx.flags as {
    file?: string;
    allowHostAccess?: boolean;
    release?: string;
    service?: string;
    strict?: boolean;
  };
  if (release !== undefined && !releases.includes(release))
    throw new UsageError(`--release ${release}: there are option tables for ${releases.join(', ')}`);
  if (file === undefined) throw new UsageError('-f is missing: a file, a folder, - or the word cluster');
  const reports =
    file === 'cluster'
      ? await ofCluster(cx, release, allowHostAccess)
      : ofFile(file, release, service, allowHostAccess);
  const all = reports.flatMap(report => report.findings);
  const count = (severity: string): number => all.filter(finding => finding.severity === severity).length;
  const bad = count('error') + (strict ? count('warning') : 0);
  const text = (paper: Paper): string => {
    const lines = reports.flatMap(report => report.findings.map(finding => lineOf(paper, report, finding)));
    const texts = reports.filter(({ service }) => service !== '').length;
    const sum = `${texts} ${texts === 1 ? 'text' : 'texts'} read: ${count('error')} errors, ${count('warning')} warnings, ${count('info')} remarks`;
    return [...lines, sum].join('\n');
  };
  return { data: { reports }, text, code: bad > 0 ? 1 : 0 };
}

function lineOf(
  paper: Paper,
  report: LintReport,
  { severity, code, line, column, message }: LintReport['findings'][number],
): string {
  // A field that is no text has no lines.
  const where = `${report.object} ${report.field}${line > 0 ? `:${line}:${column}` : ''}`;
  return `${where}\n${wrapped(paper, `  ${severity} `, `${message} (${code})`).replace(severity, paper.paint(STYLES[severity] ?? 'gray', severity))}`;
}

async function ofCluster(
  cx: Invocation,
  release: string | undefined,
  allowed: boolean | undefined,
): Promise<readonly LintReport[]> {
  const snapshot = await cx.snapshot();
  const { view } = snapshot;
  const env = { ...(await deployedOperator(snapshot))?.env, ...(allowed && ALLOWED) };
  return [...lintSpecs(view.ours, release), ...lintRendered(view, release), ...lintAccess(view.ours, env)];
}

const ALLOWED = { [ALLOW_HOST_ACCESS]: 'true' };

/** Without a cluster nobody knows the operator's settings: those of this shell stand for them. */
const ofObjects = (
  objects: readonly Live[],
  release: string | undefined,
  allowed: boolean | undefined,
): readonly LintReport[] => [
  ...lintSpecs(objects, release),
  ...lintAccess(objects, { ...process.env, ...(allowed && ALLOWED) }),
];

/** The API server's own limit for the data of a Secret. */
const MOST_CONFIG = 1_048_576;

/** Objects, or the text of one service: a file that starts with a section or a comment of INI. */
function ofFile(
  file: string,
  release: string | undefined,
  service: string | undefined,
  allowed: boolean | undefined,
): readonly LintReport[] {
  const isText = file === '-' || /\.(conf|ini|cnf|txt)$/.test(file);
  if (!isText) return ofObjects(readObjects(file), release, allowed);
  const name = file === '-' ? 'standard input' : basename(file);
  const text = readText(file === '-' ? 0 : file, name);
  const isObject = /^(apiVersion|kind|---|\s*\{)/m.test(text) && !/^\s*\[/.test(text);
  if (isObject) return ofObjects(parseObjects(text, name), release, allowed);
  if (service === undefined) throw new UsageError(`${name} is the text of a service: say which with --service`);
  if (Buffer.byteLength(text) > MOST_CONFIG)
    throw new UsageError(
      `${name}: ${Math.ceil(Buffer.byteLength(text) / 1e6)} MB of config: Kubernetes takes no Secret of more than 1 MiB, so no service can have it`,
    );
  const chosen = release ?? '2025.2';
  if (schemaOf(service, chosen) === undefined)
    throw new UsageError(`--service ${service}: there is no option table for it in ${chosen}`);
  return [
    {
      object: name,
      field: service,
      service,
      release: chosen,
      findings: lintText(text, { service, release: chosen, from: 'spec' }),
    },
  ];
}
