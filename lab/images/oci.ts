import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { paths } from '../paths.ts';
import { must } from '../shell.ts';
import { sha256 } from '../tools.ts';

export interface Layer {
  readonly digest: string;
  readonly size: number;
}

export interface ImageConfig {
  readonly user?: string;
  readonly env?: Record<string, string>;
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
}

export interface Image {
  readonly reference: string;
  readonly digest: string;
  readonly size: number;
  readonly layers: readonly Layer[];
  readonly config: Layer;
}

const store = join(paths.images, 'oci');
const blobs = join(store, 'blobs', 'sha256');
export const blobPath = (digest: string): string => join(blobs, digest.slice('sha256:'.length));

/** One moment for all files: the same content is the same layer on every machine and every day. */
const MOMENT = '@1700000000';
const CREATED = '2023-11-14T22:13:20Z';

function putBlob(content: string): Layer {
  mkdirSync(blobs, { recursive: true });
  const digest = `sha256:${createHash('sha256').update(content).digest('hex')}`;
  if (!existsSync(blobPath(digest))) {
    writeFileSync(`${blobPath(digest)}.part`, content);
    renameSync(`${blobPath(digest)}.part`, blobPath(digest));
  }
  return { digest, size: Buffer.byteLength(content) };
}

const noteOf = (key: string): string => join(store, `layer-${key}.json`);

function knownLayer(key: string): Layer | undefined {
  if (!existsSync(noteOf(key))) return undefined;
  const known = JSON.parse(readFileSync(noteOf(key), 'utf8')) as Layer;
  return existsSync(blobPath(known.digest)) && statSync(blobPath(known.digest)).size === known.size ? known : undefined;
}

/** Packed once per key. Uncompressed, because both ends are this machine. */
export async function layer(
  key: string,
  folder: string,
  members: readonly string[] = ['.'],
  excludes: readonly string[] = [],
): Promise<Layer> {
  mkdirSync(blobs, { recursive: true });
  const known = knownLayer(key);
  if (known !== undefined) return known;
  const part = join(store, `layer-${key}.part`);
  await must('tar', [
    ...['--create', '--file', part, '--directory', folder, '--numeric-owner', '--sort=name', `--mtime=${MOMENT}`],
    ...[
      '--format=posix',
      '--pax-option=exthdr.name=%d/PaxHeaders/%f,delete=atime,delete=ctime',
      '--xattrs',
      '--xattrs-include=security.capability',
    ],
    ...excludes.map(each => `--exclude=${each}`),
    ...members,
  ]);
  const digest = `sha256:${await sha256(part)}`;
  renameSync(part, blobPath(digest));
  const made = { digest, size: statSync(blobPath(digest)).size };
  writeFileSync(noteOf(key), JSON.stringify(made));
  return made;
}

export function image(reference: string, layers: readonly Layer[], config: ImageConfig): Image {
  const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
  const env = Object.entries({ PATH: path, ...config.env }).map(([name, value]) => `${name}=${value}`);
  const described = putBlob(
    JSON.stringify({
      created: CREATED,
      architecture: 'amd64',
      os: 'linux',
      config: {
        Env: env,
        WorkingDir: '/',
        ...(config.user === undefined ? {} : { User: config.user }),
        ...(config.entrypoint === undefined ? {} : { Entrypoint: config.entrypoint }),
        ...(config.command === undefined ? {} : { Cmd: config.command }),
        Labels: { 'org.opencontainers.image.title': reference, 'openstack.k8s.io/built-by': 'lab' },
      },
      rootfs: { type: 'layers', diff_ids: layers.map(each => each.digest) },
      history: layers.map(() => ({ created: CREATED, created_by: 'lab' })),
    }),
  );
  const manifest = putBlob(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: 'application/vnd.oci.image.manifest.v1+json',
      config: { mediaType: 'application/vnd.oci.image.config.v1+json', ...described },
      layers: layers.map(each => ({ mediaType: 'application/vnd.oci.image.layer.v1.tar', ...each })),
    }),
  );
  return { reference, ...manifest, layers, config: described };
}

/**
 * An OCI layout with exactly these images, made of hard links; the caller streams it and removes it.
 * Content that the reader has already is left out: that is all but a few KB when one image of a release changes.
 */
export function layout(images: readonly Image[], already: ReadonlySet<string>): string {
  const folder = mkdtempSync(join(store, 'layout-'));
  mkdirSync(join(folder, 'blobs', 'sha256'), { recursive: true });
  const digests = new Set(
    images.flatMap(each => [each.digest, each.config.digest, ...each.layers.map(one => one.digest)]),
  );
  for (const digest of digests)
    if (!already.has(digest))
      linkSync(blobPath(digest), join(folder, 'blobs', 'sha256', digest.slice('sha256:'.length)));
  const manifests = images.map(each => ({
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    digest: each.digest,
    size: each.size,
    platform: { architecture: 'amd64', os: 'linux' },
    annotations: { 'io.containerd.image.name': each.reference, 'org.opencontainers.image.ref.name': each.reference },
  }));
  writeFileSync(join(folder, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
  writeFileSync(
    join(folder, 'index.json'),
    JSON.stringify({ schemaVersion: 2, mediaType: 'application/vnd.oci.image.index.v1+json', manifests }),
  );
  return folder;
}

/** A layer from files named in a table: path in the image, to a file here, a text, or a link. */
export type Staged = Record<
  string,
  { readonly copy?: string; readonly text?: string; readonly link?: string; readonly mode?: number }
>;

/** Small files count by content, big ones (programs, in folders named by their content) by what the file system says. */
async function fingerprint(path: string): Promise<string> {
  const { size, mtimeMs, ino } = statSync(path);
  return size < 20_000_000 ? sha256(path) : JSON.stringify([path, size, mtimeMs, ino]);
}

export async function stagedLayer(files: Staged): Promise<Layer> {
  const hash = createHash('sha256');
  for (const [path, file] of Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1))) {
    hash.update(JSON.stringify([path, file]));
    if (file.copy !== undefined) hash.update(await fingerprint(file.copy));
  }
  const key = hash.digest('hex').slice(0, 24);
  const known = knownLayer(key);
  if (known !== undefined) return known;
  mkdirSync(store, { recursive: true });
  const folder = mkdtempSync(join(store, 'stage-'));
  try {
    const commands: string[] = ['set -eu', 'umask 022'];
    for (const [path, file] of Object.entries(files)) {
      const target = `${folder}${path}`;
      const mode = (file.mode ?? 0o644).toString(8);
      mkdirSync(join(target, '..'), { recursive: true });
      if (path.endsWith('/')) commands.push(`mkdir -p '${target}'; chmod ${mode} '${target}'`);
      else if (file.link !== undefined) commands.push(`ln -s '${file.link}' '${target}'`);
      else if (file.copy !== undefined) commands.push(`cp -L '${file.copy}' '${target}'; chmod ${mode} '${target}'`);
      else {
        writeFileSync(target, file.text ?? '');
        commands.push(`chmod ${mode} '${target}'`);
      }
    }
    await must('bash', ['-s'], { input: commands.join('\n') });
    chmodSync(folder, 0o755);
    return await layer(key, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
