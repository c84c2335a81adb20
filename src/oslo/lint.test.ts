import { describe, expect, it } from 'vitest';
import { type Finding, type LintContext, lint } from './lint.ts';
import { releases, schemaOf } from './options.ts';

const nova: LintContext = { service: 'nova', release: '2026.1' };
const short = ({ severity, code, line, column, suggestion }: Finding) =>
  [severity, code, line, column, suggestion].filter(part => part !== undefined).join(' ');
const check = (text: string, context: LintContext = nova) => lint(text, context).map(short);

describe('lint', () => {
  it.each([
    ['[DEFAULT]\ndebug = true\n'],
    ['[libvirt]\ncpu_mode = custom\ncpu_models = Cascadelake-Server,Skylake-Client\n'],
    ['[DEFAULT]\ncpu_allocation_ratio = 4.0\nram_allocation_ratio=1.5\nreserved_host_memory_mb: 512\n'],
    [
      '[pci]\ndevice_spec = {"vendor_id":"8086"}\ndevice_spec = {"vendor_id":"15b3"}\nalias = {"name":"a"}\nalias = {"name":"b"}\n',
    ],
    ['[LIBVIRT]\nvirt_type = qemu\n'],
    ['[vnc]\nserver_listen = $my_ip\nserver_proxyclient_address = "$my_ip"\n'],
    ['[compute]\ncpu_shared_set = 0-3\n\n# a comment\n; another\n'],
  ])('has nothing to say about %j in any release', text => {
    for (const release of releases) expect(check(text, { service: 'nova', release })).toEqual([]);
  });

  it.each([
    ['[DEFAULT]\ndebgu = true\n', 'error unknown-option 2 1 debug'],
    ['[DEFAULT]\ncpu_mode = none\n', 'error unknown-option 2 1 [libvirt] cpu_mode'],
    ['[libvirt]\ncpu-mode = none\n', 'error unknown-option 2 1 cpu_mode'],
    ['[DEFAULT]\nzzz_not_there = 1\n', 'error unknown-option 2 1'],
    ['[libvrit]\ncpu_mode = none\nvirt_type = kvm\n', 'error unknown-section 1 1 libvirt'],
    ['[default]\ndebug = true\n', 'error unknown-section 1 1 DEFAULT'],
    ['[DEFAULT]\ndebug = ture\n', 'error type 2 9'],
    ['[DEFAULT]\ndebug = true # while testing\n', 'error type 2 9'],
    ['[libvirt]\nrx_queue_size = 300\n', 'error choice 2 17'],
    ['[libvirt]\ncpu_mode = host_model\n', 'error choice 2 12'],
    ['[libvirt]\ncpu_mode = Custom\n', 'warning choice 2 12'],
    ['[DEFAULT]\ncpu_allocation_ratio = -1\n', 'error range 2 24'],
    ['[vnc]\nnovncproxy_port = 70000\n', 'error range 2 19'],
    ['[DEFAULT]\nvnc_enabled = true\n', 'warning renamed 2 1 [vnc] enabled'],
    ['[DEFAULT]\nvnc_enabled = maybe\n', 'warning renamed 2 1 [vnc] enabled|error type 2 15'],
    ['[DEFAULT]\ndebug = true\ndebug = false\n', 'warning repeated 3 1'],
    ['[libvirt]\ncpu_models = a,\n    # b,\n    c\n', 'warning comment-in-value 3 1'],
    ['[vnc]\nserver_listen = $my_pi\n', 'error substitution 2 17'],
    ['[DEFAULT]\n  debug = true\n', 'error syntax 2 3'],
    ['debug = true\n', 'error syntax 1 1'],
    ['[DEFAULT]\ntransport_url = rabbit://u:p@h:5672/\n', 'warning operator-owned 2 1'],
    ['[database]\nconnection = mysql+pymysql://u:p@h/nova\n', 'warning operator-owned 2 1'],
    ['[keystone_authtoken]\npassword = x\n', 'warning operator-owned 2 1'],
    ['[vault]\nroot_token_id = x\n', 'info plain-secret 2 1'],
    ['[glance]\nendpoint_override = http://u:p@h\n', 'info plain-secret 2 1'],
  ])('%j: %s', (text, expected) => {
    expect(check(text).join('|')).toBe(expected);
  });

  it('names the consequence of an owned key, and leaves it alone in what the operator generates', () => {
    const text = '[DEFAULT]\nhost = one\n';
    expect(lint(text, nova)[0]?.message).toContain('every pod reports the same identity');
    expect(lint(text, { ...nova, from: 'generated' })).toEqual([]);
  });

  it('takes secrets in a Secret for granted', () => {
    expect(check('[vault]\nroot_token_id = x\n', { ...nova, from: 'secret' })).toEqual([]);
  });

  it('says what is deprecated, and since when', () => {
    const found = lint(
      '[workarounds]\nrbd_volume_local_attach = true\n[keystone_authtoken]\nauth_uri = http://k\n',
      nova,
    );
    expect(found.find(each => each.key === 'auth_uri')?.message).toBe(
      'auth_uri is deprecated for removal since Queens: a later release will ignore it; use [keystone_authtoken] www_authenticate_uri',
    );
  });

  it('never shows a value', () => {
    const secret = 'hunter2';
    const texts = [
      `[keystone_authtoken]\npassword = pa$${secret}\n`,
      `[DEFAULT]\ndebug = ${secret}\n${secret}x = 1\n`,
      `[libvirt]\ncpu_mode = ${secret}\n`,
      `[glance]\npassword = ${secret}\n`,
    ];
    const said = texts.flatMap(text => lint(text, nova)).map(each => each.message.replaceAll(`${secret}x`, ''));
    expect(said.length).toBeGreaterThan(4);
    for (const message of said) expect(message).not.toContain(secret);
  });

  it('knows options that plug-ins register at run time', () => {
    expect(check('[keystone_authtoken]\nservice_type = compute\nsystem_scope = all\n')).toEqual([]);
    expect(
      check('[keystone_authtoken]\nauth_section = mine\n[mine]\nusername = u\nproject_domain_id = default\n'),
    ).toEqual([]);
    expect(check('[keystone_authtoken]\nusrename = x\n')).toEqual(['error unknown-option 2 1 username']);
    expect(check('[oslo_limit]\nauth_url = http://k\nendpoint_id = 1\n')).toEqual([]);
  });

  it('checks back ends of Cinder and stores of Glance against their own options', () => {
    const cinder: LintContext = { service: 'cinder', release: '2025.2' };
    const backend = '[DEFAULT]\nenabled_backends = ceph, lvm\n[ceph]\nrbd_pool = volumes\n';
    expect(check(backend, cinder)).toEqual([]);
    expect(check(`${backend}rbd_polo = x\n`, cinder)).toEqual(['error unknown-option 5 1 rbd_pool']);
    expect(check('[nfs1]\nvolume_driver = x\nnfs_mount_point_base = /m\nbackend_host = h\n', cinder)).toEqual([]);
    expect(check('[nfs1]\nwhatever = x\n', cinder)).toEqual(['error unknown-section 1 1']);
    const glance: LintContext = { service: 'glance', release: '2026.1' };
    const store = '[DEFAULT]\nenabled_backends = fast:rbd, slow : file\n[fast]\nrbd_store_pool = images\n';
    expect(check(`${store}[slow]\nfilesystem_store_datadir = /d\n`, glance)).toEqual([]);
    expect(check(`${store}filesystem_store_datadri = /d\n`, glance).join()).toContain('unknown-option 5 1');
    expect(check('[os_glance_staging_store]\nfilesystem_store_datadir = /d\n', glance)).toEqual([]);
  });

  it('reads Neutron text against neutron.conf and ml2_conf.ini, and the metadata agent with its OVN sections', () => {
    const text =
      '[DEFAULT]\ncore_plugin = ml2\n[ml2]\nmechanism_drivers = ovn\n[ovn]\nenable_distributed_floating_ip = true\n';
    expect(check(text, { service: 'neutron', release: '2026.1' })).toEqual([]);
    expect(check('[ovn]\nenable_distributed_floating_ip = maybe\n', { service: 'neutron', release: '2026.1' })).toEqual(
      ['error type 2 34'],
    );
    const agent = '[DEFAULT]\nnova_metadata_host = h\n[agent]\nroot_helper = sudo\n[ovn]\nneutron_sync_mode = off\n';
    expect(check(agent, { service: 'ovn-metadata-agent', release: '2025.1' })).toEqual([]);
  });

  it('takes the text of a control plane for known if any service knows it', () => {
    const context: LintContext = { service: 'controlplane', release: '2026.1' };
    expect(check('[DEFAULT]\ndebug = true\n[libvirt]\nvirt_type = qemu\n[fernet_tokens]\n', context)).toEqual([]);
    expect(check('[libvirt]\nvirt_typ = qemu\n', context)).toEqual(['error unknown-option 2 1 virt_type']);
  });

  it('checks only the syntax where there is no table', () => {
    expect(check('[x]\ny = 1\n', { service: 'nova', release: '2031.1' })).toEqual(['info no-table 1 1']);
    expect(check('[x\n', { service: 'nova', release: '2031.1' })).toEqual(['error syntax 1 3']);
  });

  it('answers for a hostile text: many sections, many unknown names', () => {
    const sections = Array.from({ length: 5_000 }, (_, index) => `[s${index}]\nk = v\n`).join('');
    expect(lint(sections, { service: 'controlplane', release: '2026.1' })).toHaveLength(5_000);
    const keys = Array.from({ length: 5_000 }, (_, index) => `unknown_${index} = v\n`).join('');
    expect(lint(`[DEFAULT]\n${keys}`, nova)).toHaveLength(5_000);
  });
});

describe('the defaults of the tables', () => {
  it.each(releases)('pass the linter in %s, so it cries wolf for no default of any service', release => {
    for (const service of ['cinder', 'glance', 'heat', 'keystone', 'neutron', 'nova', 'placement']) {
      const schema = schemaOf(service, release);
      const options = (schema?.sections ?? []).flatMap(section => [...(schema?.section(section)?.values() ?? [])]);
      const scalars = options.filter(({ d }) => ['string', 'number', 'boolean'].includes(typeof d));
      expect(scalars.length).toBeGreaterThan(50);
      const text = scalars.map(({ section, name, d }) => `[${section}]\n${name} = ${d}\n`).join('');
      const errors = lint(text, { service, release, from: 'generated' }).filter(each => each.severity === 'error');
      expect({ service, errors }).toEqual({ service, errors: [] });
    }
  });
});
