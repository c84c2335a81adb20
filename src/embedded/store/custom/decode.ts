import { clone, type Json } from '../json.ts';
import type { CustomVersion } from '../resources.ts';

export function decodeCustom(_version: CustomVersion, body: Json, _unknown: string[]): Json {
  return clone(body);
}
