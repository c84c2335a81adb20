import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Census, differences } from './census.ts';
import { repo } from './paths.ts';
import { run, sleep } from './shell.ts';

/**
 * A lab of its own beside the one that people use. `npx tsx lab/main.ts selftest`; root, warm cache.
 * Without images of OpenStack: what a pod leaves behind, CoreDNS leaves behind as well.
 */
const env = { ...process.env, LAB_NAME: 'labtest', LAB_RELEASES: '' };
const command = ['--import', 'tsx', join(repo, 'lab', 'main.ts')];
const lab = (...args: string[]) => run('node', [...command, ...args], { env, cwd: repo });

async function census(): Promise<Census> {
  const ran = await lab('census');
  expect(ran.code, ran.stderr).toBe(0);
  return JSON.parse(ran.stdout) as Census;
}

let before: Census;
beforeAll(async () => {
  expect((await lab('down', '--wipe')).code).toBe(0);
  before = await census();
}, 120_000);

async function goneWithoutTrace(): Promise<void> {
  const down = await lab('down');
  expect(down.code, down.stderr).toBe(0);
  expect(differences(before, await census())).toEqual([]);
}

describe('a lab on this machine', () => {
  it('comes up, again changes nothing, and goes without a trace', { timeout: 600_000 }, async () => {
    const up = await lab('up', '--no-operator');
    expect(up.code, up.stderr).toBe(0);
    const running = (await census()).processes;
    const again = await lab('up', '--no-operator');
    expect(again.code, again.stderr).toBe(0);
    expect((await census()).processes).toEqual(
      expect.arrayContaining(running.filter(each => /host|kube|etcd|containerd$/.test(each))),
    );
    const nodes = await lab('kubectl', 'get', 'nodes', '-o', 'name');
    expect(nodes.code).toBe(0);
    await goneWithoutTrace();
  });

  // Moments within network, hosts, control plane, containerd and kubelet of a start that takes 20 s on a quiet machine and 45 s on a busy one.
  it.each([300, 900, 1800, 3000, 5000, 8000, 12_000, 17_000, 27_000, 40_000])(
    'killed %d ms after its start leaves nothing that down does not find',
    { timeout: 300_000 },
    async moment => {
      const up = spawn('node', [...command, 'up', '--no-operator'], { env, cwd: repo, stdio: 'ignore' });
      await sleep(moment);
      up.kill('SIGKILL');
      await goneWithoutTrace();
    },
  );

  it('refuses a second start at the same time, and names the first', { timeout: 300_000 }, async () => {
    const first = lab('up', '--no-operator');
    await sleep(1500);
    const second = await lab('up', '--no-operator');
    expect(second.code).toBe(1);
    expect(second.stderr).toMatch(/process \d+ is already busy with the lab \(up\)/);
    expect((await first).code).toBe(0);
    await goneWithoutTrace();
  });

  it('says what is missing when it is not root', { timeout: 60_000 }, async () => {
    const ran = await run('setpriv', ['--reuid=65534', '--clear-groups', '--', 'node', ...command, 'up'], {
      env: { ...env, OPENSTACK_OPERATOR_CACHE: '/tmp/lab-of-nobody', HOME: '/tmp' },
      cwd: repo,
    });
    expect(ran.code).toBe(1);
    expect(ran.stderr).toMatch(/not root/);
  });
});
