import { scribe } from '../script.ts';

const s = scribe('CRD');
export const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
export const widgets = '/apis/example.com/v1/namespaces/default/widgets';

const spec = {
  type: 'object',
  required: ['name'],
  properties: {
    name: { type: 'string', minLength: 2, maxLength: 8, pattern: '^[a-z]+$' },
    size: { type: 'integer', format: 'int32', minimum: 1, maximum: 10, default: 3 },
    ratio: { type: 'number', minimum: 0, exclusiveMinimum: true },
    mode: { type: 'string', enum: ['a', 'b'] },
    port: { 'x-kubernetes-int-or-string': true },
    maybe: { type: 'string', nullable: true },
    flag: { type: 'boolean' },
    list: {
      type: 'array',
      maxItems: 2,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: {
        type: 'object',
        required: ['name'],
        properties: { name: { type: 'string', maxLength: 20 }, value: { type: 'string', default: 'x', maxLength: 20 } },
        'x-kubernetes-validations': [{ rule: "self.name != 'root'", message: 'root is taken' }],
      },
    },
    set: { type: 'array', maxItems: 10, 'x-kubernetes-list-type': 'set', items: { type: 'string', maxLength: 20 } },
    map: { type: 'object', minProperties: 1, maxProperties: 2, additionalProperties: { type: 'integer' } },
    open: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    when: { type: 'string', format: 'date-time' },
    address: { type: 'string', format: 'ipv4' },
    fixed: {
      type: 'string',
      maxLength: 20,
      'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'fixed is immutable' }],
    },
    either: {
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'string' } },
      'x-kubernetes-validations': [
        {
          rule: 'has(self.a) != has(self.b)',
          messageExpression: "'exactly one, got ' + (has(self.a) ? 'both' : 'none')",
          reason: 'FieldValueForbidden',
          fieldPath: '.a',
        },
      ],
    },
    nested: { type: 'object', default: {}, properties: { deep: { type: 'integer', default: 7 } } },
  },
  'x-kubernetes-validations': [
    { rule: 'self.size < 9 || self.name.startsWith("big")', message: 'too big' },
    { rule: '!has(self.list) || self.list.all(i, size(i.value) < 10)' },
  ],
};
export const widget = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { kind: 'Widget', plural: 'widgets', shortNames: ['wd'], categories: ['all'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        additionalPrinterColumns: [
          { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
          { name: 'Ready', type: 'string', jsonPath: ".status.conditions[?(@.type=='Ready')].status" },
          { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
        ],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec, status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          },
        },
      },
    ],
  },
};
const plain = (name: string, kind: string, version: object = {}, more: object = {}) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { kind, plural: name.split('.')[0] },
    versions: [
      { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } }, ...version },
    ],
    ...more,
  },
});
const established = (a: { body: unknown }) => JSON.stringify(a.body).includes('"reason":"InitialNamesAccepted"');

s.quiet({ method: 'POST', path: crds, body: widget });
s.quiet({ method: 'GET', path: `${crds}/widgets.example.com` }, established);
s.quiet({ method: 'GET', path: widgets }, a => a.status === 200);
s.get(`${crds}/widgets.example.com`);
s.post(crds, widget);
s.post(crds, plain('wrong.example.org', 'Wrong'));
s.post(crds, plain('noschema.example.com', 'NoSchema', { schema: undefined }));
s.post(crds, plain('nostorage.example.com', 'NoStorage', { storage: false }));
s.post(crds, plain('lower.example.com', 'lower'));
s.post(crds, {
  ...plain('things.foo.k8s.io', 'Thing'),
  spec: { ...plain('things.foo.k8s.io', 'Thing').spec, group: 'foo.k8s.io' },
});
s.post(crds, plain('badscope.example.com', 'BadScope', {}, { scope: 'Galaxy' }));

const make = (name: string, spec: unknown, query?: Record<string, string>, more: object = {}) =>
  s.post(widgets, { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name }, spec, ...more }, query);
make('good', { name: 'good' });
make(
  'full',
  {
    name: 'full',
    size: 5,
    ratio: 0.5,
    mode: 'a',
    port: 'http',
    maybe: null,
    flag: false,
    list: [{ name: 'x' }],
    set: ['a'],
    map: { k: 1 },
    open: { any: { thing: [1, 'a'] } },
    when: '2026-01-05T08:00:00Z',
    address: '192.0.2.1',
    fixed: 'f',
    either: { a: 'x' },
    nested: {},
  },
  undefined,
  { status: { ignored: true } },
);
make('good', { name: 'good' });
make('none', {});
make('nospec', undefined);
make('short', { name: 'a' });
make('long', { name: 'abcdefghijkl' });
make('pattern', { name: 'A1' });
make('type', { name: 5 });
make('float', { name: 'ok', size: 1.5 });
make('small', { name: 'ok', size: 0 });
make('large', { name: 'ok', size: 11 });
make('rule', { name: 'ok', size: 9 });
make('ruleok', { name: 'bigone', size: 9 });
make('enum', { name: 'ok', mode: 'c' });
make('port', { name: 'ok', port: true });
make('nulls', { name: 'ok', maybe: null, flag: null, size: null, nested: null });
make('several', { name: 'ok', flag: 'yes', ratio: 0 });
make('dup', { name: 'ok', list: [{ name: 'x' }, { name: 'x' }] });
make('items', { name: 'ok', list: [{ name: 'x' }, { name: 'y' }, { name: 'z' }] });
make('key', { name: 'ok', list: [{ value: 'v' }] });
make('itemrule', { name: 'ok', list: [{ name: 'root' }] });
make('listrule', { name: 'ok', list: [{ name: 'x', value: 'twelve chars' }] });
make('setdup', { name: 'ok', set: ['a', 'a'] });
make('mapvalue', { name: 'ok', map: { a: 'b' } });
make('mapmany', { name: 'ok', map: { a: 1, b: 2, c: 3 } });
make('mapfew', { name: 'ok', map: {} });
make('shape', { name: 'ok', list: {}, map: [] });
make('text', 'x');
make('format', { name: 'ok', when: 'now', address: 'x' });
make('both', { name: 'ok', either: { a: 'x', b: 'y' } });
make('neither', { name: 'ok', either: {} });
make('unknown', { name: 'ok', foo: 1, list: [{ name: 'x', bar: 1 }], nested: { zip: 1 } });
make('strict', { name: 'ok', foo: 1, list: [{ name: 'x', bar: 1 }] }, { fieldValidation: 'Strict' });
make('ignore', { name: 'ok', foo: 1 }, { fieldValidation: 'Ignore' });
make('Bad_Name', { name: 'ok' });
s.post(widgets, {
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name: 'meta', bogus: 1 },
  spec: { name: 'ok' },
});
s.post(widgets, {
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name: 'labels', labels: { a: 5 } },
  spec: { name: 'ok' },
});
s.post(widgets, { apiVersion: 'example.com/v2', kind: 'Widget', metadata: { name: 'v2' } });
s.post(widgets, { metadata: { name: 'headless' }, spec: { name: 'ok' } });
s.merge(`${widgets}/full`, { spec: { fixed: 'g' } });
s.merge(`${widgets}/full`, { spec: { fixed: 'f', size: 6 } });
s.merge(`${widgets}/full`, { metadata: { labels: { a: 'b' } } });
s.merge(`${widgets}/full/status`, { status: { ready: true }, spec: { size: 2 }, metadata: { labels: { c: 'd' } } });
s.merge(`${widgets}/full`, { status: { ready: false } });
s.put(`${widgets}/full`, {
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name: 'full' },
  spec: { name: 'full' },
});
s.put(`${widgets}/full`, {
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name: 'full', resourceVersion: '1' },
  spec: { name: 'full' },
});
s.using(m => ({ method: 'PUT', path: `${widgets}/full`, body: { ...m.of(`${widgets}/full`), spec: { name: 'put' } } }));
s.using(m => ({
  method: 'PUT',
  path: `${widgets}/full/status`,
  body: { ...m.of(`${widgets}/full`), status: { by: 'put' } },
}));
const gauge = plain('gauges.example.com', 'Gauge', {
  subresources: { scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' } },
  schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
});
const gauges = '/apis/example.com/v1/namespaces/default/gauges';
s.quiet({ method: 'POST', path: crds, body: gauge });
s.quiet({ method: 'GET', path: gauges }, a => a.status === 200);
s.post(gauges, {
  apiVersion: 'example.com/v1',
  kind: 'Gauge',
  metadata: { name: 'g' },
  spec: { size: 2 },
  status: { size: 1 },
});
s.get(`${gauges}/g/scale`);
s.merge(`${gauges}/g/scale`, { spec: { replicas: 4 } });
s.merge(`${gauges}/g`, { status: { size: 4 } });
s.get(`${gauges}/g/status`);
s.get(widgets);
s.get('/apis/example.com/v1/widgets', { query: { limit: '2' } });
s.get(widgets, { accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1' });
s.get(widgets, { query: { fieldSelector: 'spec.name=ok' } });
s.get(`${widgets}/nobody`);
s.get('/apis/example.com/v1/namespaces/default/gadgets');
s.del(`${widgets}/good`);
s.del(`${widgets}/ruleok`, { propagationPolicy: 'Foreground' });
s.del(widgets, undefined, { labelSelector: 'a=b' });
s.merge(`${crds}/widgets.example.com`, { spec: { scope: 'Cluster' } });
s.merge(`${crds}/widgets.example.com`, { metadata: { labels: { a: 'b' } } });

export const crd = s.steps;
