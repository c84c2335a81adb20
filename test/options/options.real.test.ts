import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { python, virtualenv } from '../../lab/oslo/venv.ts';
import { releases } from '../../src/oslo/options.ts';
import { type Rendered, render } from './render.ts';
import { falsePositives, namespaces } from './services.ts';

/*
 * Every file that the operator writes for an oslo service, read by that service of that release:
 * its own registered options must know each option by that name and give back the value that we wrote, and
 * oslo-config-validator must find nothing that a person has not looked at.
 */

const READ = fileURLToPath(new URL('./read.py', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'options-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Answer {
  readonly options: readonly (readonly [group: string, name: string, written: string, read: string | null])[];
  readonly problems: readonly (readonly [group: string, name: string, what: string])[];
}

function readBack(venv: string, cases: readonly Rendered[]): Answer[] {
  const done = python(venv, [READ], JSON.stringify(cases));
  if (done.status !== 0) throw new Error(`read.py ended with ${done.status}:\n${done.stderr.slice(-2000)}`);
  return JSON.parse(done.stdout) as Answer[];
}

/** What is wrong, one line each. Values of options may be passwords: only names are shown. */
const wrong = (cases: readonly Rendered[], answers: readonly Answer[]): string[] =>
  answers.flatMap(({ options, problems }, index) => [
    ...problems.map(([group, name, what]) => `${cases[index]!.name}: [${group}] ${name} ${what}`),
    ...options
      .filter(([, , written, read]) => written !== read)
      .map(([group, name]) => `${cases[index]!.name}: [${group}] ${name} is read as something else than was written`),
  ]);

/** Findings of the real program on all files of a service at once: it looks at names only, and they may repeat. */
function validate(venv: string, service: string, cases: readonly Rendered[]): string[] {
  const input = join(folder, `${service}.conf`);
  writeFileSync(input, cases.flatMap(one => one.files.map(file => file.text)).join('\n'));
  const spaces = namespaces[service]!.flatMap(name => ['--namespace', name]);
  const done = python(venv, ['oslo-config-validator', ...spaces, '--fatal-warnings', '--input-file', input]);
  const found = done.stderr
    .split('\n')
    .filter(line => /^(ERROR|WARNING):root:/.test(line))
    .map(line =>
      line.replace(/^(ERROR|WARNING):root:/, '').replace(/^Deprecated opt (\S+) found$/, '$1 is deprecated'),
    );
  if (done.status !== 0 && found.length === 0) throw new Error(`the validator failed: ${done.stderr.slice(-2000)}`);
  return [...new Set(found)];
}

const optionOf = (finding: string): string => finding.split(' ')[0]!;

/** The whole takes 3 min of CPU; the bound is for a machine that is busy with other things. */
describe.each(releases)('every rendered option of %s', { timeout: 900_000 }, release => {
  let venv: string;
  let cases: Rendered[];
  beforeAll(async () => {
    [venv, cases] = [await virtualenv(release), await render(release)];
  }, 900_000);

  it('comes from every kind of process that reads oslo files', () => {
    expect(new Set(cases.map(one => one.service))).toEqual(new Set(Object.keys(namespaces)));
    const names = cases.map(one => one.name).join();
    for (const process of [
      'keystone-api',
      'glance-api',
      'placement-api',
      'neutron-api',
      'ovn-metadata-agent',
      'nova-api',
      'nova-scheduler',
      'nova-metadata',
      'nova-cell0-conductor',
      'nova-cell1-conductor',
      'nova-cell1-metadata',
      'nova-cell1-novncproxy',
      'nova-cell1-libvirt-compute',
      'nova-cell1-fake',
      'nova-cell1-ironic',
      'nova-cell1-map',
      'nova-cell1-compute-config',
      'nova-metadata-compute-config',
      'nova-cell1-metadata-compute-config',
    ])
      expect(names).toContain(process);
  });

  it('is an option of the service under that name, and is read back as it was written', () => {
    const answers = readBack(venv, cases);
    expect(wrong(cases, answers)).toEqual([]);
    const read = answers.reduce((sum, { options }) => sum + options.length, 0);
    console.log(`${release}: ${cases.length} sets of files, ${read} options read back`);
    expect(read).toBeGreaterThan(1000);
  });

  it('is known to oslo-config-validator, but for what a person has looked at', () => {
    const found = Object.keys(namespaces).flatMap(service =>
      validate(
        venv,
        service,
        cases.filter(one => one.service === service),
      ).map(line => `${service}: ${line}`),
    );
    const excused = falsePositives.filter(entry => entry.releases.includes(release));
    const excuse = (line: string) =>
      excused.find(
        ({ service, option }) => line.startsWith(`${service}: `) && optionOf(line.slice(service.length + 2)) === option,
      );
    expect(found.filter(line => !excuse(line))).toEqual([]);
    expect(excused.filter(entry => !found.some(line => excuse(line) === entry))).toEqual([]);
  });

  it('would be found wrong if it were', () => {
    const api = cases.find(one => one.name.includes('nova-api'))!;
    const planted = (text: string): Rendered => ({
      ...api,
      name: 'planted',
      files: [...api.files, { path: '/etc/nova/nova.conf.d/99.conf', text }],
    });
    const lies = [
      planted('[DEFAULT]\nstate_pth = /tmp\n'),
      planted('[scheduler]\nworkers = many\n'),
      planted('[glance]\nmax_attempts = 3\n'),
      planted('[vnc]\nenabled = yes\n'),
      planted('[service_user]\nregion_name = RegionOne\n'),
    ];
    const found = wrong(lies, readBack(venv, lies));
    expect(found).toHaveLength(lies.length);
    for (const name of ['state_pth', 'workers', 'max_attempts', 'enabled', 'region_name'])
      expect(found.join()).toContain(`] ${name} `);
    expect(validate(venv, 'nova', [lies[0]!])).toEqual(['DEFAULT/state_pth is not part of the sample config']);
  });
});
