import type { AnyObject } from '../../kube/object.ts';
import { apiVersionOf } from '../../kube/resource.ts';
import type { WatchEvent } from '../../kube/transport.ts';
import { type Call, inVersion, type Server } from './common/call.ts';
import type { Change } from './common/state.ts';
import { denied, gone, internal, invalid, notSupported } from './common/status.ts';
import { decode } from './common/types.ts';
import { formatter } from './format.ts';
import { badVersion, selectionOf } from './read.ts';

/** kube-apiserver closes a watch that named no timeout after 30 to 60 minutes, so that load spreads. */
const MIN_TIMEOUT = 1_800_000;

/** Throws a Refusal; else events flow to `sink` until `end` or until the returned function is called. */
export function watch(server: Server, call: Call, sink: (event: WatchEvent) => void, end: () => void): () => void {
  const { state, clock } = server;
  const { query, resource } = call;
  const initial = checkInitial(call);
  const matches = selectionOf(call);
  const format = formatter(call, false);
  const version = query.resourceVersion ?? '';
  if (version !== '' && !/^\d+$/.test(version)) throw internal(badVersion(version));

  const bookmarks = query.allowWatchBookmarks === 'true' || query.allowWatchBookmarks === '1';
  const stops: (() => void)[] = [];
  let open = true;
  const close = () => {
    open = false;
    for (const stop of stops) stop();
  };
  const finish = () => {
    if (!open) return;
    close();
    end();
  };
  const send = (type: 'ADDED' | 'MODIFIED' | 'DELETED', object: AnyObject) => {
    if (open) sink({ type, object: format(inVersion(resource, object)) as AnyObject });
  };
  const bookmark = (annotations?: Record<string, string>) => {
    const metadata = { resourceVersion: String(state.version), ...(annotations ? { annotations } : {}) };
    const head = { kind: resource.kind, apiVersion: apiVersionOf(resource) };
    const body =
      'builtin' in resource.is
        ? { ...decode(resource.is.builtin, empty(resource.kind, metadata), []), ...head }
        : { ...head, metadata };
    if (open) sink({ type: 'BOOKMARK', object: format(body as AnyObject) as AnyObject });
  };
  const forward = (change: Change) => {
    const was = change.previous !== undefined && matches(change.previous);
    const is = change.type !== 'DELETED' && matches(change.object);
    if (was && is) send('MODIFIED', change.object);
    else if (is) send('ADDED', change.object);
    else if (was) {
      // The state that was selected, at the version that ended it.
      const metadata = { ...change.previous!.metadata, resourceVersion: String(change.version) };
      send('DELETED', { ...change.previous!, metadata });
    }
  };

  const from = Number(version);
  if (initial === true || (initial === undefined && from === 0)) {
    for (const object of state.list(resource.storage)) if (matches(object)) send('ADDED', object);
    if (initial === true && bookmarks) bookmark({ 'k8s.io/initial-events-end': 'true' });
  } else if (from !== 0) {
    const missed = state.since(resource.storage, from);
    if (missed === undefined) {
      sink({ type: 'ERROR', object: gone(`too old resource version: ${version} (${state.version})`) });
      end();
      return () => {};
    }
    missed.forEach(forward);
  }

  stops.push(state.listen(resource.storage, change => change.version > from && forward(change)));
  const label = `watch ${resource.plural}`;
  if (bookmarks) {
    const tick = () => {
      bookmark();
      if (open) stops[1] = clock.timer(server.bookmarkEvery, tick, { daemon: true, label: `${label} bookmark` });
    };
    stops[1] = clock.timer(server.bookmarkEvery, tick, { daemon: true, label: `${label} bookmark` });
  }
  const asked = Number(query.timeoutSeconds ?? 0) * 1000;
  const timeout = asked > 0 ? asked : MIN_TIMEOUT * (1 + server.random.next());
  stops.push(clock.timer(timeout, finish, { daemon: true, label: `${label} timeout` }));
  return close;
}

/** What upstream's zero object shows: a number that is no pointer inside, and a field that became an annotation. */
function empty(kind: string, metadata: { annotations?: Record<string, string> }): object {
  if (['Deployment', 'ReplicaSet', 'StatefulSet', 'ReplicationController'].includes(kind)) {
    return { metadata, spec: { replicas: 0 } };
  }
  if (kind !== 'DaemonSet') return { metadata };
  const annotations = { ...metadata.annotations, 'deprecated.daemonset.template.generation': '0' };
  return { metadata: { ...metadata, annotations } };
}

/** sendInitialEvents and resourceVersionMatch go together or not at all. */
function checkInitial(call: Call): boolean | undefined {
  const { sendInitialEvents, resourceVersionMatch } = call.query;
  const errors = [];
  if (sendInitialEvents === undefined && resourceVersionMatch !== undefined) {
    errors.push(
      denied(
        'resourceVersionMatch',
        'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
      ),
    );
  }
  if (sendInitialEvents !== undefined && resourceVersionMatch !== 'NotOlderThan') {
    errors.push(
      denied('resourceVersionMatch', 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'),
    );
  }
  if (
    resourceVersionMatch !== undefined &&
    sendInitialEvents !== undefined &&
    resourceVersionMatch !== 'NotOlderThan'
  ) {
    errors.push(notSupported('resourceVersionMatch', resourceVersionMatch, ['NotOlderThan']));
  }
  if (errors.length > 0) throw invalid({ ...call.resource, group: 'meta.k8s.io', kind: 'ListOptions' }, '', errors);
  return sendInitialEvents === undefined ? undefined : sendInitialEvents !== 'false' && sendInitialEvents !== '0';
}
