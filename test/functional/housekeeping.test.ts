import { describe, expect, it } from 'vitest';
import { Keystone } from '../../api/openstack/keystone.ts';
import { conditionsOf } from '../../src/embedded/cluster.ts';
import { commandOf, type Programs } from '../../src/embedded/controllers/program.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { CronJob, Deployment, Job } from '../../src/kube/resource.ts';
import { type Cloud, NS } from './cloud.ts';
import { cloudWith, readyCloud, template, text } from './services.ts';

/** What the CronJob controller does when the time has come. */
function runNow(cloud: Cloud, name: string, job: string): void {
  const { spec } = cloud.get(CronJob, name) as AnyObject & {
    spec: { jobTemplate: { metadata: object; spec: object } };
  };
  const { metadata, spec: body } = spec.jobTemplate;
  cloud.apply({ apiVersion: 'batch/v1', kind: 'Job', metadata: { name: job, ...metadata }, spec: body });
}

describe('housekeeping', () => {
  it('removes old rows of every service at night, and rolls nothing when it is edited or suspended', async () => {
    const sections = { glance: { enabled: true }, heat: { enabled: true } };
    const cloud = await readyCloud(sections);
    for (const name of ['keystone', 'glance', 'heat'])
      expect(cloud.get(CronJob, `${name}-housekeeping`)?.spec, name).toMatchObject({
        schedule: '30 1 * * *',
        suspend: false,
        concurrencyPolicy: 'Forbid',
      });
    expect(text(cloud, 'heat-housekeeping-config-data', 'housekeeping.sh')).toContain('purge_deleted -g days "$days"');
    expect(text(cloud, 'keystone-housekeeping-config-data', 'housekeeping.sh')).toContain('trust_flush');
    const start = 'housekeeping.config.json';
    expect(text(cloud, 'glance-housekeeping-config-data', start)).toContain(
      '/var/lib/openstack/glance/housekeeping.sh 30',
    );
    const before = template(cloud, Deployment, 'heat-api');
    const edit = { housekeeping: { retentionDays: 7, suspend: true, schedule: '0 4 * * 0' } };
    cloud.apply(cloudWith({ ...sections, heat: { enabled: true, ...edit } }));
    await cloud.settle();
    expect(cloud.get(CronJob, 'heat-housekeeping')?.spec).toMatchObject({ suspend: true, schedule: '0 4 * * 0' });
    expect(text(cloud, 'heat-housekeeping-config-data', start)).toContain('housekeeping.sh 7');
    expect(template(cloud, Deployment, 'heat-api')).toEqual(before);
  });

  it('finds all files that it is told to copy', async () => {
    const cinder = { enabled: true, backends: [{ name: 'a', type: 'nfs', shares: ['nas:/a'] }] };
    const cells = { cell0: {}, cell1: { novaComputeTemplates: { fake: { computeDriver: 'fake' } } } };
    const sections = { glance: { enabled: true }, heat: { enabled: true }, cinder, nova: { cellTemplates: cells } };
    const cloud = await readyCloud(sections);
    const names = cloud.hands.list(CronJob, NS).map(({ metadata }) => metadata.name);
    expect(names).toHaveLength(6);
    for (const name of names) runNow(cloud, name, `${name}-now`);
    await cloud.settle();
    const failed = cloud.hands.list(Job, NS).filter(job => conditionsOf(job).some(c => c.type === 'Failed'));
    expect(failed.map(job => job.metadata.name)).toEqual([]);
    const done = cloud.hands.list(Job, NS).filter(job => job.metadata.name.endsWith('-now'));
    expect(done.every(job => conditionsOf(job).some(c => c.type === 'Complete'))).toBe(true);
  }, 120_000);

  it('tells of the last run, and Ready does not hang on it', async () => {
    let broken = true;
    const programs: Programs = run =>
      broken && /housekeeping\.sh/.test(commandOf(run))
        ? { exit: 1, message: 'trust_flush: lost connection', after: 1000 }
        : undefined;
    const cloud = await readyCloud({}, undefined, { programs });
    const told = () => cloud.condition(Keystone, 'keystone', 'HousekeepingReady');
    expect(told()?.status).toBe('True');
    runNow(cloud, 'keystone-housekeeping', 'keystone-housekeeping-1');
    await cloud.settle();
    expect(told()).toMatchObject({
      status: 'False',
      reason: 'HousekeepingFailed',
      message: expect.stringContaining('Job keystone-housekeeping-1 failed: '),
    });
    expect(told()?.message).toContain('lost connection');
    expect(cloud.condition(Keystone, 'keystone')?.status).toBe('True');
    broken = false;
    await cloud.sim.run(86_400_000);
    runNow(cloud, 'keystone-housekeeping', 'keystone-housekeeping-2');
    await cloud.settle();
    expect(told()?.status).toBe('True');
  });
});
