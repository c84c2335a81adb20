import { describe, expect, it } from 'vitest';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { Horizon } from '../../api/openstack/horizon.ts';
import { Keystone } from '../../api/openstack/keystone.ts';
import { MariaDB } from '../../api/openstack/mariadb.ts';
import { Memcached } from '../../api/openstack/memcached.ts';
import { OVNNetwork } from '../../api/openstack/ovnnetwork.ts';
import { RabbitMQ } from '../../api/openstack/rabbitmq.ts';
import { Deployment, type Resource, StatefulSet } from '../../src/kube/resource.ts';
import type { Cloud } from './cloud.ts';
import { cloudWith, objectOf, readyCloud, secret, template, text } from './services.ts';
import { ours, slice, Trouble, withSlice } from './stories.ts';

/** Keys of the Secret that the pods of a workload mount. */
const mounted = (cloud: Cloud, resource: Resource, name: string): string[] => {
  const { spec } = template(cloud, resource, name) as {
    spec: { volumes: { name: string; secret?: { items?: { key: string }[] } }[] };
  };
  return spec.volumes.find(volume => volume.name === 'config')?.secret?.items?.map(item => item.key) ?? [];
};

describe('defaultConfigOverwrite', { timeout: 120_000 }, () => {
  it('of Keystone replaces its policy', async () => {
    const { cloud } = await withSlice();
    cloud.apply(slice({ keystone: { defaultConfigOverwrite: { 'policy.yaml': 'a: b\n' } } }));
    await cloud.ready(OpenStackControlPlane, 'slice');
    await cloud.settle();
    expect(text(cloud, 'keystone-config-data', 'policy.yaml')).toBe('a: b\n');
    expect(text(cloud, 'keystone-config-data', 'keystone.config.json')).toContain('/etc/keystone/policy.yaml');
    expect(mounted(cloud, Deployment, 'keystone-api')).toContain('policy.yaml');
  });

  it('of a template is for its pods, and comes before that of the object', async () => {
    const policy = (text: string) => ({ defaultConfigOverwrite: { 'policy.yaml': text } });
    const cloud = await readyCloud({
      heat: { enabled: true, ...policy('all: a\n'), engineServiceTemplate: policy('engine: b\n') },
    });
    const own = 'engineServiceTemplate-policy.yaml';
    expect(text(cloud, 'heat-config-data', 'policy.yaml')).toBe('all: a\n');
    expect(text(cloud, 'heat-config-data', own)).toBe('engine: b\n');
    expect(mounted(cloud, Deployment, 'heat-api')).toContain('policy.yaml');
    expect(mounted(cloud, Deployment, 'heat-api')).not.toContain(own);
    expect(mounted(cloud, StatefulSet, 'heat-engine')).toContain(own);
    expect(mounted(cloud, StatefulSet, 'heat-engine')).not.toContain('policy.yaml');
    const start = JSON.parse(text(cloud, 'heat-config-data', 'heat-engine.config.json')) as {
      config_files: { source: string; dest: string }[];
    };
    const files = start.config_files.filter(file => file.dest === '/etc/heat/policy.yaml');
    expect(files.map(file => file.source)).toEqual([`/var/lib/kolla/config_files/${own}`]);
    const before = template(cloud, Deployment, 'heat-api');
    cloud.apply(cloudWith({ heat: { enabled: true, ...policy('all: a\n') } }));
    await cloud.ready(OpenStackControlPlane, 'slice');
    await cloud.settle();
    expect(mounted(cloud, StatefulSet, 'heat-engine')).toContain('policy.yaml');
    expect(template(cloud, Deployment, 'heat-api')).toEqual(before);
  });

  it('of Nova goes to the parts that read it', async () => {
    const paste = 'api-paste.ini';
    const cells = { cell0: {}, cell1: { novaComputeTemplates: { fake: { computeDriver: 'fake' } } } };
    const files = { 'policy.yaml': 'a: b\n', [paste]: '[app:a]\n' };
    const cloud = await readyCloud({ nova: { cellTemplates: cells, defaultConfigOverwrite: files } });
    const read = ['nova-api', 'nova-metadata', 'nova-scheduler', 'nova-cell1-conductor'].map(part =>
      mounted(cloud, StatefulSet, part).filter(key => key === paste || key === 'policy.yaml'),
    );
    expect(read).toEqual([[paste, 'policy.yaml'], [paste, 'policy.yaml'], ['policy.yaml'], ['policy.yaml']]);
  });

  it('of a backend of Cinder is for its volumes', async () => {
    const cloud = await readyCloud({
      cinder: {
        enabled: true,
        backends: [
          { name: 'a', type: 'nfs', shares: ['nas:/a'], defaultConfigOverwrite: { 'policy.yaml': 'a: b\n' } },
          { name: 'b', type: 'nfs', shares: ['nas:/b'] },
        ],
      },
    });
    expect(mounted(cloud, StatefulSet, 'cinder-volume-a')).toContain('backends.a-policy.yaml');
    expect(mounted(cloud, StatefulSet, 'cinder-volume-b')).not.toContain('backends.a-policy.yaml');
  });

  it.each([
    [OVNNetwork, 'InputReady', {}],
    [OVNNetwork, 'InputReady', { northd: { defaultConfigOverwrite: { 'my.conf': '' } } }, 'spec.northd.'],
    [OVNNetwork, 'InputReady', { metadataAgent: { defaultConfigOverwrite: { 'my.conf': '' } } }, 'spec.metadataAgent.'],
  ] as const)('is refused by $kind, which replaces none (%#)', async (kind, type, spec, at: string = 'spec.') => {
    const story = await Trouble.start();
    const own = Object.keys(spec).length > 0 ? spec : { defaultConfigOverwrite: { 'my.conf': '' } };
    story.cloud.apply(objectOf(kind, 'mine', own));
    const words = [`${at}defaultConfigOverwrite names my.conf`, 'User: take it out'];
    await story.tells(kind, 'mine', type, 'FileNotAllowed', ...words);
  });

  it.each([
    [MariaDB, 'InputReady'],
    [RabbitMQ, 'InputReady'],
    [Memcached, 'InputReady'],
    [Horizon, 'ConfigValid'],
  ] as const)('is refused by $kind, which replaces its start only (%#)', async (kind, type) => {
    const story = await Trouble.start();
    story.cloud.apply(objectOf(kind, 'mine', { defaultConfigOverwrite: { 'my.conf': '' } }));
    const words = ['spec.defaultConfigOverwrite names my.conf', 'User: use one of config.json'];
    await story.tells(kind, 'mine', type, 'FileNotAllowed', ...words);
  });
});

describe('defaultConfigOverwrite of config.json', { timeout: 120_000 }, () => {
  const start = (command: string) => `${JSON.stringify({ command, config_files: [] })}\n`;
  const own = (command: string) => ({ defaultConfigOverwrite: { 'config.json': start(command) } });

  it('replaces how Kolla starts the main container, and nothing else', async () => {
    const { cloud } = await withSlice();
    const jobs = text(cloud, 'keystone-config-data', 'db-sync.config.json');
    const [memcached, keystone] = ['memcached -m 1', 'uwsgi --ini /etc/uwsgi/keystone.ini --stats 127.0.0.1:1717'];
    cloud.apply(slice({ memcached: own(memcached), mariadb: own('mariadbd'), keystone: own(keystone) }));
    await cloud.ready(OpenStackControlPlane, 'slice');
    await cloud.settle();
    expect(text(cloud, 'keystone-config-data', 'keystone.config.json')).toBe(start(keystone));
    expect(text(cloud, 'keystone-config-data', 'db-sync.config.json')).toBe(jobs);
    expect(text(cloud, 'memcached-config-data', 'memcached.config.json')).toBe(start(memcached));
    expect(text(cloud, 'mariadb-config-data', 'mariadb.config.json')).toBe(start('mariadbd'));
    expect(mounted(cloud, Deployment, 'keystone-api')).not.toContain('config.json');
  });

  it('of a template is for its pods, of the object for its main ones', async () => {
    const cloud = await readyCloud({
      heat: {
        enabled: true,
        ...own('uwsgi --ini /etc/uwsgi/heat.ini -L'),
        engineServiceTemplate: own('heat-engine -d'),
      },
    });
    const command = (name: string) =>
      (JSON.parse(text(cloud, 'heat-config-data', `${name}.config.json`)) as { command: string }).command;
    expect(command('heat-api')).toBe('uwsgi --ini /etc/uwsgi/heat.ini -L');
    expect(command('heat-engine')).toBe('heat-engine -d');
    expect(command('heat-cfn')).toBe('uwsgi --ini /etc/uwsgi/heat-cfn.ini');
  });

  it('that is no JSON is told with field and line, and the pods run on', async () => {
    const story = await withSlice();
    const before = template(story.cloud, Deployment, 'keystone-api');
    const overwrite = (text: string) => slice({ keystone: { defaultConfigOverwrite: { 'config.json': text } } });
    story.cloud.apply(overwrite('{\n  "command": "uwsgi",\n}\n'));
    const field = 'spec.defaultConfigOverwrite[config.json]';
    await story.tells(
      Keystone,
      'keystone',
      'ConfigValid',
      'InvalidConfig',
      `${field} line 3, column 1: not valid JSON`,
    );
    story.cloud.apply(overwrite('{"config_files": []}'));
    await story.waits(Keystone, 'keystone', 'ConfigValid', 'InvalidConfig', `${field} line 1: command is missing`);
    expect(template(story.cloud, Deployment, 'keystone-api')).toEqual(before);
  });

  it.each([
    ['restricted', { podProfile: 'restricted', ...own('x') }, 'spec.podProfile restricted starts containers without'],
  ])('is refused under podProfile %s', async (_, keystone, words) => {
    const story = await withSlice();
    story.cloud.apply(slice({ keystone }));
    await story.tells(Keystone, 'keystone', 'ConfigValid', 'NotSupported', words, 'User: take it out');
  });
});

describe('customServiceConfigSecrets', { timeout: 120_000 }, () => {
  it('of MariaDB, RabbitMQ and Memcached comes after the text', async () => {
    const { cloud } = await withSlice();
    cloud.apply(
      secret('my', { b: '[mysqld]\nmax_connections = 2\n', a: '[mysqld]\nmax_connections = 1\n' }),
      secret('mq', { conf: 'heartbeat = 5\n' }),
      secret('mc', { args: '-I 4m' }),
      slice({
        mariadb: { customServiceConfig: '[mysqld]\nmax_connections = 0\n', customServiceConfigSecrets: ['my'] },
        rabbitmq: { customServiceConfigSecrets: ['mq'] },
        memcached: { customServiceConfig: '-R 1', customServiceConfigSecrets: ['mc'] },
      }),
    );
    await cloud.ready(OpenStackControlPlane, 'slice');
    await cloud.settle();
    const mariadb = text(cloud, 'mariadb-config-data', '02-mariadb-override.cnf');
    expect(mariadb.match(/max_connections = \d/g)).toEqual([0, 1, 2].map(n => `max_connections = ${n}`));
    expect(text(cloud, 'rabbitmq-config-data', '02-rabbitmq-override.conf')).toBe('heartbeat = 5\n');
    expect(text(cloud, 'memcached-config-data', 'memcached.config.json')).toContain('-R 1 -I 4m');
    cloud.apply(secret('mq', { conf: 'heartbeat = 6\n' }));
    await cloud.settle();
    expect(text(cloud, 'rabbitmq-config-data', '02-rabbitmq-override.conf')).toBe('heartbeat = 6\n');
  });

  it('of OVN and its controllers makes external-ids, the later ones last', async () => {
    const story = await Trouble.start();
    const { cloud } = story;
    const ids = (name: string) => ({ customServiceConfig: `x=${name}\n`, customServiceConfigSecrets: [name] });
    cloud.apply(
      secret('all', { ids: 'y=all\n' }),
      secret('nodes', { ids: 'y=nodes\n' }),
      ours('OVNNetwork', 'ovn', { ...ids('all'), controller: ids('nodes') }),
    );
    await cloud.settle();
    const script = text(cloud, 'ovn-config-data', 'vswitchd.sh');
    expect(script.match(/external-ids:[xy]=\w+/g)).toEqual(
      ['x=all', 'y=all', 'x=nodes', 'y=nodes'].map(id => `external-ids:${id}`),
    );
    cloud.apply(secret('nodes', { ids: 'fine=yes\nnot so\n' }));
    const words = ['spec.controller.customServiceConfigSecrets[0] (Secret nodes, key ids) line 2', 'User: '];
    await story.tells(OVNNetwork, 'ovn', 'InputReady', 'InvalidConfig', ...words);
  });

  it.each([
    [{ customServiceConfig: 'x=y\n' }, 'spec.northd.customServiceConfig is set'],
    [{ customServiceConfigSecrets: ['x'] }, 'spec.northd.customServiceConfigSecrets is set'],
  ])('text for ovn-northd is refused: it reads none (%#)', async (northd, words) => {
    const story = await Trouble.start();
    story.cloud.apply(ours('OVNNetwork', 'ovn', { northd }));
    await story.tells(OVNNetwork, 'ovn', 'InputReady', 'NotSupported', words, 'User: take it out', 'NB_Global');
  });
});
