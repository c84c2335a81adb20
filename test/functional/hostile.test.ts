import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { KINDS } from '../../api/kinds.ts';
import * as forms from '../../api/schema/forms.ts';
import { type StructuralSchema, structural } from '../../api/schema/structural.ts';
import { conditionsOf } from '../../src/embedded/cluster.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { CustomResourceDefinition, Secret } from '../../src/kube/resource.ts';
import { parse, values } from '../../src/oslo/parse.ts';
import { Unwritable, write } from '../../src/oslo/write.ts';
import { hostile } from '../fixtures/hostile.ts';
import type { Cloud } from './cloud.ts';
import { NS } from './cloud.ts';
import { deployed, GROUPS } from './samples.ts';
import { secret } from './services.ts';

/*
 * Hostile texts in every field that takes them, through the whole operator: clouds come up with them all the same, and in
 * every script, file, statement, URL and pod they are data. Which fields there are is read off the schemas.
 */

const seed = Number(process.env.HOSTILE_SEED ?? 19);
/** Each kind once; clouds, which have the same fields in sections, and parts of Nova take minutes: HOSTILE=all. */
const groups = GROUPS.filter(({ name }) => process.env.HOSTILE || name === 'services');

/** A word that a field takes, known by its mark; undefined where the form of the field takes nothing that is hostile. */
const MARK = /zq\d+z/;
function wordFor(schema: StructuralSchema, mark: string, random: readonly string[]): string | undefined {
  const pattern = new RegExp(schema.pattern ?? '');
  const fits = (word: string): boolean =>
    pattern.test(word) && word.length <= (schema.maxLength ?? 4096) && /['"$`\\;]/.test(word) && writable(word);
  const core = [`${mark}'; touch marker; '$(touch marker)\`touch marker\`"%(x)s$$x@:/ä`, `${mark}';touch x;'$(a)"`];
  return [...random.map(word => `${mark}'${word}'x`), ...core, `${mark}'`].find(fits);
}

/** oslo.config has no escape for a few: those are refused, which is told elsewhere. */
function writable(value: string): boolean {
  try {
    return write({ DEFAULT: { value } }) !== '';
  } catch (error) {
    if (error instanceof Unwritable) return false;
    throw error;
  }
}

type Spec = Record<string, unknown>;
const isMap = (value: unknown): value is Spec => typeof value === 'object' && value !== null && !Array.isArray(value);

function pushed(schema: StructuralSchema, { words, random, wild }: Source): string | undefined {
  const word = wordFor(wild ? { maxLength: schema.maxLength ?? 4096 } : schema, `zq${words.length}z`, random());
  if (word !== undefined) words.push(word);
  return word;
}

interface Source {
  readonly words: string[];
  readonly random: () => readonly string[];
  readonly wild: boolean;
}

/** The forms of api/schema/forms.ts. What has another one, e.g. the name of an object, can't be hostile; what has none is a file's text or Kubernetes' own. */
const FORMS = new Set(Object.values(forms).map(form => structural(form('', 63)).pattern));
const isForm = (schema: StructuralSchema): boolean => FORMS.has(schema.pattern);

/** A schema as it was before there were forms: objects of then keep what they hold. */
const formless = <T>(schema: T): T =>
  JSON.parse(
    JSON.stringify(schema, (_, value) => (isMap(value) && isForm(value) ? { ...value, pattern: undefined } : value)),
  );

/** Fills texts that have a form which is wide. What has none is Kubernetes' own or the text of a file, and is kept verbatim. */
function filled(schema: StructuralSchema, spec: Spec, source: Source, top = false): Spec {
  const out: Spec = { ...spec };
  for (const [name, child] of Object.entries(schema.properties ?? {})) {
    const { [name]: value } = spec;
    if (child.type === 'string' && isForm(child)) {
      const word = pushed(child, source);
      if (word !== undefined) out[name] = word;
    } else if ((isMap(value) && child.properties) || (top && child.properties?.enabled !== undefined)) {
      const below = filled(child, isMap(value) ? value : {}, source);
      if (Object.keys(below).length > 0) out[name] = below;
    } else if (isMap(value) && child.additionalProperties?.type === 'string' && isForm(child.additionalProperties)) {
      const form = child.additionalProperties;
      out[name] = Object.fromEntries(Object.keys(value).map(key => [key, pushed(form, source) ?? value[key]]));
    } else if (Array.isArray(value) && child.items?.type === 'string' && isForm(child.items)) {
      const { items } = child;
      out[name] = value.map(item => pushed(items, source) ?? item);
    } else if (Array.isArray(value) && child.items?.properties) {
      const { items } = child;
      out[name] = value.map(item => (isMap(item) ? filled(items, item, source) : item));
    }
  }
  return out;
}

/** What is wrong with one file, or undefined. */
function problemIn(key: string, text: string, words: readonly string[]): string | undefined {
  if (key.endsWith('.sh')) return scriptProblem(text, words);
  if (/^(\d\d-(?!rabbitmq)|swift-).*\.conf$/.test(key)) {
    const result = parse(text);
    if ('error' in result) return `line ${result.error.line}: ${result.error.message}`;
    for (const [section, options] of values(result.ok))
      for (const name of [section, ...options.keys()])
        if (MARK.test(name)) return `${name} is no section or option of ours`;
    return undefined;
  }
  if (key.endsWith('.json')) JSON.parse(text);
  if (key.endsWith('.yaml')) parseYaml(text);
  if (key.endsWith('.sql')) return /^([^'\n]|'([^'\\\n]|''|\\.)*')*$/m.test(text) ? undefined : 'open quotes';
  if (/uwsgi.*\.ini$|enabled_plugins|(libvirtd|qemu)\.conf$/.test(key) && MARK.test(text))
    return 'no value of a user belongs there';
  return undefined;
}

/** A mark stands inside of single quotes, and the word around it is quoted whole. */
function scriptProblem(text: string, words: readonly string[]): string | undefined {
  for (const word of words) {
    const mark = MARK.exec(word)![0];
    const quoted = word.replaceAll("'", "'\\''");
    for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at + 1)) {
      if (!text.startsWith(quoted, at)) return `${mark} is not quoted`;
      if (stateAt(text, at) !== "'") return `${mark} is not between single quotes`;
    }
  }
  return undefined;
}

/** Which quotes are open at a position of a script. */
function stateAt(text: string, position: number): string {
  let state = '';
  for (let i = 0; i < position; i++) {
    const c = text[i]!;
    if (state === "'") state = c === "'" ? '' : state;
    else if (c === '\\') i++;
    else if (state === '"') state = c === '"' ? '' : state;
    else if (c === "'" || c === '"') state = c;
    else if (c === '#' && /\s/.test(text[i - 1] ?? '\n')) i = text.indexOf('\n', i);
  }
  return state;
}

/** By the real parsers, all files in one process each. */
function parsersAgree(files: ReadonlyMap<string, string>, words: readonly string[]): void {
  const dir = mkdtempSync(join(tmpdir(), 'hostile-'));
  try {
    const named = (ending: RegExp) =>
      [...files]
        .filter(([name]) => ending.test(name))
        .map(([name, text]) => {
          const path = join(dir, name.replaceAll('/', '_'));
          writeFileSync(path, text);
          return path;
        });
    for (const path of named(/\.sh$/)) execFileSync('bash', ['-n', path], { stdio: 'pipe' });
    const [py] = [named(/\.py$/)];
    const script = `import ast, json, re, sys
seen = []
for path in sys.argv[1:]:
    for node in ast.walk(ast.parse(open(path).read())):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            seen.append(node.value)
        elif isinstance(node, ast.Name):
            assert not re.search(r"zq\\d+z", node.id)
print(json.dumps([text for text in seen if re.search(r"zq\\d+z", text)]))`;
    const seen = JSON.parse(execFileSync('python3', ['-c', script, ...py], { encoding: 'utf8' })) as string[];
    for (const text of seen)
      expect(
        words.some(word => text.includes(word)),
        text,
      ).toBe(true);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Texts of config Secrets, by Secret and key. */
const filesOf = (cloud: Cloud): Map<string, string> =>
  new Map(
    cloud.hands
      .list(Secret, NS)
      .flatMap(({ metadata, data }) =>
        Object.entries((data ?? {}) as Record<string, string>).map(
          ([key, value]) => [`${metadata.name}/${key}`, Buffer.from(value, 'base64').toString()] as const,
        ),
      ),
  );

/** Marks in commands and environments are words that the kubelet does not touch. */
function containerProblems(objects: readonly AnyObject[], words: readonly string[]): string[] {
  const found: string[] = [];
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(visit);
    else if (isMap(value)) {
      const { command = [], args = [], env = [] } = value as Record<string, unknown[]>;
      const texts = [...command, ...args, ...env.map(each => (isMap(each) ? each.value : undefined))];
      for (const text of texts)
        if (typeof text === 'string' && MARK.test(text) && !words.includes(text.replaceAll('$$', '$')))
          found.push(text);
      Object.values(value).forEach(visit);
    }
  };
  visit(
    objects.filter(({ kind }) => ['Pod', 'Job', 'Deployment', 'StatefulSet', 'DaemonSet', 'CronJob'].includes(kind)),
  );
  return found;
}

/** Every script, file, statement and container. */
function look(cloud: Cloud, words: readonly string[], atLeast: number): void {
  const files = filesOf(cloud);
  const problems = [...files].flatMap(([name, text]) => {
    const problem = problemIn(name.split('/')[1]!, text, words);
    return problem === undefined ? [] : [`${name}: ${problem}`];
  });
  expect(problems).toEqual([]);
  expect(containerProblems(cloud.store.objects(), words)).toEqual([]);
  parsersAgree(files, words);
  // The words did get that far: else nothing was shown.
  const reached = words.filter(word => [...files.values()].some(text => text.includes(MARK.exec(word)![0])));
  expect(reached.length).toBeGreaterThan(atLeast);
}

/** `wild`: whatever the forms say. */
function hostileObjects(objects: readonly AnyObject[], wild: boolean) {
  const words: string[] = [];
  let round = seed;
  const random = (): readonly string[] => fc.sample(hostile(4), { numRuns: 3, seed: round++ });
  const source = { words, random, wild };
  const made = objects.map(object => {
    const kind = KINDS.find(each => each.kind === object.kind)!;
    const schema = structural(kind.specSchema);
    return { ...object, spec: filled(schema, (object.spec ?? {}) as Spec, source, true) };
  });
  // A region is the cloud's: its parts have to agree.
  const region = made.flatMap(({ spec }) => (spec.region ? [spec.region] : []))[0];
  for (const { spec } of made) if ('region' in spec) spec.region = region;
  return { words, objects: made };
}

describe(`hostile texts (HOSTILE_SEED=${seed})`, () => {
  it.each(groups.map(group => [group.name, group] as const))('%s: works, and they are data', async (_, group) => {
    const { words, objects } = hostileObjects(group.objects, false);
    // Passwords too: of the administrator, and of root, who is in a statement.
    for (const { kind, spec } of objects) {
      if (kind === 'Keystone') spec.adminPasswordSecret = 'hostile';
      if (kind === 'MariaDB') spec.secret = 'hostile';
    }
    const password = 'zq999z\'"\\$(touch marker)`%@:/ä\n';
    const cloud = await deployed({ ...group, objects }, {}, {}, c => c.apply(secret('hostile', { password })));
    look(cloud, words, 2);
  });

  it('in objects of before there were forms they are data, or refused', async () => {
    const group = GROUPS.find(({ name }) => name === 'services')!;
    const backends = [
      { name: 'lvm', type: 'lvm', hostPath: '/srv', storageSize: '1Gi', volumeGroup: 'group' },
      { name: 'nfs', type: 'nfs', shares: ['nas:/v'] },
    ];
    const more: Readonly<Record<string, Spec>> = {
      Cinder: { backends },
      OVNNetwork: { bridgeMappings: { physnet1: 'br-ex' }, bridgePorts: { 'br-ex': 'eth1' } },
    };
    const samples = group.objects.map(object => ({
      ...object,
      spec: { ...(object.spec as Spec), ...more[object.kind] },
    }));
    const { words, objects } = hostileObjects(samples, true);
    const cloud = await group.start({});
    for (const crd of cloud.hands.list(CustomResourceDefinition, '')) cloud.hands.apply(unmanaged(formless(crd)));
    for (const object of objects) admitted(cloud, object);
    await cloud.sim.run(600_000);
    look(cloud, words, 4);
    // Refused means by a reason of its own: what is only an error is tried again for ever.
    const errors = cloud.store
      .objects()
      .flatMap(object => conditionsOf(object).filter(({ reason }) => reason === 'Error'));
    expect(errors).toEqual([]);
    // Among the files is the one that ran as root.
    expect([...filesOf(cloud)].filter(([name, text]) => name.endsWith('lvm-start.sh') && MARK.test(text))).not.toEqual(
      [],
    );
  });
});

/** Without the fields that a rule refuses beside their form, e.g. because they must name something. */
function admitted(cloud: Cloud, object: AnyObject & { spec: Spec }): void {
  try {
    cloud.apply(object);
  } catch (error) {
    const field = /is invalid: spec\.(\w+): /.exec((error as Error).message)?.[1];
    if (field === undefined || object.spec[field] === undefined) throw error;
    const { [field]: _, ...spec } = object.spec;
    admitted(cloud, { ...object, spec });
  }
}

const unmanaged = ({ metadata, spec }: AnyObject): AnyObject => {
  const { name, labels, annotations } = metadata;
  const kept = { name, ...(labels && { labels }), ...(annotations && { annotations }) };
  return { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: kept, spec };
};
