import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { DaemonSet, Deployment, Job, Node, Secret, StatefulSet } from '../../src/kube/resource.ts';
import { Cloud, NS } from '../functional/cloud.ts';

/** The oslo files of one process, as they lie in its container. */
export interface Rendered {
  /** Who reads them: a workload and its container, or a Secret for hosts outside. */
  readonly name: string;
  /** The folder below /etc, and the program where that decides which options are registered. */
  readonly service: string;
  readonly files: readonly { readonly path: string; readonly text: string }[];
}

/**
 * Every config file that a cloud of this release runs with: the defaults, and a second cloud where everything that
 * adds an option is turned on. Rendered by the operator itself, in the embedded world.
 */
export async function render(release: string): Promise<Rendered[]> {
  const found: Rendered[] = [];
  for (const [variant, spec] of Object.entries(variants)) {
    const cloud = await Cloud.start();
    const [node] = cloud.hands.list(Node, '');
    const labels = { 'openstack.k8s.io/compute': '', 'openstack.k8s.io/gateway': '' };
    cloud.hands.patch(Node, '', node!.metadata.name, { metadata: { labels } });
    cloud.apply({
      apiVersion: 'openstack.k8s.io/v1alpha1',
      kind: 'OpenStackControlPlane',
      metadata: { name: 'cloud' },
      spec: { release, ...spec },
    });
    await cloud.ready(OpenStackControlPlane, 'cloud');
    await cloud.settle();
    for (const one of collect(cloud)) found.push({ ...one, name: `${variant}: ${one.name}` });
  }
  return distinct(found);
}

const compute = (computeDriver: string, more: object = {}) => ({ computeDriver, ...more });

/** What each turns on is read by some `if` of a config function; the defaults leave it out. */
const variants: Readonly<Record<string, object>> = {
  defaults: {},
  everything: {
    keystone: { tokenExpiration: 7200, fernetRotation: { maxActiveKeys: 5 } },
    glance: { importMethods: ['glance-direct', 'web-download'] },
    ovn: { encapType: 'vxlan', bridgeMappings: { physnet1: 'br-ex' } },
    neutron: { mtu: 9000, dnsDomain: 'cloud.example.' },
    nova: {
      cellTemplates: {
        cell0: {},
        cell1: {
          metadataServiceTemplate: { enabled: true },
          novaComputeTemplates: {
            libvirt: compute('libvirt', { virtType: 'qemu' }),
            fake: compute('fake'),
            ironic: compute('ironic', { replicas: 1 }),
          },
        },
      },
    },
  },
};

function collect(cloud: Cloud): Rendered[] {
  const texts = (name: string): Record<string, string> => {
    const data = (cloud.get(Secret, name)?.data ?? {}) as Record<string, string>;
    return Object.fromEntries(
      Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]),
    );
  };
  const pods = [Deployment, StatefulSet, DaemonSet, Job].flatMap(resource =>
    cloud.hands
      .list(resource, NS)
      .map(object => ({ name: `${resource.kind} ${object.metadata.name}`, spec: podOf(object) })),
  );
  const found = pods.flatMap(pod =>
    pod.spec.containers.map(container => {
      const files = container.volumeMounts.flatMap(mount => {
        const volume = pod.spec.volumes.find(v => v.name === mount.name)?.secret;
        if (!volume) return [];
        const secret = texts(volume.secretName);
        const inside = (volume.items ?? []).map(item => ({
          path: `${mount.mountPath}/${item.path}`,
          text: secret[item.key]!,
        }));
        const start = inside.find(file => file.path.endsWith('/config_files/config.json'));
        return start ? copied(start.text, inside) : inside;
      });
      return { name: pod.name, service: serviceOf(files, container.command), files: files.filter(isOslo) };
    }),
  );
  // For hosts outside the cluster: nobody here mounts them.
  for (const { metadata } of cloud.hands.list(Secret, NS)) {
    const agent = metadata.name.endsWith('metadata-compute-config');
    if (!agent && !metadata.name.endsWith('-compute-config')) continue;
    const files = Object.entries(texts(metadata.name)).map(([key, text]) => ({ path: `/etc/${key}`, text }));
    found.push({ name: `Secret ${metadata.name}`, service: agent ? 'neutron-ovn-agent' : 'nova', files });
  }
  return found.filter(one => one.files.length > 0);
}

/** What Kolla's start script puts where. */
function copied(description: string, inside: readonly { path: string; text: string }[]) {
  const { config_files } = JSON.parse(description) as { config_files: { source: string; dest: string }[] };
  return config_files.map(({ source, dest }) => ({
    path: dest,
    text: inside.find(file => file.path === source)!.text,
  }));
}

const isOslo = ({ path }: { path: string }): boolean =>
  /\.(conf|ini)$/.test(path) &&
  /\/etc\/(keystone|glance|placement|neutron|nova)\//.test(path) &&
  !path.endsWith('uwsgi.ini');

function serviceOf(files: readonly { path: string; text: string }[], command: readonly string[]): string {
  if (command.includes('neutron-ovn-agent')) return 'neutron-ovn-agent';
  return files.filter(isOslo)[0]?.path.split('/')[2] ?? '';
}

interface PodSpec {
  containers: { command: string[]; volumeMounts: { name: string; mountPath: string }[] }[];
  volumes: { name: string; secret?: { secretName: string; items?: { key: string; path: string }[] } }[];
}
const podOf = (object: AnyObject): PodSpec => (object.spec as { template: { spec: PodSpec } }).template.spec;

/** Most processes of a service read the same text: once is enough. */
function distinct(found: readonly Rendered[]): Rendered[] {
  const seen = new Map<string, Rendered>();
  for (const one of found) {
    const key = JSON.stringify([one.service, one.files]);
    const known = seen.get(key);
    seen.set(key, known ? { ...known, name: `${known.name}, ${one.name}` } : one);
  }
  return [...seen.values()];
}
