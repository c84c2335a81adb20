import { beforeAll, describe, expect, it } from 'vitest';
import { NovaCell } from '../../api/nova/cell.ts';
import { Cinder } from '../../api/openstack/cinder.ts';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { Glance } from '../../api/openstack/glance.ts';
import { Heat } from '../../api/openstack/heat.ts';
import { Keystone } from '../../api/openstack/keystone.ts';
import { Nova } from '../../api/openstack/nova.ts';
import { CLOUD_NAMESPACE as namespace } from '../../lab/cloud.ts';
import { NAMESPACE as AUTHORITY, ISSUER } from '../../lab/cluster/certificates.ts';
import { kubectl, tryKubectl } from '../../lab/kubectl.ts';
import { CronJob, Job, Pod, Secret } from '../../src/kube/resource.ts';
import { RETRY_ANNOTATION } from '../../src/runtime/plan/names.ts';
import { makeKey } from './guest.ts';
import { type LabStage, labStage } from './lab.ts';
import { OpenStack } from './openstack.ts';
import { conditionOf, ready, until, valueIn } from './stage.ts';
import { Tenant, type Thing } from './tenant.ts';

const release = process.env.LAB_RELEASES?.split(',')[0] ?? '2025.2';
const LIBVIRT = { novaComputeTemplates: { libvirt: { computeDriver: 'libvirt' } } };
/** The database of a cell is kept, and a pretended host forgets who it was in it: each story has a cell of its own. */
const CELL = `c${Date.now().toString(36)}`;
const PRETENDED = { novaComputeTemplates: { fake: { computeDriver: 'fake' } } };
/** Nothing of it is outside of Heat's own database. */
const TEMPLATE = {
  heat_template_version: '2021-04-16',
  resources: { text: { type: 'OS::Heat::RandomString' } },
};

/** On the cloud of `make lab-cloud-ceph`, which has every service. */
describe(`what a cloud's owner does to it later, ${release}`, { timeout: 1_800_000 }, () => {
  let stage: LabStage;
  let login: () => Promise<OpenStack>;
  async function edited(spec: object): Promise<void> {
    await stage.patch(OpenStackControlPlane, 'cloud', { spec });
    await ready(stage, OpenStackControlPlane, 'cloud');
  }

  beforeAll(async () => {
    stage = await labStage(namespace);
    await ready(stage, OpenStackControlPlane, 'cloud');
    const password = await valueIn(stage, 'keystone-admin', 'password', Secret);
    const ca = await valueIn(await labStage(AUTHORITY), ISSUER, 'tls.crt', Secret);
    login = () => OpenStack.login(namespace, password, { url: 'https://keystone.cloud.test', ca });
  });

  it('removes old rows from every database', async () => {
    const names = (await stage.list(CronJob)).map(({ metadata }) => metadata.name).sort();
    expect(names).toEqual(
      ['cinder', 'glance', 'heat', 'keystone', 'nova-cell0', 'nova-cell1'].map(name => `${name}-housekeeping`),
    );
    for (const name of names) {
      const job = `${name}-now`;
      await tryKubectl(['-n', namespace, 'delete', 'job', job, '--ignore-not-found']);
      await kubectl(['-n', namespace, 'create', 'job', `--from=cronjob/${name}`, job]);
      let last = '';
      await until(
        stage,
        () => `Job ${job} is complete: ${last}`,
        180,
        async () => {
          const found = await stage.get(Job, job);
          if (conditionOf(found, 'Failed')?.status === 'True') {
            ({ stdout: last } = await tryKubectl(['-n', namespace, 'logs', `job/${job}`, '--tail=20']));
            throw new Error(`Job ${job} failed: ${last}`);
          }
          return conditionOf(found, 'Complete')?.status === 'True';
        },
      );
    }
    for (const [kind, name] of [
      [Keystone, 'keystone'],
      [Glance, 'glance'],
      [Cinder, 'cinder'],
      [Heat, 'heat'],
      [Nova, 'nova'],
    ] as const)
      expect([name, conditionOf(await stage.get(kind, name), 'HousekeepingReady')?.status]).toEqual([name, 'True']);
    for (const name of names) await kubectl(['-n', namespace, 'delete', 'job', `${name}-now`]);
  });

  it('switches a service off, of which nothing is left but its data, and on again', async () => {
    const before = await login();
    const found = await before.call<{ stacks: { id: string; stack_name: string }[] }>(
      'orchestration',
      'GET',
      '/stacks',
    );
    for (const { id, stack_name } of found.stacks)
      await before.call('orchestration', 'DELETE', `/stacks/${stack_name}/${id}`);
    const body = { stack_name: 'kept', template: TEMPLATE };
    const { stack } = await before.call<{ stack: Thing }>('orchestration', 'POST', '/stacks', { body });
    const state = async (os: OpenStack) =>
      (await os.call<{ stack: { stack_status: string } }>('orchestration', 'GET', `/stacks/kept/${stack.id}`)).stack
        .stack_status;
    await until(stage, 'the stack is there', 120, async () => (await state(before)) === 'CREATE_COMPLETE');

    await edited({ heat: { enabled: false } });
    await until(stage, 'Heat is gone', 300, async () => (await stage.get(Heat, 'heat')) === undefined);
    const without = await login();
    expect([...without.catalog.keys()].filter(type => /orchestration|cloudformation/.test(type))).toEqual([]);
    expect((await without.call<{ users: Thing[] }>('identity', 'GET', '/v3/users?name=heat')).users).toEqual([]);
    const ofHeat = async () => (await stage.list(Pod)).filter(pod => pod.metadata.name.startsWith('heat-'));
    await until(stage, 'its pods are gone', 120, async () => (await ofHeat()).length === 0);

    await edited({ heat: { enabled: true } });
    expect(await state(await login())).toBe('CREATE_COMPLETE');
  });

  it('takes a cell in, and out again when nothing is in it any more', async () => {
    const os = await login();
    const tenant = new Tenant(stage, os, await makeKey());
    await tenant.sweep();
    // Of a story that was cut short.
    await edited({ nova: { cellTemplates: null } });
    await edited({ nova: { cellTemplates: { cell0: {}, cell1: LIBVIRT, [CELL]: PRETENDED } } });
    await tenant.image();
    await tenant.flavor(64);
    const pretended = async () => {
      const path = '/os-services?binary=nova-compute';
      const { services } = await os.call<{ services: { host: string }[] }>('compute', 'GET', path);
      return services.map(({ host }) => host).find(host => host.startsWith(`nova-${CELL}-`));
    };
    const host = await pretended();
    let server = '';
    // Its scheduler finds the host when it has been mapped, some seconds after it is Ready.
    await until(stage, 'a guest is ACTIVE in it', 180, async () => {
      server = await tenant.boot('pretended', { networks: 'none', host }).catch(error => {
        if (/not mapped|could not be found/.test(String(error))) return '';
        throw error;
      });
      return server !== '';
    });
    await tenant.active(server);

    await stage.patch(OpenStackControlPlane, 'cloud', { spec: { nova: { cellTemplates: { [CELL]: null } } } });
    let told = '';
    await until(
      stage,
      () => `it is refused: ${told}`,
      180,
      async () => {
        told = conditionOf(await stage.get(Nova, 'nova'), 'CellsReady')?.message ?? '';
        return told.includes(`cell ${CELL} still has servers: ${server}`);
      },
    );
    console.log(told);
    expect(await stage.get(NovaCell, `nova-${CELL}`)).toBeDefined();
    await tenant.cleared('compute', '/servers', 'servers');
    await stage.patch(Nova, 'nova', { metadata: { annotations: { [RETRY_ANNOTATION]: 'emptied' } } });
    await until(stage, 'it is gone', 300, async () => (await stage.get(NovaCell, `nova-${CELL}`)) === undefined);
    await edited({ nova: { cellTemplates: null } });
    expect(await pretended()).toBeUndefined();
    await tenant.sweep();
  });
});
