import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { paths } from '../paths.ts';
import { phase } from '../progress.ts';
import { releaseRoot } from './build.ts';
import { cephClientRoot } from './ceph.ts';
import { contents, readRecipe } from './kolla.ts';
import { imageNames, imageReference, type Release, releaseFacts } from './names.ts';
import { type Image, image, type Layer, layer } from './oci.ts';

/** Where Kolla keeps each image: by the name of the folder of its Dockerfile. */
function dockerfiles(folder: string): Map<string, string> {
  const found = new Map<string, string>();
  const walk = (at: string): void => {
    for (const entry of readdirSync(at, { withFileTypes: true })) {
      if (entry.isDirectory()) walk(join(at, entry.name));
      else if (entry.name === 'Dockerfile.j2') found.set(basename(at), at);
    }
  };
  walk(folder);
  return found;
}

/** What makes one name different from all others: start hooks, sudo rules, a marker with its name. */
async function thinLayer(
  name: string,
  files: ReturnType<typeof contents>['files'],
  extra: Record<string, string>,
): Promise<Layer> {
  const hash = createHash('sha256').update(name);
  mkdirSync(join(paths.images, 'oci'), { recursive: true });
  const stage = mkdtempSync(join(paths.images, 'oci', 'stage-'));
  try {
    for (const [path, { from, mode }] of files) {
      const target = join(stage, path);
      hash.update(`${path} ${mode}`);
      mkdirSync(dirname(target), { recursive: true });
      if (from === undefined) writeFileSync(target, '');
      else if (!existsSync(from) || statSync(from).isDirectory()) continue;
      else {
        copyFileSync(from, target);
        hash.update(readFileSync(from, 'utf8'));
      }
      chmodSync(target, Number.parseInt(mode, 8));
    }
    if (existsSync(join(stage, 'etc/sudoers.d'))) chmodSync(join(stage, 'etc/sudoers.d'), 0o750);
    for (const [path, text] of Object.entries(extra)) {
      hash.update(`${path} ${text}`);
      mkdirSync(dirname(join(stage, path)), { recursive: true });
      writeFileSync(join(stage, path), text);
    }
    mkdirSync(join(stage, 'etc'), { recursive: true });
    writeFileSync(join(stage, 'etc/kolla-image'), `${name}\n`);
    for (const folder of ['', 'etc', 'etc/default', 'usr', 'usr/local', 'usr/local/bin']) {
      if (existsSync(join(stage, folder))) chmodSync(join(stage, folder), 0o755);
    }
    return await layer(hash.digest('hex').slice(0, 24), stage);
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

/**
 * Byte code is never compared with its source here (build.ts), and Horizon's settings are a file that each pod brings:
 * a whiteout takes away what was compiled from the example.
 */
const staleSettings = {
  '/var/lib/kolla/venv/lib/python3.11/site-packages/openstack_dashboard/local/.wh.__pycache__': '',
};

const EXCLUDES = ['./proc/*', './sys/*', './dev/*', './tmp/*', './var/cache/apt/*', './var/lib/apt/lists/*'];

/**
 * All images of a release: Debian and the virtualenv are two layers that every name shares. Ceph's client lies on top
 * of them, so that the two are unpacked once for the names with it and those without.
 */
export async function openstackImages(release: Release): Promise<Image[]> {
  const roots = await releaseRoot(release);
  const client = await cephClientRoot();
  return phase(`images:pack-${release}`, `pack ${imageNames.length} images of ${release}`, async note => {
    note('Debian layer');
    const debian = await layer(basename(dirname(roots.debian)), roots.debian, ['.'], EXCLUDES);
    note("layer of Ceph's client");
    const ceph = await layer(basename(dirname(client)), client, ['.'], EXCLUDES);
    note('virtualenv layer');
    const members = ['var/lib/kolla', 'etc', 'usr/local/bin'];
    const venv = await layer(basename(roots.release), join(roots.release, 'root'), members, ['etc/resolv.conf']);
    const kolla = join(roots.release, 'kolla');
    const where = dockerfiles(kolla);
    const recipe = (name: string): { folder: string; recipe: ReturnType<typeof readRecipe> } => {
      const folder = where.get(name);
      if (folder === undefined) throw new Error(`kolla ${releaseFacts[release].kolla} has no image ${name}`);
      return { folder, recipe: readRecipe(readFileSync(join(folder, 'Dockerfile.j2'), 'utf8')) };
    };
    // The last line of Apache's hook fails, and the start with it, unless this file of Debian's locales exists.
    const extra: Record<string, string> = releaseFacts[release].apache
      ? { '/etc/default/locale': 'LANG=C.UTF-8\n' }
      : {};
    const made: Image[] = [];
    for (const name of imageNames) {
      if (!where.has(name)) continue;
      note(name);
      const inside = contents(name, recipe);
      const own = name === 'horizon' ? { ...extra, ...staleSettings } : extra;
      const thin = await thinLayer(name, inside.files, own);
      made.push(
        image(imageReference(name, release), [debian, venv, ...(inside.ceph ? [ceph] : []), thin], {
          user: inside.user,
          entrypoint: inside.entrypoint,
          command: ['kolla_start'],
          env: {
            PATH: '/var/lib/kolla/venv/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
            LANG: 'C.UTF-8',
            KOLLA_BASE_DISTRO: 'debian',
            KOLLA_BASE_ARCH: 'x86_64',
            KOLLA_SERVICE_NAME: name,
          },
        }),
      );
    }
    return made;
  });
}
