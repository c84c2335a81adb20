import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { python, virtualenv } from '../../lab/oslo/venv.ts';
import { lint } from '../../src/oslo/lint.ts';
import { releases } from '../../src/oslo/options.ts';
import { type Judged, type Known, onNames, onTables, onValues, type Verdict } from './agreement.ts';
import { type Excuse, excuses } from './excuses.ts';
import { validated } from './services.ts';
import { SERVICES, type Snippet, snippets } from './snippets.ts';

/*
 * Our linter beside oslo-config-validator, on texts with mistakes: on names the two must agree, and where the options
 * themselves refuse a value, which the validator never looks at, the linter must say so.
 */

const VALIDATE = fileURLToPath(new URL('./validate.py', import.meta.url));
/** 40 of each service. */
const COUNT = 40 * SERVICES.length;
const folder = mkdtempSync(join(tmpdir(), 'lint-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function judge(release: string, cases: readonly Snippet[]): Promise<{ judged: Judged[]; known: Known }> {
  const done = python(await virtualenv(release), [VALIDATE], JSON.stringify({ namespaces: validated(release), cases }));
  if (done.status !== 0) throw new Error(`validate.py ended with ${done.status}:\n${done.stderr.slice(-2000)}`);
  const { verdicts, known } = JSON.parse(done.stdout) as { verdicts: Verdict[]; known: Known };
  const judged = cases.map((one, index) => ({
    ...one,
    verdict: verdicts[index]!,
    findings: linted(one, release),
  }));
  return { judged, known };
}

const linted = ({ service, text }: Snippet, release: string) => lint(text, { service, release, from: 'generated' });

/** The texts that people asked about first, right and wrong. */
const GOLDEN: readonly (Snippet & { readonly wrong: readonly string[] })[] = [
  ['[DEFAULT]\ndebug = true\n', []],
  ['[DEFAULT]\ndebgu = true\n', ['unknown-option']],
  ['[DEFAULT]\ndebug = ture\n', ['type']],
  ['[libvirt]\ncpu_mode = custom\ncpu_models = Cascadelake-Server,Skylake-Client\n', []],
  ['[libvirt]\ncpu_mode = custum\ncpu_model = Cascadelake-Server\n', ['choice', 'renamed']],
  ['[DEFAULT]\ncpu_allocation_ratio = 4.0\nram_allocation_ratio = 1.5\n', []],
  ['[DEFAULT]\ncpu_allocation_ratio = -1\nram_allocation_ratio = 1,5\n', ['range', 'type']],
  ['[pci]\ndevice_spec = {"vendor_id": "8086"}\ndevice_spec = {"vendor_id": "15b3"}\n', []],
  ['[pci]\nalias = {"name": "a"}\nalias = {"name": "b"}\ndevice_specs = {}\n', ['unknown-option']],
].map(([text, wrong]) => ({ service: 'nova', text: text as string, wrong: wrong as string[] }));

const uses = new Map<Excuse, number>();

describe.each(releases)('lint beside oslo-config-validator, %s', { timeout: 900_000 }, release => {
  const generated = snippets(release, COUNT);
  let cases: Judged[];
  let golden: Judged[];
  let known: Known;
  beforeAll(async () => {
    const { judged: all, known: names } = await judge(release, [...generated, ...GOLDEN]);
    known = names;
    cases = all.slice(0, COUNT);
    golden = all.slice(COUNT);
  }, 900_000);

  it('knows the same options, all of them', () => {
    const { agreed, excused, differences } = onTables(release, known);
    for (const [excuse, count] of excused) uses.set(excuse, (uses.get(excuse) ?? 0) + count);
    const pardoned = [...excused.values()].reduce((sum, count) => sum + count, 0);
    console.log(`${release}: ${agreed} options in both, ${pardoned} excused, ${differences.length} differences`);
    expect(differences).toEqual([]);
    expect(agreed).toBeGreaterThan(2000);
    const without = Object.fromEntries(Object.entries(known).map(([service, names]) => [service, names.slice(1)]));
    expect(onTables(release, without).differences).toHaveLength(SERVICES.length);
  });

  it('agrees on unknown names', () => {
    const { agreed, excused, differences } = onNames(release, cases);
    for (const [excuse, count] of excused) uses.set(excuse, (uses.get(excuse) ?? 0) + count);
    const lines = generated.reduce((sum, { text }) => sum + (text.match(/ = /g)?.length ?? 0), 0);
    const pardoned = [...excused.values()].reduce((sum, count) => sum + count, 0);
    console.log(
      `${release}: ${COUNT} snippets, ${lines} lines: ${agreed} unknown names in both, ${pardoned} excused, ${differences.length} differences`,
    );
    expect(differences).toEqual([]);
    expect(agreed).toBeGreaterThan(COUNT / 2);
  });

  it('finds the values that options refuse, none of which the validator reports, and refuses no other', () => {
    const { found, refused, unjudged, differences } = onValues(release, cases);
    console.log(
      `${release}: oslo refuses ${refused} values; lint finds ${found.type} of type, ${found.range} of range, ${found.choice} of choice, the validator 0; ${unjudged} are of types that the tables do not describe`,
    );
    expect(differences).toEqual([]);
    for (const count of Object.values(found)) expect(count).toBeGreaterThan(10);
  });

  it('says the same about the texts that people asked about first', () => {
    expect(golden.map(({ findings }) => findings.map(finding => finding.code))).toEqual(GOLDEN.map(one => one.wrong));
    expect(onNames(release, golden)).toMatchObject({ agreed: 2, differences: [] });
    expect(onValues(release, golden)).toMatchObject({ found: { type: 2, range: 1, choice: 1 }, differences: [] });
  });

  it('was compared with the very program', async () => {
    // One of them: gathering the options of a service takes the program many seconds.
    const service = SERVICES[1 + releases.indexOf(release)]!;
    const one = cases.find(each => each.service === service && each.verdict.unknown.length > 0)!;
    const input = join(folder, `${release}.conf`);
    writeFileSync(input, one.text);
    const spaces = validated(release)[service]!.flatMap(name => ['--namespace', name]);
    const done = python(await virtualenv(release), ['oslo-config-validator', ...spaces, '--input-file', input]);
    const said = [...done.stderr.matchAll(/^ERROR:root:(\S+)\/(\S+) is not part of the sample config$/gm)];
    expect(said.map(([, group, name]) => [group, name])).toEqual(one.verdict.unknown);
    expect(done.status).toBe(1);
  });

  it('would not agree with a table of another release, nor with a linter that lets a value pass', () => {
    for (const other of releases.filter(one => one !== release))
      expect(onTables(other, known).differences.length).toBeGreaterThan(10);
    const deaf = cases.map(one => ({ ...one, verdict: { ...one.verdict, unknown: one.verdict.unknown.slice(1) } }));
    expect(onNames(release, deaf).differences[0]).toContain('unknown to lint alone');
    const blind = cases.map(one => ({ ...one, findings: one.findings.filter(finding => finding.code !== 'range') }));
    const missed = onValues(release, blind).differences;
    expect(missed).toHaveLength(onValues(release, cases).found.range);
    expect(missed[0]).toContain('refused, and lint says nothing');
    const strict = cases.map(one => ({ ...one, verdict: { ...one.verdict, refused: [] } }));
    expect(onValues(release, strict).differences[0]).toContain('but its option takes the value');
  });
});

it('has no excuse that nobody needs', () => {
  expect(excuses.filter(excuse => !uses.has(excuse)).map(excuse => excuse.why)).toEqual([]);
});
