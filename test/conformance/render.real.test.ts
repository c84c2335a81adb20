import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseObjects } from '../../src/cli/input/yaml.ts';
import { execute } from '../../src/cli/program.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { type ApiServer, program, startApiServer } from './apiserver.ts';

/** What `render` prints, given to a real kubectl and a real kube-apiserver, as anybody would. */

const folder = mkdtempSync(join(tmpdir(), 'render-'));
let server: ApiServer;
let binary: string;
beforeAll(async () => {
  [server, binary] = [await startApiServer(), await program('kubectl')];
});
afterAll(async () => {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const kubectl = (args: readonly string[], input?: string): string =>
  execFileSync(binary, ['--kubeconfig', server.kubeconfig('admin'), ...args], {
    encoding: 'utf8',
    maxBuffer: 64 << 20,
    ...(input !== undefined && { input }),
  });

async function render(...args: string[]): Promise<string> {
  let [out, err] = ['', ''];
  const paper = { width: 100, paint: (_style: string, text: string) => text };
  const code = await execute('kubectl openstack', ['render', ...args, '--reveal'], {
    out: text => {
      out += text;
    },
    err: text => {
      err += text;
    },
    paper,
    repaints: false,
  });
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return out;
}

describe.each([
  ['controlplane_slice', 'jobs'],
  ['controlplane_minimal', 'jobs'],
  ['controlplane_minimal', 'objects'],
])('render -f %s.yaml --as %s --reveal | kubectl apply -f -', (sample, as) => {
  const namespace = `${sample.replaceAll('_', '-')}-${as}`;
  let text: string;
  let items: readonly AnyObject[];

  it('is accepted under strict validation, object by object', async () => {
    text = await render('-f', `config/samples/${sample}.yaml`, '--as', as, '-n', namespace);
    items = parseObjects(text, 'rendered');
    kubectl(['create', 'namespace', namespace]);
    const said = kubectl(['apply', '--validate=strict', '-f', '-'], text).trim().split('\n');
    expect(said.filter(line => !line.endsWith(' created'))).toEqual([]);
    expect(said).toHaveLength(items.length);
    expect(items.some(item => item.kind === 'Job')).toBe(true);
  });

  /** kubectl says `configured` of an empty list that the server leaves out; a version tells whether anything changed. */
  const versions = (): string[] => {
    const kinds = [...new Set(items.map(item => item.kind.toLowerCase()))].join();
    const path = '{range .items[*]}{.kind} {.metadata.name} {.metadata.resourceVersion}{"\\n"}{end}';
    return kubectl(['-n', namespace, 'get', kinds, '-o', `jsonpath=${path}`])
      .trim()
      .split('\n')
      .sort();
  };

  it('is the same when it is applied again', () => {
    const before = versions();
    expect(before.length).toBeGreaterThanOrEqual(items.length);
    const said = kubectl(['apply', '--validate=strict', '-f', '-'], text).trim().split('\n');
    expect(said.filter(line => line.endsWith(' created'))).toEqual([]);
    expect(versions()).toEqual(before);
  });

  // Addresses of OVN are those of Services, which every cluster chooses anew.
  it.runIf(sample === 'controlplane_slice')('and so is a later rendering that keeps its secrets', async () => {
    const earlier = join(folder, `${namespace}.yaml`);
    writeFileSync(earlier, text);
    const again = await render('-f', `config/samples/${sample}.yaml`, '--as', as, '-n', namespace, '--keep', earlier);
    const before = versions();
    kubectl(['apply', '--validate=strict', '-f', '-'], again);
    expect(versions()).toEqual(before);
  });
});
