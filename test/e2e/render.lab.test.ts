import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { kubectl } from '../../lab/kubectl.ts';
import { parseObjects } from '../../src/cli/input/yaml.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { Deployment, Job, Secret } from '../../src/kube/resource.ts';
import { type LabStage, labStage } from './lab.ts';
import { conditionOf, until, valueIn } from './stage.ts';

/** `render --as jobs --reveal | kubectl apply -f -` while no operator runs. It is started again afterwards. */

const release = process.env.LAB_RELEASES?.split(',')[0] ?? '2025.2';
const namespace = `render-${release.replace('.', '-')}`;
const OPERATOR = ['-n', 'openstack-operator-system'];
const folder = mkdtempSync(join(tmpdir(), 'render-'));

async function scale(replicas: number): Promise<void> {
  await kubectl([...OPERATOR, 'scale', 'deployment/openstack-operator', `--replicas=${replicas}`]);
  await kubectl([...OPERATOR, 'rollout', 'status', 'deployment/openstack-operator', '--timeout=180s']);
}

describe(`the slice without an operator, ${release}`, { timeout: 3_600_000 }, () => {
  let stage: LabStage;
  let text: string;

  beforeAll(async () => {
    await scale(0);
    await kubectl([...OPERATOR, 'wait', '--for=delete', 'pod', '--all', '--timeout=180s']);
    stage = await labStage(namespace);
  });
  afterAll(async () => {
    await kubectl(['delete', 'namespace', namespace, '--timeout=300s']);
    await scale(1);
    rmSync(folder, { recursive: true, force: true });
  }, 900_000);

  it('is rendered and applied', async () => {
    const sample = parse(readFileSync('config/samples/controlplane_slice.yaml', 'utf8')) as { spec: object };
    const file = join(folder, 'slice.yaml');
    writeFileSync(file, stringify({ ...sample, spec: { ...sample.spec, release } }));
    const words = ['src/cli/main.ts', 'render', '-f', file, '-n', namespace, '--as', 'jobs', '--reveal'];
    text = execFileSync('node_modules/.bin/tsx', words, { encoding: 'utf8', maxBuffer: 64 << 20 });
    const said = await kubectl(['apply', '--validate=strict', '-f', '-'], text);
    expect(said.trim().split('\n')).toHaveLength(parseObjects(text, 'rendered').length);
  });

  it('comes up by its Jobs', async () => {
    const jobs = async () =>
      (await stage.list(Job)).map(job => {
        const ended = ['Complete', 'Failed'].find(type => conditionOf(job, type)?.status === 'True');
        return `${job.metadata.name.replace(/-[0-9a-f]{8}$/, '')} ${ended ?? 'runs'}`;
      });
    let last: string[] = [];
    await until(
      stage,
      () => `all Jobs are complete: ${last}`,
      1800,
      async () => {
        last = await jobs();
        if (last.some(job => job.endsWith(' Failed'))) throw new Error(`a Job gave up: ${last}`);
        return last.length > 0 && last.every(job => job.endsWith(' Complete'));
      },
    );
    expect(last.sort()).toEqual([
      'keystone-bootstrap Complete',
      'keystone-database Complete',
      'keystone-db-sync Complete',
      'keystone-identity Complete',
    ]);
    await until(stage, 'Keystone is available', 600, async () => {
      const found = await stage.get(Deployment, 'keystone-api');
      return conditionOf(found, 'Available')?.status === 'True';
    });
  });

  it('serves a token to the right password only, and no operator wrote anything', async () => {
    expect(await stage.login(await valueIn(stage, 'keystone-admin', 'password', Secret))).toBe(true);
    expect(await stage.login('not this one')).toBe(false);
    expect(stage.writes().filter(line => line.includes(`/namespaces/${namespace}/`))).toEqual([]);
  });

  it('says the same twice: applied again, nothing changes and the token stays good', async () => {
    const said = await kubectl(['apply', '--validate=strict', '-f', '-'], text);
    expect(said.split('\n').filter(line => line.endsWith(' created'))).toEqual([]);
    // Jobs that run twice do no harm: the same again under other names.
    const again = parseObjects(text, 'rendered')
      .filter((object: AnyObject) => object.kind === 'Job')
      .map(job => ({ ...job, metadata: { ...job.metadata, name: `${job.metadata.name}-again` } }));
    await kubectl(['apply', '-f', '-'], again.map(job => stringify(job)).join('---\n'));
    await until(stage, 'they are complete too', 900, async () =>
      (await stage.list(Job)).every(job => conditionOf(job, 'Complete')?.status === 'True'),
    );
    expect(await stage.login(await valueIn(stage, 'keystone-admin', 'password', Secret))).toBe(true);
  });
});
