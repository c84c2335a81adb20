import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { execute } from '../../src/cli/program.ts';

/** What somebody meets at the terminal whose cluster is away or whose file is broken: the text, and the exit code. */

const folder = mkdtempSync(join(tmpdir(), 'bad-command-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
afterEach(() => vi.unstubAllEnvs());

async function run(...words: string[]): Promise<{ out: string; err: string; code: number }> {
  let [out, err] = ['', ''];
  const code = await execute('kubectl openstack', words, {
    out: more => {
      out += more;
    },
    err: more => {
      err += more;
    },
    paper: { width: 118, paint: (_style, said) => said },
    repaints: false,
  });
  return { out, err, code };
}

function file(name: string, content: string | Buffer): string {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
}

const kubeconfig = (server: string): string =>
  file(
    'kubeconfig',
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'home',
      clusters: [{ name: 'home', cluster: { server } }],
      contexts: [{ name: 'home', context: { cluster: 'home', user: 'me' } }],
      users: [{ name: 'me', user: { token: 'hunter2' } }],
    }),
  );

describe('no cluster', () => {
  it('nothing listens at its address: which kubeconfig, which context, and what to check', async () => {
    const server = createServer();
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    await new Promise(resolve => server.close(resolve));
    for (const command of ['status', 'tree', 'why', 'events']) {
      const { out, err, code } = await run(command, '--kubeconfig', kubeconfig(`https://127.0.0.1:${port}`));
      expect(err).toMatch(
        new RegExp(
          `^kubectl openstack: no answer from the API server \\(kubeconfig ${folder}/kubeconfig, context home\\): GET /.*ECONNREFUSED 127\\.0\\.0\\.1:${port}\\. Is the cluster up, and is this its kubeconfig\\?\\n$`,
        ),
      );
      expect([out, code]).toEqual(['', 1]);
    }
  });

  it('no kubeconfig anywhere', async () => {
    for (const [name, value] of [
      ['KUBECONFIG', ''],
      ['KUBERNETES_SERVICE_HOST', ''],
      ['HOME', folder],
    ] as const)
      vi.stubEnv(name, value);
    const { err, code } = await run('status');
    expect(err).toBe(
      'kubectl openstack: no cluster: give --kubeconfig, set KUBECONFIG, or run in a pod with a service account\n',
    );
    expect(code).toBe(1);
  });

  it('a kubeconfig that is none, and a context that it does not have', async () => {
    const broken = await run('status', '--kubeconfig', file('broken', 'clusters: [\n'));
    expect(broken.err).toMatch(/^kubectl openstack: .*broken/);
    expect(broken.code).toBe(1);
    const other = await run('status', '--kubeconfig', kubeconfig('https://127.0.0.1:1'), '--context', 'work');
    expect(other.err).toMatch(/context work/);
    expect(other.code).toBe(1);
  });
});

const CLOUD = 'apiVersion: openstack.k8s.io/v1alpha1\nkind: OpenStackControlPlane\nmetadata:\n  name: cloud\n';
const READERS = [
  ['lint', '-f'],
  ['render', '-f'],
  ['plan', '--embedded', '-f'],
  ['status', '--from'],
] as const;

describe.each(READERS.map(words => [words[0], words] as const))('a broken file for %s', (_name, words) => {
  it.each([
    ['a tab', `${CLOUD}spec:\n\tregion: One\n`, ':6:1: Tabs are not allowed as indentation'],
    ['a tab in the middle of a block', `${CLOUD}spec:\n  nova:\n  \treplicas: 2\n`, ':7:3: Tabs are not allowed'],
    ['a key twice', `${CLOUD}spec:\n  region: One\n  region: Two\n`, ':7:3: Map keys must be unique'],
    ['a quote that never ends', `${CLOUD}spec:\n  region: "One\n`, ':7:1: Missing closing "quote'],
    ['a word', 'hello\n', ':1: not a Kubernetes object: it has no apiVersion and kind'],
  ])('%s: line and column', async (_what, text, said) => {
    const path = file('cloud.yaml', text);
    const { out, err, code } = await run(...words, path);
    expect(err).toContain(`kubectl openstack: ${path}${said}`);
    expect(err.trimEnd().split('\n')).toHaveLength(1);
    expect([out, code]).toEqual(['', 2]);
  });
});

const MB = 1_000_000;

describe('a file of 50 MB', { timeout: 120_000 }, () => {
  it('of YAML is refused before it is read, with the way out', async () => {
    const path = file('large.yaml', `${CLOUD}spec:\n${'  # nothing but talk\n'.repeat((50 * MB) / 21)}`);
    for (const words of READERS) {
      const { err, code } = await run(...words, path);
      expect(err).toBe(
        `kubectl openstack: ${path}: 50 MB of YAML are more than this program reads; give it JSON (kubectl -o json)\n`,
      );
      expect(code).toBe(2);
    }
  });

  it('of JSON is read, zipped too', async () => {
    const pod = (index: number): object => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: `pod-${index}`, namespace: 'openstack', annotations: { much: 'x'.repeat(50_000) } },
    });
    const list = { apiVersion: 'v1', kind: 'List', items: Array.from({ length: 1000 }, (_, index) => pod(index)) };
    const text = JSON.stringify(list);
    expect(text.length).toBeGreaterThan(50 * MB);
    for (const path of [file('large.json', text), file('large.json.gz', gzipSync(text, { level: 1 }))]) {
      const { out, err, code } = await run('status', '--from', path, '-n', 'openstack');
      expect([out, err, code]).toEqual([`No cloud in namespace openstack of ${path}.\n`, '', 1]);
    }
  });

  it('of config is refused: no object could hold it', async () => {
    const path = file('nova.conf', `[DEFAULT]\n${'debug = true\n'.repeat((50 * MB) / 13)}`);
    const { err, code } = await run('lint', '-f', path, '--service', 'nova');
    expect(err).toMatch(/nova\.conf: 50 MB of config: Kubernetes takes no Secret of more than 1 MiB/);
    expect(code).toBe(2);
  });

  it('that opens to a thousand times as much is not opened', async () => {
    const zeros = gzipSync(Buffer.alloc(260 * MB), { level: 1 });
    const { err, code } = await run('lint', '-f', file('bomb.yaml.gz', zeros));
    expect(err).toMatch(/bomb\.yaml\.gz: more than 256 MB are more than this program reads\n$/);
    expect(code).toBe(2);
  });
});

describe('a folder that is no folder of objects', () => {
  it('says so', async () => {
    mkdirSync(join(folder, 'empty'), { recursive: true });
    const { err, code } = await run('status', '--from', join(folder, 'empty'));
    expect(err).toMatch(/empty: no \.yaml or \.json file in this folder\n$/);
    expect(code).toBe(2);
  });
});
