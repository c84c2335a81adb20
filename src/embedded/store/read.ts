import type { AnyObject } from '../../kube/object.ts';
import { apiVersionOf } from '../../kube/resource.ts';
import type { Response } from '../../kube/transport.ts';
import { answer, type Call, inVersion, type Server } from './common/call.ts';
import { fieldSelector, labelSelector, type Match } from './common/selectors.ts';
import {
  badRequest,
  denied,
  expired,
  type FieldError,
  invalid,
  notFound,
  notSupported,
  quote,
  tooLargeVersion,
} from './common/status.ts';
import { formatter } from './format.ts';

export function get(server: Server, call: Call): Response {
  const object = server.state.get(call.resource.storage, call.namespace, call.name);
  if (!object) throw notFound(call.resource, call.name);
  return answer(call, 200, formatter(call, true)(inVersion(call.resource, object)));
}

/** Namespace, name and both selectors of a list or watch. */
export function selectionOf(call: Call): Match {
  const { resource, namespace, name, query } = call;
  const byLabel = labelSelector(query.labelSelector);
  const custom = 'custom' in resource.is ? resource.is.custom.selectable : undefined;
  const byField = fieldSelector(query.fieldSelector, resource.kind, custom);
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
  const limit = numberOf(query.limit);
  const token = query.continue ? parseToken(query.continue) : undefined;
  const asked = query.resourceVersion ?? '';
  if (asked !== '' && !/^\d+$/.test(asked)) throw badRequest(`invalid resource version: ${badVersion(asked)}`);
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
  // A list of custom resources says that nothing follows; a list of built-in ones does not mention it.
  const metadata: Record<string, unknown> = {
    ...('custom' in resource.is ? { continue: '' } : {}),
    resourceVersion: String(version),
  };
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

export const badVersion = (text: string) =>
  `resourceVersion: Invalid value: ${quote(text)}: strconv.ParseUint: parsing ${quote(text)}: invalid syntax`;

/** Query parameters that are numbers. */
export function numberOf(text: string | undefined): number {
  if (text === undefined || text === '') return 0;
  if (!/^-?\d+$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${quote(text)}: invalid syntax`);
  return Number(text);
}

export function itemOf(call: Call, object: AnyObject): object {
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
  const first = Buffer.from(text, 'base64url').toString('latin1').charAt(0);
  throw badRequest(
    `invalid continue token: continue key is not valid: invalid character '${first}' looking for beginning of value`,
  );
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
    if (!['Exact', 'NotOlderThan', ''].includes(resourceVersionMatch)) {
      errors.push(notSupported('resourceVersionMatch', resourceVersionMatch, ['Exact', 'NotOlderThan', '']));
    }
    if (resourceVersionMatch === 'Exact' && resourceVersion === '0') {
      errors.push(denied('resourceVersionMatch', 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
    }
  }
  if (errors.length > 0) throw invalid({ ...call.resource, group: 'meta.k8s.io', kind: 'ListOptions' }, '', errors);
}
