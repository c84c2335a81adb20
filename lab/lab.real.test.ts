import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Census, census, differences } from './census.ts';
import { started } from './cluster/host.ts';
import { repo } from './paths.ts';
import { run, sleep } from './shell.ts';

/**
 * Takes the machine's lab up and down, so it refuses to begin while one runs. `npx vitest run --config lab/...` is not
 * needed: vitest takes the file by name when the exclusion of *.real.test.ts is lifted (see docs/how-to).
 */
const env = { ...process.env, LAB_RELEASES: '' };
const lab = (...args: string[]) => run('node', ['--import', 'tsx', join(repo, 'lab', 'main.ts'), ...args], { env });

let before: Census;
beforeAll(async () => {
  if (started().length > 0)
    throw new Error('a lab runs on this machine; take it down first (npx tsx lab/main.ts down)');
  before = await census();
});

async function goneWithoutTrace(): Promise<void> {
  const down = await lab('down');
  expect(down.code, down.stderr).toBe(0);
  expect(differences(before, await census())).toEqual([]);
}

describe('a lab on this machine', () => {
  it('comes up, again changes nothing, and goes without a trace', { timeout: 600_000 }, async () => {
    const up = await lab('up');
    expect(up.code, up.stderr).toBe(0);
    const running = started();
    const again = await lab('up');
    expect(again.code, again.stderr).toBe(0);
    expect(started()).toEqual(running);
    const nodes = await lab('kubectl', 'get', 'nodes', '-o', 'name');
    expect(nodes.code).toBe(0);
    await goneWithoutTrace();
  });

  // Moments within network, hosts, control plane, containerd and kubelet of a start that takes about 20 s.
  it.each([300, 900, 1800, 3000, 5000, 8000, 12_000, 17_000])(
    'killed %d ms after its start leaves nothing that down does not find',
    { timeout: 300_000 },
    async moment => {
      const up = spawn('node', ['--import', 'tsx', join(repo, 'lab', 'main.ts'), 'up'], { env, stdio: 'ignore' });
      await sleep(moment);
      up.kill('SIGKILL');
      await goneWithoutTrace();
    },
  );

  it('refuses a second start at the same time, and names the first', { timeout: 300_000 }, async () => {
    const first = lab('up');
    await sleep(1500);
    const second = await lab('up');
    expect(second.code).toBe(1);
    expect(second.stderr).toMatch(/process \d+ is already busy with the lab \(up\)/);
    expect((await first).code).toBe(0);
    await goneWithoutTrace();
  });

  it('says what is missing when it is not root', async () => {
    const ran = await run(
      'setpriv',
      ['--reuid=65534', '--clear-groups', '--', 'node', '--import', 'tsx', join(repo, 'lab', 'main.ts'), 'up'],
      {
        env: { ...env, OPENSTACK_OPERATOR_CACHE: '/tmp/lab-of-nobody', HOME: '/tmp' },
        cwd: repo,
      },
    );
    expect(ran.code).toBe(1);
    expect(ran.stderr).toMatch(/not root/);
  });
});
