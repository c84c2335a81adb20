import type { AnyObject } from '../../kube/object.ts';
import { apiVersionOf } from '../../kube/resource.ts';
import { setDefaults } from './builtin/defaults.ts';
import type { Call } from './common/call.ts';
import { isObject, type Json } from './common/json.ts';
import { QuantityError } from './common/quantity.ts';
import { badRequest, invalid, invalidValue, type Refusal } from './common/status.ts';
import { DecodeError, decode, structOf } from './common/types.ts';
import { decodeCustom } from './custom/decode.ts';

/** Reads a body as an object of the call's kind: unknown fields dropped (or refused), defaults set. Shares nothing with it. */
export function decodeBody(call: Call, body: unknown): AnyObject {
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
  return object;
}

export function asKind<T>(call: Call, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof DecodeError || error instanceof QuantityError)) throw error;
    const { kind, version } = call.resource;
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

const HEAD = String.raw`struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }`;

/** The body must be of the resource's kind; a built-in kind takes what is not said from the path. */
function checkKind(call: Call, body: unknown): asserts body is Json {
  const { resource } = call;
  const unrecognized = `the object provided is unrecognized (must be of type ${resource.kind}): `;
  if (!isObject(body)) {
    const hex = Buffer.from(JSON.stringify(body ?? '')).toString('hex');
    const what = Array.isArray(body) ? 'array' : typeof body;
    throw badRequest(
      `${unrecognized}couldn't get version/kind; json parse error: json: cannot unmarshal ${what} into Go value of type ${HEAD} (${hex})`,
    );
  }
  const want = apiVersionOf(resource);
  if ('custom' in resource.is) {
    for (const [key, title] of [
      ['kind', 'Kind'],
      ['apiVersion', 'apiVersion'],
    ] as const) {
      if (body[key]) continue;
      const text = JSON.stringify(body);
      throw badRequest(`${unrecognized}Object '${title}' is missing in '${text}' (${text.slice(0, 30)} ...)`);
    }
    if (body.apiVersion !== want) {
      throw badRequest(
        `the API version in the data (${body.apiVersion}) does not match the expected API version (${want})`,
      );
    }
    if (body.kind !== resource.kind) {
      const name = (isObject(body.metadata) ? body.metadata.name : '') as string;
      throw invalid({ ...resource, kind: String(body.kind) }, name, [
        invalidValue('kind', body.kind, `must be ${resource.kind}`),
      ]);
    }
    return;
  }
  const kind = String(body.kind || resource.kind);
  const apiVersion = String(body.apiVersion || want);
  if (kind === resource.kind && apiVersion === want) return;
  const version = apiVersion.slice(apiVersion.indexOf('/') + 1);
  const handled = `${kind} in version "${version}" cannot be handled as a ${resource.kind}: `;
  if (!structOf(apiVersion, kind)) {
    // The place is where upstream made its scheme.
    throw badRequest(
      `${handled}no kind "${kind}" is registered for version "${apiVersion}" in scheme "pkg/runtime/scheme.go:111"`,
    );
  }
  const internal = (resource.group || 'core').split('.')[0];
  throw badRequest(`${handled}converting (${version}.${kind}) to (${internal}.${resource.kind}): unknown conversion`);
}
