import type { AnyObject } from '../../../kube/object.ts';
import type { Request, Response } from '../../../kube/transport.ts';
import type { Clock, Random } from '../../../world/clock.ts';
import type { Registry } from './registry.ts';
import type { Served } from './resources.ts';
import type { State } from './state.ts';

/** What every verb works with. */
export interface Server {
  readonly state: State;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly random: Random;
  readonly bookmarkEvery: number;
}

/** One request to a resource, taken apart. */
export interface Call {
  readonly resource: Served;
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string;
  readonly request: Request;
  readonly query: Readonly<Record<string, string>>;
  readonly warnings: string[];
  /** Milliseconds since 1970: tables show ages. */
  readonly now: () => number;
}

/** metav1.Time has seconds. */
export const timeOf = (server: Server): string => `${new Date(server.clock.wall()).toISOString().slice(0, 19)}Z`;

export const dryRun = (call: Call): boolean => call.query.dryRun === 'All';

/** The name of a writer that did not give one; the real server takes it from the User-Agent, which Request does not carry. */
export const managerOf = (call: Call): string => call.query.fieldManager ?? 'unknown';

export function warningsOf(call: Call): { warning?: string } {
  const warnings = [...new Set(call.warnings)].map(w => `299 - ${JSON.stringify(w)}`);
  return warnings.length > 0 ? { warning: warnings.join(', ') } : {};
}

export function answer(call: Call, status: number, body: unknown): Response {
  return { status, headers: { 'content-type': 'application/json', ...warningsOf(call) }, body };
}

/** A stored object in the version that was asked for. Versions differ in nothing but their name, except Events. */
export function inVersion(resource: Served, object: AnyObject): AnyObject {
  const apiVersion = resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
  if (object.apiVersion === apiVersion) return object;
  if (resource.storage === 'events') return eventInVersion(object, apiVersion);
  return { ...object, apiVersion };
}

/** The object that the call names, in the call's version. */
export function lookUp(server: Server, call: Call): AnyObject | undefined {
  const found = server.state.get(call.resource.storage, call.namespace, call.name);
  return found && inVersion(call.resource, found);
}

export const forStorage = (resource: Served, object: AnyObject): AnyObject =>
  resource.storage === 'events' ? eventInVersion(object, 'v1') : object;

const eventNames = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['reportingComponent', 'reportingController'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
] as const;

/** Events are stored as core/v1; events.k8s.io/v1 has other names for seven of their fields. */
function eventInVersion(object: AnyObject, apiVersion: string): AnyObject {
  if (object.apiVersion === apiVersion) return object;
  const toCore = apiVersion === 'v1';
  const out: Record<string, unknown> = { ...object, apiVersion };
  for (const [core, modern] of eventNames) {
    const [from, to] = toCore ? [modern, core] : [core, modern];
    delete out[from];
    if (object[from] !== undefined) out[to] = object[from];
  }
  return out as AnyObject;
}
