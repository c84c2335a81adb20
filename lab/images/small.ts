import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, realpathSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { paths, repo } from '../paths.ts';
import { must } from '../shell.ts';
import { needPackages, type Tool, tool } from '../tools.ts';
import { nodeFlags } from './entrypoint.ts';
import { operatorReference, small } from './names.ts';
import { type Image, image, type Staged, stagedLayer } from './oci.ts';

/** A static program of 700 KB, so that it runs in an empty image and as the first process of a host. */
export async function pauseProgram(): Promise<string> {
  const source = join(repo, 'lab', 'images', 'pause.c');
  const key = createHash('sha256').update(readFileSync(source, 'utf8')).digest('hex').slice(0, 12);
  const program = join(paths.images, `pause-${key}`);
  if (existsSync(program)) return program;
  await needPackages(['gcc', 'libc6-dev']);
  mkdirSync(paths.images, { recursive: true });
  await must('gcc', ['-Os', '-s', '-static', '-Wall', '-o', `${program}.part`, source]);
  renameSync(`${program}.part`, program);
  return program;
}

const accounts: Staged = {
  '/etc/passwd': {
    text: 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\nnonroot:x:65532:65532::/home:/bin/false\n',
  },
  '/etc/group': { text: 'root:x:0:\nnogroup:x:65534:\nnonroot:x:65532:\n' },
  '/tmp/': { mode: 0o1777 },
};

async function busyboxFiles(): Promise<Staged> {
  await needPackages(['busybox-static']);
  const program = '/bin/busybox';
  const applets = (await must(program, ['--list'])).split('\n').filter(name => name !== '' && name !== 'busybox');
  const links = applets.map((name): [string, { link: string }] => [`/bin/${name}`, { link: 'busybox' }]);
  return { ...accounts, '/bin/busybox': { copy: program, mode: 0o755 }, ...Object.fromEntries(links) };
}

/** What Kubernetes itself needs: the pod's first process, DNS, storage and a shell for its helper pods. */
export async function clusterImages(): Promise<Image[]> {
  const pause = await stagedLayer({ '/pause': { copy: await pauseProgram(), mode: 0o755 } });
  const busybox = await stagedLayer(await busyboxFiles());
  const coredns = await stagedLayer({ '/coredns': { copy: realpathSync(await tool('coredns')), mode: 0o755 } });
  return [
    image(small.pause, [pause], { entrypoint: ['/pause'], user: '65535:65535' }),
    image(small.busybox, [busybox], { command: ['sh'] }),
    image(small.coredns, [coredns], { entrypoint: ['/coredns'] }),
    await alone(small.localPath, 'local-path-provisioner'),
  ];
}

/** A static program alone in an image. */
async function alone(reference: string, name: Tool): Promise<Image> {
  const program = realpathSync(await tool(name));
  const only = await stagedLayer({ ...accounts, [`/usr/bin/${name}`]: { copy: program, mode: 0o755 } });
  return image(reference, [only], { entrypoint: [`/usr/bin/${name}`] });
}

export const traefikImage = (): Promise<Image> => alone(small.traefik, 'traefik');
export const certManagerImage = (): Promise<Image> => alone(small.certManager, 'cert-manager');

/** What `make build` writes in a tree. */
export const bundleIn = (root: string): string => join(root, 'dist', 'openstack-operator.js');

/** The libraries a program is linked with, by the path its loader looks at. */
async function libraries(program: string): Promise<Staged> {
  const found = (await must('ldd', [program])).matchAll(/(?:=> )?(\/\S+) \(0x/g);
  return Object.fromEntries([...found].map(([, path]) => [path!, { copy: path!, mode: 0o755 }]));
}

/** Node and one file. Two layers, because Node changes with the machine and the file with every build. */
export async function operatorImage(root = repo): Promise<Image> {
  const bundle = bundleIn(root);
  if (!existsSync(bundle)) throw new Error(`${bundle} is not there; build it first with: make build`);
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const node = realpathSync(process.execPath);
  const base = await stagedLayer({
    ...accounts,
    ...(await libraries(node)),
    '/usr/local/bin/node': { copy: node, mode: 0o755 },
    '/home/': { mode: 0o755 },
  });
  const app = await stagedLayer({
    '/app/openstack-operator.js': { copy: bundle },
    '/app/package.json': { text: '{"type":"module"}\n' },
  });
  return image(operatorReference(version), [base, app], {
    user: '65532:65532',
    entrypoint: ['/usr/local/bin/node', ...nodeFlags(), '/app/openstack-operator.js'],
    env: { NODE_ENV: 'production', HOME: '/tmp' },
  });
}
