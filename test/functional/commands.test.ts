import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { COMMANDS } from '../../src/cli/commands.ts';
import { execute } from '../../src/cli/program.ts';

/** The embedded world gives the same cloud for the same question: once per question is enough for all pages. */
vi.mock('../../src/cli/simulation.ts', async original => {
  const real = await original<typeof import('../../src/cli/simulation.ts')>();
  const known = new Map<string, ReturnType<typeof real.embeddedCloud>>();
  return {
    ...real,
    embeddedCloud: (...args: Parameters<typeof real.embeddedCloud>) => {
      const key = JSON.stringify(args);
      const world = known.get(key) ?? real.embeddedCloud(...args);
      known.set(key, world);
      return world;
    },
  };
});

async function run(line: string): Promise<{ text: string; code: number }> {
  let text = '';
  const words = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(match => match[1] ?? match[2] ?? '');
  const write = (more: string): void => {
    text += more;
  };
  const paper = { width: 118, paint: (_style: string, said: string) => said };
  const code = await execute('kubectl openstack', words, { out: write, err: write, paper, repaints: false });
  return { text, code };
}

const pageOf = (name: string): string => `docs/reference/commands/${name}.md`;
/** A recorded run: the command line, what it printed, and its exit code when that is not 0. */
const RUN = /```console\n\$ kubectl openstack (.*)\n([\s\S]*?)```/g;

/** Without what a change elsewhere may change: ages, hashes, names of pods, and how far a cloud is at some moment. */
const stable = (page: string): string[] =>
  page
    .replace(/(\$ kubectl openstack .*--after.*\n)[\s\S]*?(\(exit code \d\)\n)?```/g, '$1$2```')
    .replace(/\b\d+(s|m|h|d|m\d+s|h\d+m)\b/g, '<age>')
    .replace(/\b[0-9a-f]{10}\b/g, '<hash>')
    .replace(/-[0-9a-f]{8,10}(-[bcdfghjklmnpqrstvwxz2456789]{5})?\b/g, '-<hash>')
    .split('\n')
    .map(line => line.replace(/\s+/g, ' '));

describe('every command', () => {
  it.each(COMMANDS.map(command => [command.name, command] as const))(
    '%s has help with examples',
    async (name, command) => {
      const { text, code } = await run(`${name} --help`);
      expect(code).toBe(0);
      expect(text).toContain(command.summary.split(' ').slice(0, 3).join(' '));
      expect(command.examples.length).toBeGreaterThan(0);
      for (const [args] of command.examples) expect(text).toContain(`kubectl openstack ${name} ${args}`.trimEnd());
    },
  );

  it.each(COMMANDS.map(command => [command.name] as const))(
    '%s has a page, and what it shows is what happens',
    async name => {
      const page = pageOf(name);
      expect(existsSync(page), page).toBe(true);
      const before = readFileSync(page, 'utf8');
      let after = before;
      const runs = [...before.matchAll(RUN)];
      expect(runs.length, 'recorded runs').toBeGreaterThan(0);
      for (const [block, line = ''] of runs) {
        const { text, code } = await run(line);
        const exit = code === 0 ? '' : `(exit code ${code})\n`;
        after = after.replace(
          block,
          () => `\`\`\`console\n$ kubectl openstack ${line}\n${text.replace(/[ \t]+$/gm, '')}${exit}\`\`\``,
        );
      }
      // RECORD=1 writes what happens into the page, also what may differ: names of pods, ages, moments on the way.
      if (process.env.RECORD) writeFileSync(page, after);
      else
        expect(stable(after), 'RECORD=1 vitest run test/functional/commands.test.ts writes what happens now').toEqual(
          stable(before),
        );
    },
    240_000,
  );
});

describe('the command line', () => {
  it.each([
    ['no such command', 'explode', 2, /unknown command/],
    ['no such option', 'status --colour', 2, /unknown option/],
    ['a wrong choice', 'status -o xml', 2, /Allowed choices are table, json, yaml/],
    ['two sources', 'status --from x --embedded', 2, /exclude each other/],
    ['both namespaces', 'status --from config/samples -n a -A', 2, /-n and -A exclude each other/],
    ['a folder that is not there', 'status --from no/such', 2, /no\/such: there is no such file or folder/],
    ['a kubeconfig that is not there', 'status --kubeconfig no/such', 1, /cannot read the kubeconfig/],
    ['a watch of what does not change', 'status --from config/samples --watch', 2, /--watch needs a cluster/],
  ])('%s', async (_what, line, code, text) => {
    const answer = await run(line);
    expect(answer.text).toMatch(text);
    expect(answer.code).toBe(code);
  });

  it('reads a folder of YAML, and prints json and yaml of the same', async () => {
    const json = await run('status --from config/samples/controlplane_slice.yaml -o json');
    expect(JSON.parse(json.text)).toMatchObject({ clouds: [{ name: 'slice', state: 'unseen' }] });
    expect(json.code).toBe(1);
    const yaml = await run('status --from config/samples/controlplane_slice.yaml -o yaml');
    expect(yaml.text).toMatch(/^clouds:\n {2}- namespace: ""\n {4}name: slice\n/);
  });
});
