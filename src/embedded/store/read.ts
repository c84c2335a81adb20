import type { AnyObject } from '../../kube/object.ts';
import { apiVersionOf } from '../../kube/resource.ts';
import type { Response } from '../../kube/transport.ts';
import { answer, type Call, inVersion, type Server } from './call.ts';
import { formatter } from './format.ts';
import { fieldSelector, labelSelector, type Match } from './selectors.ts';
import { badRequest, denied, expired, type FieldError, invalid, notFound, tooLargeVersion } from './status.ts';

export function get(server: Server, call: Call): Response {
  const object = server.state.get(call.resource.storage, call.namespace, call.name);
  if (!object) throw notFound(call.resource, call.name);
  return answer(call, 200, formatter(call, true)(inVersion(call.resource, object)));
}

/** Namespace, name and both selectors of a list or watch. */
export function selectionOf(call: Call): Match {
  const { resource, namespace, name, query } = call;
  const byLabel = labelSelector(query.labelSelector);
  const custom = 'custom' in resource.is ? resource.is.custom.selectable : [];
  const byField = fieldSelector(query.fieldSelector, resource.kind, apiVersionOf(resource), custom);
  return object =>
    (namespace === '' || object.metadata.namespace === namespace) &&
    (name === '' || object.metadata.name === name) &&
    (byLabel?.(object) ?? true) &&
    (byField?.(object) ?? true);
}

interface Token {
  v: 'meta.k8s.io/v1';
  rv: number;
  start: string;
}

const NOT_CONSISTENT =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.';

export function list(server: Server, call: Call): Response {
  const { state } = server;
  const { query, resource } = call;
  checkVersionMatch(call);
  const limit = Number(query.limit ?? 0);
  const token = query.continue ? parseToken(query.continue) : undefined;
  const asked = query.resourceVersion ?? '';
  if (asked !== '' && !/^\d+$/.test(asked))
    throw badRequest(
      `invalid resource version ${JSON.stringify(asked)}: strconv.ParseUint: parsing ${JSON.stringify(asked)}: invalid syntax`,
    );
  if (Number(asked) > state.version) throw tooLargeVersion(asked, state.version);
  const exact = query.resourceVersionMatch === 'Exact' ? Number(asked) : undefined;
  const version = token?.rv ?? exact ?? state.version;
  const all = state.listAt(resource.storage, version);
  if (all === undefined)
    throw expired(token ? NOT_CONSISTENT : `The resourceVersion for the provided list is too old.`);
  const matches = selectionOf(call);
  const selected = all.filter(o => (token === undefined || startKey(o) >= token.start) && matches(o));
  const page = limit > 0 ? selected.slice(0, limit) : selected;
  const rest = selected.length - page.length;
  const metadata: Record<string, unknown> = { resourceVersion: String(version) };
  if (rest > 0) {
    const next: Token = { v: 'meta.k8s.io/v1', rv: version, start: `${startKey(page.at(-1)!)}\0` };
    metadata.continue = Buffer.from(JSON.stringify(next)).toString('base64url');
    if (!query.labelSelector && !query.fieldSelector) metadata.remainingItemCount = rest;
  }
  const body = {
    kind: resource.listKind,
    apiVersion: apiVersionOf(resource),
    metadata,
    // Items of built-in lists carry no kind; those of custom resources do.
    items: page.map(o => itemOf(call, inVersion(resource, o))),
  };
  return answer(call, 200, formatter(call, true)(body as unknown as AnyObject));
}

function itemOf(call: Call, object: AnyObject): object {
  if ('custom' in call.resource.is) return object;
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = object;
  return rest;
}

const startKey = (object: AnyObject) => `${object.metadata.namespace ?? ''}/${object.metadata.name}`;

function parseToken(text: string): Token {
  try {
    const token = JSON.parse(Buffer.from(text, 'base64url').toString()) as Token;
    if (token.v === 'meta.k8s.io/v1' && typeof token.rv === 'number' && typeof token.start === 'string') return token;
  } catch {
    // Falls through: whatever it was, it is not ours.
  }
  throw badRequest('continue key is not valid: illegal base64 data at input byte 0');
}

function checkVersionMatch(call: Call): void {
  const { resourceVersion = '', resourceVersionMatch, continue: token, sendInitialEvents } = call.query;
  const errors: FieldError[] = [];
  if (sendInitialEvents !== undefined)
    errors.push(denied('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  if (resourceVersionMatch !== undefined) {
    if (resourceVersion === '')
      errors.push(
        denied('resourceVersionMatch', 'resourceVersionMatch is forbidden unless resourceVersion is provided'),
      );
    if (token)
      errors.push(denied('resourceVersionMatch', 'resourceVersionMatch is forbidden when continue is provided'));
    if (resourceVersionMatch === 'Exact' && resourceVersion === '0') {
      errors.push(denied('resourceVersionMatch', 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
    }
  }
  if (errors.length > 0) throw invalid({ ...call.resource, group: 'meta.k8s.io', kind: 'ListOptions' }, '', errors);
}
