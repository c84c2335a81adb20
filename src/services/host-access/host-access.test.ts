import { describe, expect, it } from 'vitest';
import { commandRefused, hostAccess } from './index.ts';

const fields = (kind: string, spec: object, env = {}, children = true): string[] =>
  hostAccess({ kind, spec }, env, children).map(({ field }) => field);
const pod = (spec: object) => ({ override: { podTemplate: { spec } } });
const container = (more: object) => pod({ containers: [{ name: 'keystone', ...more }] });
const security = (securityContext: unknown) => container({ securityContext });
const POD = 'spec.override.podTemplate.spec';
const CONTAINER = `${POD}.containers[0]`;

describe('what a pod template of a user may not have', () => {
  it.each<[string, object, string]>([
    ['privileged', security({ privileged: true }), `${CONTAINER}.securityContext.privileged`],
    ['as text', security({ privileged: 'true' }), `${CONTAINER}.securityContext.privileged`],
    [
      'escalation',
      security({ allowPrivilegeEscalation: true }),
      `${CONTAINER}.securityContext.allowPrivilegeEscalation`,
    ],
    [
      'our escalation taken away',
      security({ allowPrivilegeEscalation: null }),
      `${CONTAINER}.securityContext.allowPrivilegeEscalation`,
    ],
    ['our restrictions taken away', security(null), `${CONTAINER}.securityContext`],
    ['those of the pod', pod({ securityContext: null }), `${POD}.securityContext`],
    ['capabilities', security({ capabilities: { add: ['NET_RAW'] } }), `${CONTAINER}.securityContext.capabilities`],
    ['fewer dropped', security({ capabilities: { drop: ['NET_RAW'] } }), `${CONTAINER}.securityContext.capabilities`],
    ['none dropped', security({ capabilities: { drop: null } }), `${CONTAINER}.securityContext.capabilities`],
    ['all of them back', security({ capabilities: null }), `${CONTAINER}.securityContext.capabilities`],
    ['root', security({ runAsUser: 0 }), `${CONTAINER}.securityContext.runAsUser`],
    ['the user of the image', security({ runAsUser: null }), `${CONTAINER}.securityContext.runAsUser`],
    ['perhaps root', pod({ securityContext: { runAsNonRoot: false } }), `${POD}.securityContext.runAsNonRoot`],
    ['proc', security({ procMount: 'Unmasked' }), `${CONTAINER}.securityContext.procMount`],
    ['no seccomp', security({ seccompProfile: { type: 'Unconfined' } }), `${CONTAINER}.securityContext.seccompProfile`],
    [
      'no AppArmor',
      security({ appArmorProfile: { type: 'Unconfined' } }),
      `${CONTAINER}.securityContext.appArmorProfile`,
    ],
    ['SELinux', security({ seLinuxOptions: { type: 'spc_t' } }), `${CONTAINER}.securityContext.seLinuxOptions`],
    [
      'Windows',
      security({ windowsOptions: { hostProcess: true } }),
      `${CONTAINER}.securityContext.windowsOptions.hostProcess`,
    ],
    ['the network of the node', pod({ hostNetwork: true }), `${POD}.hostNetwork`],
    ['its processes', pod({ hostPID: true }), `${POD}.hostPID`],
    ['its memory', pod({ hostIPC: true }), `${POD}.hostIPC`],
    ['a port of it', container({ ports: [{ containerPort: 1, hostPort: 80 }] }), `${CONTAINER}.ports[0].hostPort`],
    ['a sysctl', pod({ securityContext: { sysctls: [{ name: 'kernel.msgmax' }] } }), `${POD}.securityContext.sysctls`],
    ['a token', pod({ automountServiceAccountToken: true }), `${POD}.automountServiceAccountToken`],
    ['a token by default', pod({ automountServiceAccountToken: null }), `${POD}.automountServiceAccountToken`],
    ['another account', pod({ serviceAccountName: 'default' }), `${POD}.serviceAccountName`],
    ['its old name', pod({ serviceAccount: 'default' }), `${POD}.serviceAccount`],
    [
      'an init container',
      pod({ initContainers: [{ name: 'a', image: 'b', securityContext: { privileged: true } }] }),
      `${POD}.initContainers[0].securityContext.privileged`,
    ],
    [
      'an ephemeral one',
      pod({ ephemeralContainers: [{ name: 'a', securityContext: { privileged: true } }] }),
      `${POD}.ephemeralContainers[0].securityContext.privileged`,
    ],
    [
      'mounts on the node',
      container({ volumeMounts: [{ mountPath: '/a', mountPropagation: 'Bidirectional' }] }),
      `${CONTAINER}.volumeMounts[0].mountPropagation`,
    ],
    [
      'calls by the kubelet',
      container({ livenessProbe: { httpGet: { host: '127.0.0.1', port: 1 } } }),
      `${CONTAINER}.livenessProbe.httpGet`,
    ],
    [
      'a profile by annotation',
      {
        override: {
          podTemplate: {
            metadata: { annotations: { 'container.apparmor.security.beta.kubernetes.io/keystone': 'unconfined' } },
          },
        },
      },
      'spec.override.podTemplate.metadata.annotations[container.apparmor.security.beta.kubernetes.io/keystone]',
    ],
    [
      'addresses of others',
      { override: { service: { spec: { externalIPs: ['10.0.0.1'] } } } },
      'spec.override.service.spec.externalIPs',
    ],
  ])('%s', (_what, spec, field) => {
    expect(fields('Keystone', spec)).toEqual([field]);
  });

  it.each<[string, object, string]>([
    ['a path of the node', { hostPath: { path: '/' } }, 'hostPath'],
    ['a driver of any kind', { csi: { driver: 'hostpath.csi.k8s.io' } }, 'csi'],
    ['the drivers of before', { flexVolume: { driver: 'a/b' } }, 'flexVolume'],
    ['storage of the network', { nfs: { server: 'a', path: '/' } }, 'nfs'],
    ['a source nobody knows yet', { hostDisk: {} }, 'hostDisk'],
    [
      'a token',
      { projected: { sources: [{ configMap: {} }, { serviceAccountToken: { path: 't' } }] } },
      'projected.sources[1].serviceAccountToken',
    ],
    [
      'a volume of its choice',
      { ephemeral: { volumeClaimTemplate: { spec: { volumeName: 'pv-of-the-node' } } } },
      'ephemeral.volumeClaimTemplate.spec.volumeName',
    ],
    [
      'one by labels',
      { ephemeral: { volumeClaimTemplate: { spec: { selector: {} } } } },
      'ephemeral.volumeClaimTemplate.spec.selector',
    ],
  ])('%s as a volume, in a template and as extraMount', (_what, source, field) => {
    expect(fields('Keystone', pod({ volumes: [{ name: 'a', ...source }] }))).toEqual([`${POD}.volumes[0].${field}`]);
    const extraMounts = [
      { name: 'ok', mountPath: '/b', secret: {} },
      { name: 'a', mountPath: '/a', ...source },
    ];
    expect(fields('Keystone', { extraMounts })).toEqual([`spec.extraMounts[1].${field}`]);
    expect(fields('Heat', { engineServiceTemplate: { extraMounts } })).toEqual([
      `spec.engineServiceTemplate.extraMounts[1].${field}`,
    ]);
  });

  it('what stays in the pod may be anything', () => {
    const spec = {
      image: 'example.org/keystone:1',
      images: { keystone: 'example.org/keystone:1' },
      imageRegistry: 'example.org',
      defaultConfigOverwrite: { 'config.json': '{"command": "sleep 1"}' },
      customServiceConfig: '[a]\nhelper_command = x\n',
      extraMounts: [
        { name: 'a', mountPath: '/a', configMap: { name: 'privileged' } },
        { name: 'b', mountPath: '/b', persistentVolumeClaim: { claimName: 'hostPath' } },
        { name: 'c', mountPath: '/c', csi: { driver: 'secrets-store.csi.k8s.io' } },
        { name: 'd', mountPath: '/d', ephemeral: { volumeClaimTemplate: { spec: { storageClassName: 'fast' } } } },
      ],
      override: {
        podTemplate: {
          metadata: { labels: { hostNetwork: 'true' }, annotations: { privileged: 'true' } },
          spec: {
            hostNetwork: false,
            nodeSelector: { hostPath: 'a' },
            securityContext: { runAsUser: 1000, sysctls: [{ name: 'net.ipv4.tcp_keepalive_time' }] },
            containers: [
              {
                name: 'keystone',
                env: [{ name: 'privileged', value: 'true' }],
                resources: { limits: { hostPort: 1 } },
              },
              { name: 'proxy', image: 'example.org/proxy:1', securityContext: { capabilities: { drop: ['ALL'] } } },
            ],
          },
        },
        service: { spec: { type: 'NodePort' } },
      },
    };
    expect(fields('Keystone', spec)).toEqual([]);
  });

  it('names of fields that every object has are no rules', () => {
    const spec = JSON.parse(
      '{"constructor": {"toString": {}}, "override": {"podTemplate": {"spec": {"constructor": 1}}}}',
    );
    expect(fields('Keystone', spec)).toEqual([]);
    expect(fields('constructor', spec)).toEqual([]);
  });
});

describe('pods that have rights on the node', () => {
  const program = container({ name: 'x', image: 'example.org/x:1' });
  it.each<[string, object, string[]]>([
    ['NovaCompute', { image: 'example.org/compute:1' }, ['spec.image']],
    ['NovaCompute', { computeDriver: 'ironic', image: 'example.org/compute:1', ...program }, []],
    ['NovaCompute', container({ command: ['sh'] }), [`${CONTAINER}.command`]],
    ['NovaCompute', container({ env: [] }), [`${CONTAINER}.env`]],
    ['NovaCompute', container({ lifecycle: {} }), [`${CONTAINER}.lifecycle`]],
    ['NovaCompute', pod({ volumes: [{ name: 'dev', emptyDir: {} }] }), [`${POD}.volumes`]],
    ['NovaCompute', pod({ initContainers: [{ name: 'a', image: 'b' }] }), [`${POD}.initContainers`]],
    ['NovaCompute', pod({ shareProcessNamespace: true }), [`${POD}.shareProcessNamespace`]],
    ['NovaCompute', { extraMounts: [{ name: 'a', mountPath: '/usr/bin', configMap: {} }] }, ['spec.extraMounts']],
    ['NovaCompute', { defaultConfigOverwrite: { 'config.json': '{}' } }, ['spec.defaultConfigOverwrite[config.json]']],
    ['NovaCompute', { images: { 'nova-libvirt': 'example.org/a' } }, ['spec.images[nova-libvirt]']],
    ['NovaCompute', { imageRegistry: 'example.org' }, ['spec.imageRegistry']],
    ['NovaCompute', { customServiceConfig: '[privsep]\nhelper_command = sh -c id\n' }, ['spec.customServiceConfig']],
    ['NovaCompute', { customServiceConfig: '[agent]\nroot-helper = sudo sh\n' }, ['spec.customServiceConfig']],
    ['OVNNetwork', { controller: { image: 'example.org/a' } }, ['spec.controller.image']],
    ['OVNNetwork', { image: 'example.org/northd' }, []],
    [
      'OVNNetwork',
      { metadataAgent: container({ args: [] }) },
      ['spec.metadataAgent.override.podTemplate.spec.containers[0].args'],
    ],
    ['OVNNetwork', container({ name: 'ovs-vswitchd', command: ['sh'] }), [`${CONTAINER}.command`]],
    ['OVNNetwork', container({ name: 'ovn-nb', command: ['sh'] }), []],
    ['OVNNetwork', container({ name: 'new', image: 'example.org/a' }), [`${CONTAINER}.image`]],
    ['Neutron', { agentTemplates: { l3: { image: 'example.org/a' } } }, []],
    [
      'Neutron',
      { mechanism: 'ovs', agentTemplates: { l3: { image: 'example.org/a' } } },
      ['spec.agentTemplates.l3.image'],
    ],
    ['Cinder', { backends: [{ name: 'a', type: 'ceph', image: 'example.org/a' }] }, []],
    [
      'Cinder',
      {
        backends: [
          { name: 'a', type: 'ceph' },
          { name: 'b', type: 'lvm', image: 'example.org/a' },
        ],
      },
      ['spec.backends[name=b].image'],
    ],
    ['Cinder', { backends: [{ name: 'a', type: 'nfs' }], ...container({ name: 'cinder-api', env: [] }) }, []],
    [
      'Cinder',
      { backends: [{ name: 'a', type: 'nfs' }], ...container({ name: 'cinder-volume-a', env: [] }) },
      [`${CONTAINER}.env`],
    ],
  ])('%s %j', (kind, spec, wanted) => {
    expect(fields(kind, spec)).toEqual(wanted);
  });

  it('may be placed, sized and annotated', () => {
    const spec = {
      override: {
        podTemplate: {
          metadata: { annotations: { a: 'b' } },
          spec: { tolerations: [], nodeSelector: {}, containers: [{ name: 'nova-compute', resources: {} }] },
        },
      },
    };
    expect(fields('NovaCompute', spec)).toEqual([]);
  });

  it('are found below Nova and the control plane, and each object is asked for its own only', () => {
    const bad = { image: 'example.org/a' };
    const nova = {
      cellTemplates: { cell1: { novaComputeTemplates: { a: bad, b: { ...bad, computeDriver: 'fake' } } } },
    };
    const field = 'cellTemplates.cell1.novaComputeTemplates.a.image';
    expect(fields('Nova', nova)).toEqual([`spec.${field}`]);
    expect(fields('Nova', nova, {}, false)).toEqual([]);
    expect(fields('NovaCell', nova.cellTemplates.cell1, {}, false)).toEqual([]);
    const cloud = {
      networkBackend: 'ovs',
      storageBackend: 'lvm',
      imageRegistry: 'example.org',
      images: { keystone: 'example.org/a', 'nova-compute': 'example.org/a' },
      customServiceConfig: '[DEFAULT]\nrootwrap_config = /a\n',
      keystone: pod({ hostPID: true }),
      nova,
      neutron: { agentTemplates: { l2: bad } },
      cinder: container({ name: 'cinder-volume-lvm', env: [] }),
    };
    expect(fields('OpenStackControlPlane', cloud)).toEqual([
      'spec.imageRegistry',
      'spec.images[nova-compute]',
      'spec.customServiceConfig',
      'spec.keystone.override.podTemplate.spec.hostPID',
      `spec.nova.${field}`,
      'spec.neutron.agentTemplates.l2.image',
      'spec.cinder.override.podTemplate.spec.containers[0].env',
    ]);
  });

  it('take images from where the operator takes its own', () => {
    const from = (image: string, env: object = {}) => fields('NovaCompute', { image }, env).length === 0;
    expect(from('quay.io/openstack.kolla/nova-compute:x')).toBe(true);
    expect(from('quay.io/openstack.kolla.evil/nova-compute:x')).toBe(false);
    expect(from('quay.io/somebody/nova-compute:x')).toBe(false);
    expect(from('mirror.example/openstack.kolla/a', { IMAGE_REGISTRY: 'mirror.example/' })).toBe(true);
    expect(from('mirror.example.evil/a', { IMAGE_REGISTRY: 'mirror.example' })).toBe(false);
    expect(from('a.example/x', { TRUSTED_REGISTRIES: 'b.example, a.example' })).toBe(true);
    expect(from('c.example/x:1', { RELATED_IMAGE_NOVA_COMPUTE: 'c.example/x:1' })).toBe(true);
    expect(from('c.example/x:2', { RELATED_IMAGE_NOVA_COMPUTE: 'c.example/x:1' })).toBe(false);
    expect(fields('NovaCompute', { imageRegistry: 'a.example' }, { TRUSTED_REGISTRIES: 'a.example' })).toEqual([]);
  });
});

it('the flag of the operator allows all of it', () => {
  const spec = { ...pod({ hostPID: true }), image: 'example.org/a', extraMounts: [{ name: 'a', hostPath: {} }] };
  expect(fields('NovaCompute', spec)).toHaveLength(3);
  expect(fields('NovaCompute', spec, { ALLOW_HOST_ACCESS: 'true' })).toEqual([]);
  expect(fields('NovaCompute', spec, { ALLOW_HOST_ACCESS: '1' })).toHaveLength(3);
});

it('a command in a Secret counts where pods with rights on the node read it', () => {
  const text = '[privsep]\nhelper_command = sh\n';
  expect(commandRefused({ kind: 'NovaCompute', spec: {} }, text, {})).toBe('helper_command');
  expect(commandRefused({ kind: 'NovaCompute', spec: {} }, '[DEFAULT]\ndebug = true\n', {})).toBeUndefined();
  expect(commandRefused({ kind: 'NovaCompute', spec: {} }, text, { ALLOW_HOST_ACCESS: 'true' })).toBeUndefined();
  expect(commandRefused({ kind: 'Keystone', spec: {} }, text, {})).toBeUndefined();
});
