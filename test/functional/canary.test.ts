import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { stringify } from 'yaml';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { answersOf } from '../../src/cli/commands/answers.ts';
import type { CommandSpec } from '../../src/cli/commands/command.ts';
import { COMMANDS } from '../../src/cli/commands.ts';
import { parseObjects, UsageError } from '../../src/cli/input/yaml.ts';
import { execute } from '../../src/cli/program.ts';
import { type Depth, readCluster, readSource } from '../../src/cli/source/source.ts';
import { endOnFatal } from '../../src/cli/terminal/fatal.ts';
import { LOG_API } from '../../src/insight/view/masked.ts';
import { isOurs } from '../../src/insight/view/view.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import type { Transport } from '../../src/kube/transport.ts';
import { realClock } from '../../src/real/clock.ts';
import { createLog } from '../../src/real/log.ts';
import { prometheusMetrics } from '../../src/runtime/metrics/prometheus.ts';
import { assetsOf } from '../../src/server/page/assets.ts';
import { loopbackGuard } from '../../src/server/page/guard.ts';
import { createPage } from '../../src/server/page/page.ts';
import { createPageServer } from '../../src/server/page/serve.ts';
import { KnownSecrets } from '../../src/world/mask/known.ts';
import {
  CUSTOM_CONFIG,
  generated,
  isInSpec,
  KEYSTONE,
  leaks,
  PLANTED,
  printed,
  secrets,
  talkative,
  textOf,
} from './canaries.ts';
import { Cloud, NS } from './cloud.ts';
import { cloudWith, label } from './services.ts';

/** One reading of a file, and one rehearsal of an edit, for all commands, formats and the page. */
vi.mock('../../src/cli/input/yaml.ts', async original => {
  const real = await original<typeof import('../../src/cli/input/yaml.ts')>();
  const known = new Map<string, ReturnType<typeof real.readObjects>>();
  const readObjects = (path: string) => {
    if (!known.has(path)) known.set(path, real.readObjects(path));
    return known.get(path)!;
  };
  return { ...real, readObjects };
});
vi.mock('../../src/cli/simulation/planning.ts', async original => {
  const real = await original<typeof import('../../src/cli/simulation/planning.ts')>();
  let known: ReturnType<typeof real.planned> | undefined;
  return {
    ...real,
    planned: (...args: Parameters<typeof real.planned>) => {
      known ??= real.planned(...args);
      return known;
    },
  };
});
/** The formats of one answer. The source is read for each: what to hide comes from it. */
vi.mock('../../src/cli/commands.ts', async original => {
  const { COMMANDS: real } = await original<typeof import('../../src/cli/commands.ts')>();
  const known = new Map<string, ReturnType<CommandSpec['run']>>();
  const once = (command: CommandSpec): CommandSpec => ({
    ...command,
    async run(cx) {
      const key = JSON.stringify([command.name, cx.args, { ...cx.flags, output: '' }]);
      if (known.has(key) && command.reads !== 'none') await cx.snapshot();
      const answer = known.get(key) ?? command.run(cx);
      known.set(key, answer);
      return answer;
    },
  });
  return { COMMANDS: real.map(once) };
});

const folder = mkdtempSync(join(tmpdir(), 'canary-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A cloud that prints its secrets wherever it can, and all that its operator wrote and said. */
interface Heard {
  readonly objects: readonly AnyObject[];
  /** What programs of the cluster printed: the operator knows these by value. */
  readonly canaries: readonly string[];
  /** Requests of the operator, Secrets left out. */
  readonly writes: readonly string[];
  readonly log: readonly string[];
  readonly metrics: string;
}

const READ_BY_OPERATOR = ['admin-password', 'root-password', 'keystone-ldap'];
const valuesOf = (names: readonly string[]): string[] => {
  const texts = secrets()
    .filter(({ metadata }) => names.includes(metadata.name))
    .map(({ stringData }) => Object.values(stringData as object).join('\n'));
  return Object.values(PLANTED).filter(value => texts.some(text => text.includes(value)));
};

async function hear(spec: object, minutes: number): Promise<Heard> {
  const [writes, log]: [string[], string[]] = [[], []];
  const known = new KnownSecrets();
  const metrics = prometheusMetrics();
  let broken = false;
  const values = (): string[] => [...generated(cloud.store.objects() as AnyObject[]), ...valuesOf(READ_BY_OPERATOR)];
  let messages: readonly string[] = [];
  const { programs, backendFaults } = talkative(
    () => messages,
    () => broken,
  );
  const cloud: Cloud = await Cloud.start({
    programs,
    backendFaults,
    operator: {
      known,
      metrics,
      log: createLog('debug', { write: line => void log.push(line) }, text => known.mask(text)),
    },
    wrap: store => ({
      ...store,
      handle: (request, user) => {
        if (user?.startsWith('operator') && request.method !== 'GET' && !/\/secrets(\/|$)/.test(request.path))
          writes.push(`${request.path} ${textOf(request.body)}`);
        return store.handle(request, user);
      },
    }),
  });
  label(cloud, 'node-1', { 'openstack.k8s.io/compute': '', 'openstack.k8s.io/gateway': '' });
  cloud.apply(...secrets(), cloudWith(spec));
  await cloud.ready(OpenStackControlPlane, 'slice');
  await cloud.settle();
  messages = printed(values());
  broken = true;
  // Something must run again, or nobody prints anything.
  cloud.apply(cloudWith({ ...spec, customServiceConfig: '[DEFAULT]\ndebug = true\n' }));
  for (const pod of cloud.store.objects().filter(({ kind }) => kind === 'Pod'))
    if (/^(keystone|placement|glance)/.test(pod.metadata.name))
      cloud.hands.remove({ ...POD, plural: 'pods' }, NS, pod.metadata.name);
  await cloud.sim.run(minutes * 60_000);
  return {
    objects: cloud.store.objects() as AnyObject[],
    canaries: values(),
    writes,
    log,
    metrics: await metrics.render(),
  };
}
const POD = { group: '', version: 'v1', kind: 'Pod', plural: 'pods', namespaced: true };

const WHOLE = {
  placement: { enabled: true },
  glance: { enabled: true },
  mariadb: { secret: 'root-password' },
  keystone: KEYSTONE,
};
const SMALL = { mariadb: { secret: 'root-password' }, keystone: KEYSTONE };

const cloudFile = join(folder, 'cloud.yaml');
const editFile = join(folder, 'edit.yaml');
const bundleFile = join(folder, 'bundle.yaml.gz');

let heard: Heard;
let all: readonly string[];
let dump: string;
beforeAll(async () => {
  heard = await hear(WHOLE, 10);
  all = [...new Set([...heard.canaries, ...Object.values(PLANTED)])];
  dump = join(folder, 'dump.json');
  writeFileSync(dump, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: seenFrom(heard.objects, all) }));
  const cloud = cloudWith(SMALL);
  writeFileSync(cloudFile, [...secrets(), cloud].map(object => stringify(object)).join('---\n'));
  // An edit that brings a secret of its own, and changes the text with the passwords.
  const edited = {
    ...WHOLE,
    keystone: { ...KEYSTONE, customServiceConfig: CUSTOM_CONFIG.replace('[auth]', '[auth]\ndebug = true') },
  };
  writeFileSync(editFile, [...secrets().slice(0, 1), cloudWith(edited)].map(object => stringify(object)).join('---\n'));
}, 60_000);

/** With logs of some containers, and an event of a kubelet, that hold every secret in every form. */
function seenFrom(objects: readonly AnyObject[], values: readonly string[]): AnyObject[] {
  const text = printed(values).join('\n');
  const pods = objects.filter(({ kind, metadata }) => kind === 'Pod' && /^(keystone|mariadb)/.test(metadata.name));
  const logs = pods.map(
    ({ metadata, spec }): AnyObject => ({
      apiVersion: LOG_API,
      kind: 'ContainerLog',
      metadata: {
        name: `${metadata.name}.${(spec as { containers: { name: string }[] }).containers[0]!.name}`,
        namespace: NS,
      },
      text,
    }),
  );
  const { name, uid } = pods[0]!.metadata;
  const event: AnyObject = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: 'printed', namespace: NS },
    type: 'Warning',
    reason: 'BackOff',
    message: text,
    involvedObject: { kind: 'Pod', name, namespace: NS, uid },
    lastTimestamp: '2026-01-01T00:00:00Z',
  };
  return [...objects, ...logs, event];
}

const unmasked = (texts: readonly string[], values: readonly string[]): string[] =>
  [...new Set(texts.flatMap(text => leaks(text, values)))].slice(0, 10);

describe('forty secrets', { timeout: 60_000 }, () => {
  it('are planted, and printed by what fails', () => {
    expect(all.length).toBeGreaterThan(40);
    const pods = JSON.stringify(heard.objects.filter(({ kind }) => kind === 'Pod'));
    expect(leaks(pods, heard.canaries).length, 'printed by programs').toBeGreaterThan(5);
    expect(heard.writes.join('\n')).toMatch(/refused: \S+ \(1045\)|SQL syntax/);
    expect(heard.log.filter(line => line.includes('(1045)')).length, 'log lines').toBeGreaterThan(0);
  });

  it('are in no request of the operator but those for Secrets', () => {
    expect(unmasked(heard.writes, heard.canaries)).toEqual([]);
  });

  it('are in no object but Secrets, and what the kubelet says of a pod', () => {
    const open = heard.objects
      .filter(({ kind }) => kind !== 'Secret')
      .map(object => textOf(object.kind === 'Pod' ? { ...object, status: {} } : object));
    expect(
      unmasked(
        open,
        all.filter(value => !isInSpec(value)),
      ),
    ).toEqual([]);
    // The user's own text is in the specs of our kinds and nowhere else.
    const others = heard.objects.filter(object => object.kind !== 'Secret' && !isOurs(object));
    expect(unmasked(others.map(textOf), all.filter(isInSpec))).toEqual([]);
    expect(JSON.stringify(heard.objects.filter(isOurs))).toContain(JSON.stringify(CUSTOM_CONFIG).slice(1, -1));
  });

  it('are in no line of the log', () => expect(unmasked(heard.log, heard.canaries)).toEqual([]));
  it('are in no metric', () => expect(unmasked([heard.metrics], all)).toEqual([]));

  it('are not in what a dying operator says', async () => {
    const known = new KnownSecrets();
    known.learn({ namespace: NS, name: 'all' }, '1', () => all);
    const lines: string[] = [];
    const died = vi.fn();
    const listeners = new Map<string, (error: unknown) => void>();
    endOnFatal({
      process: { on: (event, listener) => listeners.set(event, listener), exit: died },
      log: createLog('info', { write: line => void lines.push(line) }, text => known.mask(text)),
      clock: realClock,
      halt: () => undefined,
      release: async () => undefined,
    });
    listeners.get('uncaughtException')?.(new Error(printed(all).join('\n'), { cause: { sql: printed(all) } }));
    await vi.waitFor(() => expect(died).toHaveBeenCalled());
    expect(lines).toHaveLength(1);
    expect(unmasked(lines, all)).toEqual([]);
  });
});

/** How to ask each command; one that is not here is asked without arguments. Formats and the source are added. */
const QUESTIONS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  tree: [[], ['--expand']],
  why: [[], ['keystone/keystone']],
  lint: [['-f', 'cluster']],
  trace: [
    ...['connection', 'password', 'bind_word', 'url', 'webhook_token', 'memcache_servers'].map(key => [
      'keystone',
      key,
    ]),
  ],
  render: [
    ['-f', cloudFile],
    ['-f', cloudFile, '--as', 'config'],
  ],
  plan: [['-f', editFile]],
  events: [[], ['--warnings'], ['keystone/keystone']],
  logs: [['keystone'], ['mariadb']],
  ui: [['--for', '0']],
  bundle: [
    ['--to', bundleFile],
    ['--to', join(folder, 'bundle.yaml')],
  ],
  replay: [[bundleFile]],
  completion: [['bash']],
};

async function run(words: readonly string[]): Promise<{ text: string; code: number }> {
  let text = '';
  const write = (more: string): void => {
    text += more;
  };
  const paper = { width: 118, paint: (_style: string, said: string) => said };
  const code = await execute('kubectl openstack', words, { out: write, err: write, paper, repaints: false });
  return { text, code };
}

describe('no command shows one:', { timeout: 60_000 }, () => {
  it.each(COMMANDS.map(command => [command.name, command] as const))(
    '%s',
    async (name, command) => {
      const source = command.reads === 'none' ? [] : ['--from', dump, '-n', NS];
      for (const question of QUESTIONS[name] ?? [[]])
        for (const format of ['table', 'json', 'yaml']) {
          const { text, code } = await run([name, ...question, ...source, '-o', format]);
          expect(code, `${name} ${question.join(' ')} -o ${format}: ${text.slice(0, 300)}`).toBeLessThan(2);
          expect(text.length).toBeGreaterThan(10);
          expect(unmasked([text], all), `${name} ${question.join(' ')} -o ${format}`).toEqual([]);
        }
    },
    60_000,
  );

  it('and a bundle holds none, also when its Secrets are opened', async () => {
    await run(['bundle', '--to', bundleFile, '--from', dump, '-n', NS]);
    const text = gunzipSync(readFileSync(bundleFile)).toString();
    const objects = parseObjects(text, 'bundle');
    expect(objects.length).toBeGreaterThan(100);
    const opened = objects
      .filter(({ kind }) => kind === 'Secret')
      .flatMap(({ data }) => Object.values(data as Record<string, string>))
      .map(value => Buffer.from(value, 'base64').toString());
    expect(unmasked([text, ...opened], all)).toEqual([]);
    // It still explains something.
    expect(text).toContain('customServiceConfigSecrets');
    expect(opened.join('\n')).toContain('[database]');
  });

  it('trace shows one to whoever asks for it', async () => {
    const { text } = await run(['trace', 'keystone', 'bind_word', '--from', dump, '-n', NS, '--reveal']);
    expect(text).toContain('canary-unnamed-option-5');
  });
});

describe('what is rendered', { timeout: 60_000 }, () => {
  const items = async (...words: string[]): Promise<AnyObject[]> => {
    const { text, code } = await run(['render', '-f', cloudFile, ...words, '-o', 'json']);
    expect(code, text.slice(0, 300)).toBe(0);
    return (JSON.parse(text) as { items: AnyObject[] }).items;
  };

  it.each(['objects', 'jobs'])('as %s to be applied has its secrets in Secrets alone', async as => {
    const found = await items('--as', as, '--reveal');
    const values = [...new Set([...generated(found), ...Object.values(PLANTED)])].filter(value => !isInSpec(value));
    expect(values.length).toBeGreaterThan(25);
    const open = found.filter(({ kind }) => kind !== 'Secret').map(textOf);
    expect(open.length).toBeGreaterThan(10);
    expect(unmasked(open, values)).toEqual([]);
  });

  it('to be read has none, and no API server takes it', async () => {
    const found = await items();
    const values = found
      .filter(({ kind }) => kind === 'Secret')
      .flatMap(({ data }) => Object.values(data as Record<string, string>));
    expect(new Set(values)).toEqual(new Set(['(secret)']));
    const earlier = join(folder, 'read.json');
    writeFileSync(earlier, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: found }));
    expect(await run(['render', '-f', cloudFile, '--keep', earlier])).toMatchObject({
      code: 2,
      text: expect.stringContaining('rendered without --reveal'),
    });
  });

  it('as Jobs is for applying, so somebody must ask for its passwords', async () =>
    expect(await run(['render', '-f', cloudFile, '--as', 'jobs'])).toMatchObject({
      code: 2,
      text: expect.stringContaining('give --reveal'),
    }));
});

describe('the page shows none', { timeout: 60_000 }, () => {
  /** An API server that has these objects, and logs that hold every secret. */
  const cluster = (): Transport =>
    ({
      async send({ path }: { path: string }) {
        if (path.endsWith('/log')) return { status: 200, headers: {}, body: printed(all).join('\n') };
        const plural = path.split('/').at(-1);
        const items = heard.objects.filter(
          ({ kind }) => `${kind.toLowerCase()}s` === plural || plural === OTHERS[kind],
        );
        return { status: 200, headers: {}, body: { metadata: { resourceVersion: '1' }, items } };
      },
      async *watch() {},
      close: async () => undefined,
    }) as unknown as Transport;
  const OTHERS: Readonly<Record<string, string>> = { StorageClass: 'storageclasses', NetworkPolicy: 'networkpolicies' };

  it('in any answer, in its stream, or when something goes wrong', async () => {
    const source = {
      live: true,
      read: (depth: Depth, namespace = NS) =>
        depth === 'whole'
          ? readSource({ from: dump, namespace }, depth)
          : readCluster(cluster(), namespace, depth, 'a test'),
    };
    const answers = answersOf(source, realClock);
    let fails = false;
    const page = createPage({
      answers: {
        ...answers,
        detail: async ref => {
          if (fails) throw new UsageError('cannot ask https://me:canary-ldap-bind-3@api');
          return answers.detail(ref);
        },
      },
      assets: assetsOf({ 'index.html': 'hello' }),
      guard: loopbackGuard,
      clock: realClock,
    });
    const server = createPageServer({ page, port: 0, host: '127.0.0.1' });
    await server.start();
    try {
      const get = async (path: string): Promise<string> => (await fetch(new URL(path, server.url))).text();
      const texts = [await get('/api/overview')];
      for (const { kind, metadata } of heard.objects.filter(isOurs)) {
        const query = `kind=${kind}&namespace=${NS}&name=${metadata.name}`;
        texts.push(await get(`/api/object?${query}`), await get(`/api/settings?${query}`));
      }
      expect(texts.join('\n')).toMatch(/last words|ended with/);
      expect(texts.join('\n')).toContain('(secret)');
      const body = readFileSync(editFile, 'utf8');
      const headers = { 'content-type': 'application/yaml' };
      const planned = await fetch(new URL('/api/plan', server.url), { method: 'POST', body, headers });
      expect(planned.status, await planned.clone().text()).toBe(200);
      texts.push(await planned.text());
      const stream = (await fetch(new URL('/api/stream', server.url))).body!.pipeThrough(new TextDecoderStream());
      const reader = stream.getReader();
      let told = '';
      while (!told.includes('event: overview')) told += (await reader.read()).value ?? '';
      await reader.cancel();
      fails = true;
      texts.push(told, await get('/api/object?kind=Keystone&namespace=x&name=y'));
      expect(unmasked(texts, all)).toEqual([]);
    } finally {
      await server.stop();
    }
  });
});
