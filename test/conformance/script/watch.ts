import { type Build, scribe } from '../script.ts';
import { widgets } from './crd.ts';
import { configMap, ns, pod } from './objects.ts';

const s = scribe('watch');
const N = 'watch';
const at = ns(N, 'configmaps');
const send = (method: 'POST' | 'PATCH' | 'DELETE', name: string, body?: unknown): Build => ({
  method,
  path: method === 'POST' ? at : `${at}/${name}`,
  ...(body === undefined ? {} : { body }),
  ...(method === 'PATCH' ? { contentType: 'application/merge-patch+json' } : {}),
});
const partial = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const since =
  (query: Record<string, string> = {}) =>
  (m: { of(k: string): { metadata: { resourceVersion?: string } } }) => ({
    method: 'GET' as const,
    path: at,
    query: { resourceVersion: m.of('start').metadata.resourceVersion!, ...query },
  });

s.quiet({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: N } } });
s.quiet(send('POST', 'a', configMap('a', { v: '1' }, { labels: { x: 'y' } })));
s.quiet(send('POST', 'b', configMap('b')));
s.get(at, {}, 'start');
s.watch(at, {}, 2);
s.watch(at, { resourceVersion: '0' }, 2);
s.watching(since(), 3, [
  send('POST', 'c', configMap('c')),
  send('PATCH', 'c', { data: { a: '2' } }),
  send('DELETE', 'c'),
]);
s.watching(since(), 3);
s.watching(since({ labelSelector: 'x=y' }), 0);
s.watch(at, { labelSelector: 'x=y' }, 3, [
  send('PATCH', 'a', { metadata: { labels: { x: 'z' } } }),
  send('PATCH', 'a', { metadata: { labels: { x: 'y' } } }),
]);
s.watch(at, { fieldSelector: 'metadata.name=b' }, 2, [
  send('PATCH', 'b', { data: { b: '1' } }),
  send('PATCH', 'a', { data: { b: '1' } }),
]);
s.watch(at, { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: 'true' }, 3);
s.watch(
  at,
  {
    sendInitialEvents: 'true',
    resourceVersionMatch: 'NotOlderThan',
    allowWatchBookmarks: 'true',
    labelSelector: 'no=body',
  },
  1,
);
s.watch(
  at,
  {
    sendInitialEvents: 'true',
    resourceVersionMatch: 'NotOlderThan',
    allowWatchBookmarks: 'true',
    resourceVersion: '0',
  },
  3,
);
s.watch(at, { sendInitialEvents: 'false', resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: 'true' }, 1, [
  send('PATCH', 'b', { data: { b: '2' } }),
]);
s.watch(at, { sendInitialEvents: 'true' }, 1);
s.watch(at, { sendInitialEvents: 'true', resourceVersionMatch: 'Exact' }, 1);
s.watch(at, { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan' }, 1);
s.watch(at, { resourceVersionMatch: 'NotOlderThan' }, 1);
s.watch(at, { resourceVersion: 'banana' }, 1);
s.watch(at, { labelSelector: 'a==b==c' }, 1);
s.watch(at, { fieldSelector: 'spec.nothing=x' }, 1);
s.watch(at, { sendInitialEvents: 'banana', resourceVersionMatch: 'NotOlderThan' }, 1);
s.watch('/apis/example.com/v1/namespaces/default/gadgets', {}, 1);
s.watch(ns('nowhere', 'configmaps'), {}, 0);
s.watch(at, {}, 2, [], { accept: partial });
s.watch(at, { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: 'true' }, 3, [], {
  accept: partial,
});
s.watch(ns(N, 'pods'), {}, 4, [
  { method: 'POST', path: ns(N, 'pods'), body: pod('p', { nodeName: 'n1' }) },
  {
    method: 'PATCH',
    path: ns(N, 'pods', 'p/status'),
    contentType: 'application/merge-patch+json',
    body: { status: { phase: 'Running' } },
  },
  { method: 'DELETE', path: ns(N, 'pods', 'p') },
  { method: 'DELETE', path: ns(N, 'pods', 'p'), body: { gracePeriodSeconds: 0 } },
]);
s.watch(
  ns(N, 'pods'),
  { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: 'true' },
  1,
);
s.watch('/api/v1/configmaps', { fieldSelector: `metadata.namespace=${N}` }, 2);
const wn = `/apis/example.com/v1/namespaces/${N}/widgets`;
s.watch(wn, { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: 'true' }, 5, [
  {
    method: 'POST',
    path: wn,
    body: {
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: { name: 'w', finalizers: ['example.com/f'] },
      spec: { name: 'ok' },
    },
  },
  { method: 'PATCH', path: `${wn}/w`, contentType: 'application/merge-patch+json', body: { spec: { size: 3 } } },
  { method: 'PATCH', path: `${wn}/w/status`, contentType: 'application/merge-patch+json', body: { status: { a: 1 } } },
  { method: 'DELETE', path: `${wn}/w` },
  {
    method: 'PATCH',
    path: `${wn}/w`,
    contentType: 'application/merge-patch+json',
    body: { metadata: { finalizers: null } },
  },
]);
s.watch(wn, { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: 'true' }, 1, [], {
  accept: partial,
});
void widgets;
s.get(at, { query: { resourceVersion: '0' } });
s.get(at, { query: { resourceVersionMatch: 'Exact' } });
s.get(at, { query: { resourceVersionMatch: 'Exact', resourceVersion: '0' } });
s.get(at, { query: { resourceVersionMatch: 'Banana', resourceVersion: '1' } });
s.get(at, { query: { sendInitialEvents: 'true' } });
s.using(m => ({
  method: 'GET',
  path: at,
  query: { resourceVersion: m.of('start').metadata.resourceVersion!, resourceVersionMatch: 'Exact' },
}));
s.using(m => ({
  method: 'GET',
  path: at,
  query: { resourceVersion: m.of('start').metadata.resourceVersion!, resourceVersionMatch: 'NotOlderThan', limit: '1' },
}));
s.get(at, { query: { continue: 'banana' } });
s.get(at, { query: { limit: 'banana' } });

export const watch = s.steps;
