import { clone, isObject, type Json } from '../common/json.ts';
import type { CustomVersion } from '../common/resources.ts';
import { DecodeError, decode } from '../common/types.ts';
import { prune, pruneNulls, type Schema, setSchemaDefaults } from './schema.ts';

/** Reads a custom resource: metadata as Go would, the rest pruned and defaulted by the CRD's schema. */
export function decodeCustom(version: CustomVersion, body: Json, unknown: string[]): Json {
  const { apiVersion, kind, metadata, ...own } = body;
  const rest = clone(own);
  if (metadata !== undefined && metadata !== null && !isObject(metadata)) {
    throw new DecodeError('unable to unmarshal metadata: it is not an object');
  }
  const lost: string[] = [];
  const meta = decode('meta/v1.ObjectMeta', metadata ?? {}, lost);
  unknown.push(...lost.map(path => `metadata.${path}`));
  const schema = version.schema as Schema;
  if (!version.preserveUnknown) prune(rest, schema, '', unknown);
  pruneNulls(rest, schema);
  setSchemaDefaults(rest, schema);
  return { apiVersion, kind, metadata: meta, ...rest };
}
