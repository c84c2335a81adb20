import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import { COMMANDS } from '../../src/cli/commands.ts';
import { parseObjects } from '../../src/cli/input/yaml.ts';
import { execute } from '../../src/cli/program.ts';
import { embeddedCloud } from '../../src/cli/simulation/simulation.ts';
import type { AnyObject } from '../../src/kube/object.ts';

/** The embedded world gives the same cloud for the same question: once per question is enough for all pages. */
vi.mock('../../src/cli/simulation/simulation.ts', async original => {
  const real = await original<typeof import('../../src/cli/simulation/simulation.ts')>();
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

/** Where recorded runs put their files. */
mkdirSync('.run', { recursive: true });

const pageOf = (name: string): string => `docs/reference/commands/${name}.md`;
/** A recorded run: the command line, what it printed, and its exit code when that is not 0. */
const RUN = /```console\n\$ kubectl openstack (.*)\n([\s\S]*?)```/g;

/** Without what a change elsewhere may change: ages, hashes, names of pods, and how far a cloud is at some moment. */
const stable = (page: string): string[] =>
  page
    .replace(/(\$ kubectl openstack .*--after.*\n)[\s\S]*?(\(exit code \d\)\n)?```/g, '$1$2```')
    .replace(/\b\d+(s|m|h|d|m\d+s|h\d+m)\b/g, '<age>')
    .replace(/Node v[\d.]+/, 'Node')
    .replace(/127\.0\.0\.1:\d+/, '127.0.0.1:<port>')
    .replace(/\d+ objects/, 'objects')
    .replace(/\b[0-9a-f]{10}\b/g, '<hash>')
    .replace(/-[0-9a-f]{8,10}(-[bcdfghjklmnpqrstvwxz2456789]{5})?\b/g, '-<hash>')
    // Cut off at the width of the paper.
    .replace(/-[0-9a-f]{1,9}…/g, '-<hash>…')
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

describe('a bundle', () => {
  const take = async (from: string, to: string): Promise<Buffer> => {
    expect((await run(`bundle --embedded ${from} --to ${to}`)).code).toBe(0);
    return readFileSync(to);
  };

  it('holds no secret, is the same each time, and answers as the cluster would', async () => {
    const broken = 'docs/reference/commands/broken-cloud.yaml';
    const bytes = await take(broken, '.run/test-bundle.yaml.gz');
    expect(await take(broken, '.run/test-bundle.yaml.gz')).toEqual(bytes);
    const text = gunzipSync(bytes).toString();
    const decoded = JSON.stringify(parseObjects(text, 'bundle').map(opened));
    const { objects } = await embeddedCloud(parseObjects(readFileSync(broken, 'utf8'), broken));
    const values = objects
      // The owner id is no secret: a replay needs it.
      .filter(object => object.kind === 'Secret' && object.metadata.name !== 'openstack-owner')
      .flatMap(object => Object.entries((object.data ?? {}) as Record<string, string>))
      .filter(
        ([key, value]) =>
          !/\.(conf|cnf|ini|json|yaml|sql|sh)$|plugins$|^(hostname|user|database|url|project|region)$/.test(key) &&
          value.length > 10,
      )
      .map(([, value]) => Buffer.from(value, 'base64').toString());
    expect(values.length).toBeGreaterThan(4);
    for (const value of values) expect(decoded).not.toContain(value);

    const first = (answer: { text: string }) =>
      (JSON.parse(answer.text) as { causes: { reason: string; command: string }[] }).causes.map(
        c => `${c.reason} ${c.command}`,
      );
    const there = await run(`why --embedded ${broken} -o json`);
    const here = await run('why --from .run/test-bundle.yaml.gz -o json');
    expect(first(here)).toEqual(first(there));
    expect(first(here)).toHaveLength(2);
  }, 120_000);
});

const opened = (object: AnyObject): AnyObject =>
  object.kind !== 'Secret'
    ? object
    : {
        ...object,
        data: Object.values((object.data ?? {}) as Record<string, string>).map(value =>
          Buffer.from(value, 'base64').toString(),
        ),
      };

describe('completion', () => {
  it.each(['bash', 'zsh', 'fish'])('%s knows every command and its options', async shell => {
    const { text, code } = await run(`completion ${shell}`);
    expect(code).toBe(0);
    for (const { name } of COMMANDS) expect(text).toContain(name);
    expect(text).toMatch(/fail-on/);
  });
  it('of no shell that we know', async () => expect(await run('completion cmd')).toMatchObject({ code: 2 }));
});
