import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { CLOUD_NAMESPACE as namespace } from '../../lab/cloud.ts';
import { NAMESPACE as AUTHORITY, ISSUER } from '../../lab/cluster/certificates.ts';
import { CONTROL } from '../../lab/cluster/control.ts';
import { enter } from '../../lab/cluster/host.ts';
import { nameIngresses } from '../../lab/cluster/ingress.ts';
import type { CloudSpec } from '../../lab/extras.ts';
import { paths } from '../../lab/paths.ts';
import { must } from '../../lab/shell.ts';
import { tempestVenv } from '../../lab/venv.ts';
import { Secret } from '../../src/kube/resource.ts';
import { figure } from './figure.ts';
import { makeKey } from './guest.ts';
import { labStage } from './lab.ts';
import { OpenStack } from './openstack.ts';
import { ready, valueIn } from './stage.ts';
import { linesOf, tempestConf, verdictOf } from './tempest.ts';
import { Tenant, type Thing } from './tenant.ts';

const release = process.env.LAB_RELEASES?.split(',')[0] ?? '2025.2';
/** Two cores and guests in emulation: more at once only wait for each other. */
const CONCURRENCY = 2;

/** Of the whole, which also goes to the terminal as it comes. */
function output(command: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<string> {
  return new Promise((resolve, reject) => {
    const [program, ...args] = command;
    const child = spawn(program!, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let text = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (piece: Buffer) => {
        text += piece.toString();
        process.stdout.write(piece);
      });
    child.on('error', reject);
    // The number of the end says whether a test failed; the counts say it better.
    child.on('close', () => resolve(text));
  });
}

/** Judges the cloud that is there: `make lab-cloud` or `make lab-cloud-ceph` before. */
describe(`Tempest on the cloud of the lab, ${release}`, { timeout: 7_200_000 }, () => {
  it('passes the smoke set', async () => {
    const stage = await labStage(namespace);
    await ready(stage, OpenStackControlPlane, 'cloud');
    const spec = (await stage.get(OpenStackControlPlane, 'cloud'))?.spec as CloudSpec & {
      cinder?: { enabled?: boolean; backup?: { enabled?: boolean } };
      horizon?: { enabled?: boolean };
    };
    const folder = join(paths.run, 'tempest');
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    const password = await valueIn(stage, 'keystone-admin', 'password', Secret);
    let keystone = `http://keystone-api.${namespace}.svc.cluster.local:5000`;
    let ca: string | undefined;
    if (spec.publicDomain !== undefined) {
      await nameIngresses();
      keystone = `https://keystone.${spec.publicDomain}`;
      ca = join(folder, 'ca.crt');
      writeFileSync(ca, await valueIn(await labStage(AUTHORITY), ISSUER, 'tls.crt', Secret));
    }
    const outside = ca === undefined ? undefined : { url: keystone, ca: readFileSync(ca, 'utf8') };
    const os = await OpenStack.login(namespace, password, outside);
    const tenant = new Tenant(stage, os, await makeKey());
    await tenant.sweep();
    await tenant.furnish();
    await tenant.hostKnown();
    await tenant.image('other');
    const other = tenant.ids.image!;
    await tenant.image();
    const flavor = { flavor: { name: 'nano2', ram: 224, vcpus: 1, disk: 1 } };
    const bigger = (await os.call<{ flavor: Thing }>('compute', 'POST', '/flavors', { body: flavor })).flavor.id;
    const { extensions } = await os.call<{ extensions: { alias: string }[] }>('network', 'GET', '/v2.0/extensions');
    const venv = await tempestVenv();
    const program = join(venv, 'venv/bin/tempest');
    const env = {
      PATH: `${join(venv, 'venv/bin')}:/usr/sbin:/usr/bin:/sbin:/bin`,
      HOME: folder,
      LANG: 'C.UTF-8',
      PYTHONWARNINGS: 'ignore',
      // What it opens past its own settings, as the dashboard.
      ...(ca !== undefined && { SSL_CERT_FILE: ca }),
    };
    const workspace = join(folder, 'workspace');
    await must(program, ['init', workspace], { env, cwd: folder });
    writeFileSync(
      join(workspace, 'etc', 'tempest.conf'),
      tempestConf({
        folder,
        keystone,
        password,
        region: 'RegionOne',
        ...(ca !== undefined && { ca }),
        catalog: new Set(os.catalog.keys()),
        images: [tenant.ids.image!, other],
        flavors: [tenant.ids.flavor!, bigger],
        publicNetwork: tenant.ids.public!,
        extensions: extensions.map(({ alias }) => alias),
        backup: spec.cinder?.backup?.enabled === true,
        ...(spec.horizon?.enabled && spec.publicDomain && { dashboard: `https://horizon.${spec.publicDomain}/` }),
      }),
    );
    // On a host of the lab: it asks the lab's DNS.
    const run = ['run', '--smoke', '--concurrency', String(CONCURRENCY)];
    const script = `cd '${workspace}' && exec '${program}' ${run.join(' ')}`;
    const text = await output([...enter(CONTROL), 'sh', '-c', script], '/', env);
    writeFileSync(join(folder, 'output.txt'), text);
    const verdict = verdictOf(text);
    console.log(`\nTempest smoke: ${verdict.passed} passed, ${verdict.failed} failed, ${verdict.skipped} skipped`);
    figure('Tempest passed', verdict.passed);
    figure('Tempest failed', verdict.failed);
    figure('Tempest skipped', verdict.skipped);
    for (const line of [...linesOf(text, 'SKIPPED'), ...linesOf(text, 'FAILED')]) console.log(line);
    await tenant.sweep();
    expect(linesOf(text, 'FAILED')).toEqual([]);
    expect(verdict.failed).toBe(0);
    expect(verdict.passed).toBeGreaterThan(0);
  });
});
