import type { AnyObject } from '../../kube/object.ts';
import { tableOf } from '../kubectl/table.ts';
import type { Call } from './common/call.ts';

type Format = 'json' | 'metadata' | 'table';

/** The first media type of Accept that we can write; anything else gets plain JSON, as clients of ours always take that. */
export function formatOf(accept: string | undefined): Format {
  for (const part of (accept ?? '').split(',')) {
    const parameters = Object.fromEntries(
      part
        .split(';')
        .slice(1)
        .map(p => p.trim().split('=') as [string, string]),
    );
    if (!part.trim().startsWith('application/json')) continue;
    if (parameters.as === 'Table') return 'table';
    if (parameters.as?.startsWith('PartialObjectMetadata')) return 'metadata';
    return 'json';
  }
  return 'json';
}

/** `columns`: a table carries its column definitions; later events of a watch leave them out. */
export function formatter(call: Call, columns: boolean): (object: AnyObject) => object {
  const format = formatOf(call.request.accept);
  if (format === 'json') return object => object;
  if (format === 'metadata') return metadataOnly;
  let first = true;
  return object => {
    const table = tableOf(call, object, columns || first);
    first = false;
    return table;
  };
}

function metadataOnly(object: AnyObject): object {
  const list = object as unknown as { items?: AnyObject[]; metadata: object };
  const one = (o: AnyObject) => ({ kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: o.metadata });
  if (!Array.isArray(list.items)) return one(object);
  return {
    kind: 'PartialObjectMetadataList',
    apiVersion: 'meta.k8s.io/v1',
    metadata: withoutContinue(list.metadata),
    items: list.items.map(one),
  };
}

const withoutContinue = (metadata: object): object => {
  const { continue: token, ...rest } = metadata as { continue?: string };
  return token ? metadata : rest;
};
