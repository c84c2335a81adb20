import { join } from 'node:path';
import { must } from '../shell.ts';
import { debianRoot, keyOf, log, once } from './build.ts';
import { inside } from './root.ts';

/** What Kolla's images with Ceph have, and the driver by which qemu opens disks there. */
const CLIENT = ['ceph-common', 'python3-rados', 'python3-rbd', 'python3-cephfs', 'qemu-block-extra'];
const DAEMONS = ['ceph-mon', 'ceph-mgr', 'ceph-mgr-modules-core', 'ceph-osd', 'radosgw'];

const SITE = '/var/lib/kolla/venv/lib/python3.11/site-packages';
const PYTHON = '/usr/lib/python3/dist-packages';

const install = (packages: readonly string[]): string => `
apt-get -q update
apt-get -q install -y ${packages.join(' ')}
rm -rf /var/lib/apt/lists/* /var/log/*.log /var/log/apt`;

/** The bindings are of Debian's Python, which is the virtualenv's too; it does not look beside itself. */
const bindings = `
mkdir -p ${SITE}
for name in rados rbd; do ln -s ${PYTHON}/$name.cpython-311-x86_64-linux-gnu.so ${SITE}/; done
python3 -c 'import sys; sys.path.insert(0, "${SITE}"); import rados, rbd'
rm -rf /etc/ceph/rbdmap`;

/** A layer can't say by tar alone that a file of a lower one is gone. */
async function onlyAdds(root: string): Promise<void> {
  const gone = (await must('find', [root, '-type', 'c'])).trim();
  if (gone !== '') throw new Error(`a layer removes files of the one below, which is not packed: ${gone}`);
}

/** What is added to Debian for those who use Ceph. A layer of its own: the others stay as they are. */
export async function cephClientRoot(): Promise<string> {
  const debian = await debianRoot();
  const script = install(CLIENT) + bindings;
  const folder = await once('ceph', "Ceph's client", keyOf(debian, script, 1), async (part, note) => {
    await inside({ lower: [join(debian, 'root')], upper: join(part, 'root') }, script, log, note);
    await onlyAdds(join(part, 'root'));
  });
  return join(folder, 'root');
}

/** Folders that, laid over each other, are a host with Ceph's daemons; topmost first. */
export async function cephRoots(): Promise<string[]> {
  const [debian, client] = [await debianRoot(), await cephClientRoot()];
  const script = install(DAEMONS);
  const folder = await once('ceph-daemons', "Ceph's daemons", keyOf(client, script, 1), async (part, note) => {
    await inside({ lower: [client, join(debian, 'root')], upper: join(part, 'root') }, script, log, note);
  });
  return [join(folder, 'root'), client, join(debian, 'root')];
}
