import { readFileSync, writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';
import { KINDS } from '../../api/kinds.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { authority, certManager } from '../functional/certificates.ts';
import { Cloud, type Rest } from '../functional/cloud.ts';
import { deployed, GROUPS } from '../functional/samples.ts';

type Group = (typeof GROUPS)[number];

/** What `minimal` and `slice` make is in the others too. */
export const GOLDEN: readonly Group[] = GROUPS.filter(({ name }) => !/ (minimal|slice)$/.test(name));

const fileOf = ({ name }: Group): URL =>
  new URL(
    `clouds/${name.replace('OpenStackControlPlane ', '').replaceAll(' ', '-').toLowerCase()}.json.br`,
    import.meta.url,
  );

const CRDS = new Set(KINDS.map(({ plural, group }) => `${plural}.${group}`));
/** Of the tree that takes over, not of the one that wrote the cloud. */
const isOurCrd = ({ kind, metadata }: AnyObject): boolean =>
  kind === 'CustomResourceDefinition' && CRDS.has(metadata.name);

/** A cloud of these samples as the operator of this tree leaves it, into a file. Answers with its size. */
export async function write(group: Group): Promise<number> {
  const rest = (await deployed(group)).rest();
  const objects = rest.store.objects.filter(object => !isOurCrd(object) && object.kind !== 'Event');
  const kept = { ...rest, store: { ...rest.store, objects } };
  const text = JSON.stringify(kept);
  if (!isDeepStrictEqual(JSON.parse(text), kept)) throw new Error(`${group.name} holds values that JSON has not`);
  const bytes = brotliCompressSync(text);
  writeFileSync(fileOf(group), bytes);
  return bytes.length;
}

/** That cloud, with an operator of this tree that has just started. */
export async function takenOver(group: Group): Promise<Cloud> {
  const rest = JSON.parse(brotliDecompressSync(readFileSync(fileOf(group))).toString()) as Rest;
  const crds = (await Cloud.start()).rest().store.objects.filter(isOurCrd);
  return Cloud.start({
    ...certManager(authority('public')),
    from: { ...rest, store: { ...rest.store, objects: [...crds, ...rest.store.objects] } },
    seed: 2,
  });
}
