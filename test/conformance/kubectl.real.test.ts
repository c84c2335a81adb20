import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Serving, serve } from '../../src/embedded/serve/serve.ts';
import { seededRandom } from '../../src/embedded/sim/random.ts';
import { createStore } from '../../src/embedded/store/store.ts';
import { makeCertificate } from '../../src/real/certificate.ts';
import { program } from './apiserver.ts';
import { crds, widget } from './script/crd.ts';

/** A real kubectl on the embedded API server: what the README promises after `make cloud`. */

const clock = {
  now: () => performance.now(),
  wall: () => Date.now(),
  timer: (ms: number, run: () => void) => {
    const timer = setTimeout(run, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};
const store = createStore({ clock, random: seededRandom(7) });
const dir = mkdtempSync(join(tmpdir(), 'kubectl-'));
let serving: Serving;
let binary: string;

const flags = () => ['--kubeconfig', serving.kubeconfig, '--cache-dir', join(dir, 'cache')];
const kubectl = async (...args: string[]) => (await promisify(execFile)(binary, [...flags(), ...args])).stdout;
const fails = async (...args: string[]) =>
  kubectl(...args).then(
    out => expect.fail(`expected a refusal, got ${out}`),
    (error: { stderr: string }) => error.stderr,
  );

function apply(object: object, ...args: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(binary, [...flags(), 'apply', '--server-side', '-f', '-', ...args]);
    let text = '';
    child.stdout.on('data', d => {
      text += d;
    });
    child.stderr.on('data', d => {
      text += d;
    });
    child.once('exit', code => (code === 0 ? resolve(text) : reject(new Error(text))));
    child.stdin.end(JSON.stringify(object));
  });
}

const one = (spec: object) => ({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'one' }, spec });

beforeAll(async () => {
  binary = await program('kubectl');
  serving = await serve(store, { port: 0, dir, certificate: makeCertificate(Date.now()) });
  store.handle({ method: 'POST', path: crds, body: widget });
});
afterAll(async () => {
  await serving.close();
  rmSync(dir, { recursive: true, force: true });
});

describe('kubectl on the embedded API server', () => {
  it('applies, and says so when nothing changes', async () => {
    expect(await apply(one({ name: 'ok' }))).toBe('widget.example.com/one serverside-applied\n');
    const version = () => kubectl('get', 'widget', 'one', '-o', 'jsonpath={.metadata.resourceVersion}');
    const before = await version();
    await apply(one({ name: 'ok' }));
    expect(await version()).toBe(before);
  });

  it('shows printer columns, short names and categories', async () => {
    expect((await kubectl('get', 'wd')).split('\n')[0]).toMatch(/^NAME\s+SIZE\s+READY\s+AGE$/);
    expect(await kubectl('get', 'all')).toContain('widget.example.com/one');
    expect((await kubectl('get', 'namespaces')).split('\n')[0]).toMatch(/^NAME\s+STATUS\s+AGE$/);
  });

  it('describes and explains', async () => {
    expect(await kubectl('describe', 'widget', 'one')).toContain('Size:    3');
    expect(await kubectl('explain', 'widget.spec.list')).toContain('name\t<string> -required-');
    expect(await kubectl('explain', 'deployment.spec.strategy')).toContain('rollingUpdate');
  });

  it('is refused with the path of the field', async () => {
    expect(await fails('patch', 'widget', 'one', '--type=merge', '-p', '{"spec":{"size":99}}')).toContain(
      'spec.size: Invalid value: 99: spec.size in body should be less than or equal to 10',
    );
    await expect(apply(one({ name: 'ok', sise: 1 }))).rejects.toThrow('.spec.sise: field not declared in schema');
  });

  it('waits for a condition', async () => {
    const waiting = kubectl('wait', 'widget/one', '--for=condition=Ready', '--timeout=20s');
    const status = JSON.stringify({ status: { conditions: [{ type: 'Ready', status: 'True' }] } });
    await kubectl('patch', 'widget', 'one', '--subresource=status', '--type=merge', '-p', status);
    expect(await waiting).toContain('condition met');
  });

  it('deletes and waits until a finalizer is worked off', async () => {
    await kubectl('patch', 'widget', 'one', '--type=merge', '-p', '{"metadata":{"finalizers":["example.com/hold"]}}');
    const deleting = kubectl('delete', 'widget', 'one', '--wait', '--timeout=20s');
    const path = '/apis/example.com/v1/namespaces/default/widgets/one';
    while (JSON.stringify(store.handle({ method: 'GET', path }).body).includes('deletionTimestamp') === false) {
      await new Promise(resolve => setTimeout(resolve, 20));
    }
    await kubectl('patch', 'widget', 'one', '--type=json', '-p', '[{"op":"remove","path":"/metadata/finalizers"}]');
    expect(await deleting).toContain('deleted');
    expect(await fails('get', 'widget', 'one')).toContain('widgets.example.com "one" not found');
  });
});
