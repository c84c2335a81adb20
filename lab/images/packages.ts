/** Debian packages of the root that all images share. One root for all: 35 names cost one layer. */
export const runtimePackages = [
  // what Kolla's base and openstack-base have
  ...[
    'adduser',
    'ca-certificates',
    'curl',
    'dumb-init',
    'gawk',
    'iproute2',
    'kmod',
    'lsof',
    'netbase',
    'procps',
    'socat',
    'sudo',
  ],
  // Python of the virtualenv; uwsgi of PyPI is linked with libpython and apt would drop it as unneeded
  ...['python3', 'python3-venv', 'python3-distutils', 'libpython3.11', 'uwsgi-core', 'uwsgi-plugin-python3'],
  ...['mariadb-server', 'mariadb-client', 'mariadb-backup', 'galera-4', 'expect', 'pv', 'rsync'],
  ...['rabbitmq-server', 'logrotate', 'memcached', 'haproxy'],
  ...['ovn-central', 'ovn-host', 'openvswitch-switch', 'tcpdump'],
  ...[
    'libvirt0',
    'libvirt-daemon-system',
    'libvirt-clients',
    'libvirt-daemon-driver-qemu',
    'qemu-system-x86',
    'qemu-utils',
    'genisoimage',
    'ebtables',
  ],
  ...[
    'openssh-server',
    'openssh-client',
    'dnsmasq-base',
    'dnsmasq-utils',
    'ipset',
    'iptables',
    'conntrack',
    'iputils-arping',
  ],
  ...[
    'iputils-ping',
    'keepalived',
    'radvd',
    'net-tools',
    'uuid-runtime',
    'ethtool',
    'mount',
    'nfs-common',
    'lvm2',
    'tzdata',
    'gettext-base',
  ],
  // shared libraries that wheels link with
  ...['libxml2', 'libxslt1.1', 'libyaml-0-2', 'libffi8', 'libssl3', 'libpcre2-8-0'],
] as const;

/** Only to compile the few packages without wheels; never part of an image. */
export const buildPackages = [
  ...[
    'build-essential',
    'python3-dev',
    'pkg-config',
    'libvirt-dev',
    'libpcre2-dev',
    'libssl-dev',
    'libffi-dev',
    'libxml2-dev',
  ],
  ...['libxslt1-dev', 'libyaml-dev', 'zlib1g-dev', 'gettext', 'libsasl2-dev', 'libldap-dev'],
] as const;
