import { describe, expect, it } from 'vitest';
import { Keystone } from '../../api/openstack/keystone.ts';
import { commandOf, type Programs } from '../../src/embedded/pretend/program.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { CronJob, Deployment } from '../../src/kube/resource.ts';
import type { Cloud } from './cloud.ts';
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
