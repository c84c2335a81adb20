/**
 * What Kolla puts into an image besides packages, read from its own Dockerfile templates, so that start files, modes
 * and users follow the release instead of a copied table. Only COPY, touch, chmod, USER, ENTRYPOINT and FROM matter;
 * template expressions and package lists are not evaluated: the lab's base root has all packages for all images, but
 * Ceph's client, which is a layer of its own.
 */
export interface Recipe {
  readonly parent: string;
  readonly user?: string;
  readonly entrypoint?: readonly string[];
  readonly copies: readonly { readonly from: string; readonly to: string }[];
  readonly empty: readonly string[];
  readonly modes: readonly { readonly path: string; readonly mode: string }[];
  /** Installs a client of Ceph. */
  readonly ceph: boolean;
}

const words = (text: string): string[] => text.trim().split(/\s+/);

/** A COPY of one file may name the file or, with a slash at the end, the folder it goes to. */
function destination(from: string, to: string, count: number): string {
  if (count === 1 && !to.endsWith('/')) return to;
  return `${to.replace(/\/$/, '')}/${from.split('/').at(-1)}`;
}

export function readRecipe(dockerfile: string): Recipe {
  const lines = dockerfile.replaceAll(/\\\n/g, ' ').split('\n');
  let parent = '';
  let user: string | undefined;
  let entrypoint: string[] | undefined;
  const copies: { from: string; to: string }[] = [];
  const empty: string[] = [];
  const modes: { path: string; mode: string }[] = [];
  for (const line of lines) {
    const from = /^FROM .*}}([a-z0-9-]+):\{\{/.exec(line);
    if (from?.[1] !== undefined) parent = from[1];
    if (line.startsWith('USER ')) user = words(line)[1];
    if (line.startsWith('ENTRYPOINT ')) entrypoint = JSON.parse(line.slice('ENTRYPOINT '.length)) as string[];
    if (line.startsWith('COPY ') && !line.includes('{{')) {
      const names = words(line.slice('COPY '.length));
      const to = names.pop() ?? '';
      for (const name of names) copies.push({ from: name, to: destination(name, to, names.length) });
    }
    if (!line.startsWith('RUN ')) continue;
    for (const step of line.slice('RUN '.length).split('&&').map(words)) {
      if (step[0] === 'touch') empty.push(...step.slice(1));
      if (step[0] === 'chmod' && step[1] !== undefined) {
        const mode = step[1] === '+x' ? '755' : step[1];
        for (const path of step.slice(2)) if (!path.includes('*')) modes.push({ path, mode });
      }
    }
  }
  return {
    parent,
    copies,
    empty,
    modes,
    ceph: /'(ceph-common|python3-rbd)'/.test(dockerfile),
    ...(user === undefined ? {} : { user }),
    ...(entrypoint === undefined ? {} : { entrypoint }),
  };
}

export interface Contents {
  /** Path in the image, to a file of Kolla's folder or to nothing (an empty file). */
  readonly files: ReadonlyMap<string, { readonly from?: string; readonly mode: string }>;
  readonly user: string;
  readonly entrypoint: readonly string[];
  readonly ceph: boolean;
}

/** The base images are the lab's own root file systems, so a chain ends there. */
const ROOTS = new Set(['base', 'openstack-base']);

/** Walks from the image to its base; what is nearer to the image wins, as it does in a build. */
export function contents(image: string, recipe: (name: string) => { folder: string; recipe: Recipe }): Contents {
  const chain: { folder: string; recipe: Recipe }[] = [];
  for (let name = image; !ROOTS.has(name); name = chain[0]!.recipe.parent) {
    if (chain.length > 5) throw new Error(`the Dockerfiles of ${image} have no base after ${chain.length} steps`);
    chain.unshift(recipe(name));
  }
  const files = new Map<string, { from?: string; mode: string }>();
  let user = 'root';
  let entrypoint: readonly string[] = ['dumb-init', '--single-child', '--'];
  for (const { folder, recipe: each } of chain) {
    // Debian's healthcheck file of MariaDB is copied by name; a script without a chmod line keeps its executable bit.
    for (const { from, to } of each.copies) files.set(to, { from: `${folder}/${from}`, mode: '644' });
    for (const path of each.empty) if (!files.has(path)) files.set(path, { mode: '644' });
    for (const { path, mode } of each.modes) {
      const file = files.get(path);
      if (file !== undefined) files.set(path, { ...file, mode });
    }
    user = each.user ?? user;
    entrypoint = each.entrypoint ?? entrypoint;
  }
  return { files, user, entrypoint, ceph: chain.some(each => each.recipe.ceph) };
}
