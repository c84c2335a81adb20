import type { AnyObject } from '../../kube/object.ts';
import { apiVersionOf } from '../../kube/resource.ts';
import { setDefaults } from './builtin/defaults.ts';
import { type Call, eventInVersion } from './call.ts';
import { decodeCustom } from './custom/decode.ts';
import { isObject, type Json } from './json.ts';
import { QuantityError } from './quantity.ts';
import { badRequest, type Refusal } from './status.ts';
import { DecodeError, decode } from './types.ts';

/** Reads a body as an object of the call's kind: unknown fields dropped (or refused), defaults set. Shares nothing with it. */
export function decodeBody(call: Call, body: unknown): AnyObject {
  if (!isObject(body)) throw badRequest('the request body is not an object');
  checkKind(call, body);
  return decodeObject(call, body);
}

export function decodeObject(call: Call, body: Json): AnyObject {
  const { resource } = call;
  const unknown: string[] = [];
  const object = asKind(call, () =>
    'builtin' in resource.is
      ? decode(resource.is.builtin, body, unknown)
      : decodeCustom(resource.is.custom, body, unknown),
  ) as AnyObject;
  object.kind = resource.kind;
  object.apiVersion = apiVersionOf(resource);
  reportUnknown(call, unknown);
  if ('builtin' in resource.is) setDefaults(resource.kind, object);
  return resource.storage === 'events' ? eventInVersion(object, 'v1') : object;
}

export function asKind<T>(call: Call, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof DecodeError || error instanceof QuantityError)) throw error;
    const { kind, version } = call.resource;
    if ('custom' in call.resource.is) throw badRequest(error.message);
    throw badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${error.message}`);
  }
}

/** fieldValidation: Strict refuses, Warn (what the API server does when nothing is said) warns. */
function reportUnknown(call: Call, unknown: readonly string[]): void {
  const texts = unknown.map(path => `unknown field "${path}"`);
  if (texts.length === 0 || call.query.fieldValidation === 'Ignore') return;
  if (call.query.fieldValidation === 'Strict') throw strictError(call, texts);
  call.warnings.push(...texts);
}

export function strictError(call: Call, texts: readonly string[]): Refusal {
  const { kind, version } = call.resource;
  return badRequest(
    `${kind} in version "${version}" cannot be handled as a ${kind}: strict decoding error: ${texts.join(', ')}`,
  );
}

function checkKind(call: Call, body: Json): void {
  const { kind, version } = call.resource;
  const want = apiVersionOf(call.resource);
  // An absent kind or apiVersion is taken from the path.
  const got = { kind: body.kind || kind, apiVersion: body.apiVersion || want };
  if (got.kind === kind && got.apiVersion === want) return;
  if ('custom' in call.resource.is) {
    if (got.apiVersion !== want) {
      throw badRequest(
        `the API version in the data (${got.apiVersion}) does not match the expected API version (${want})`,
      );
    }
    throw badRequest(
      `${got.kind} in version "${version}" cannot be handled as a ${kind}: converting (unstructured.Unstructured) to (${call.resource.kind}): unknown conversion`,
    );
  }
  const known = call.resource.kind;
  if (got.apiVersion !== want) {
    throw badRequest(
      `the API version in the data (${got.apiVersion}) does not match the expected API version (${want})`,
    );
  }
  throw badRequest(`no kind "${got.kind}" is registered for version "${want}" in scheme for ${known}`);
}
