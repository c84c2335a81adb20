/** Custom kinds for the fuzz: between them they use every extension that decides merging. */

const string = { type: 'string' };
const integer = { type: 'integer' };
const boolean = { type: 'boolean' };
const anything = { 'x-kubernetes-preserve-unknown-fields': true };
const intOrString = { 'x-kubernetes-int-or-string': true };
const object = (properties: object, more: object = {}): object => ({ type: 'object', properties, ...more });
const set = (items: object): object => ({ type: 'array', items, 'x-kubernetes-list-type': 'set' });
const listMap = (keys: string[], items: { properties?: Record<string, { default?: unknown }> }): object => ({
  type: 'array',
  // CRD validation wants every key to be required or to have a default.
  items: { ...items, required: keys.filter(key => items.properties?.[key]?.default === undefined) },
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': keys,
});

const conditions = listMap(
  ['type'],
  object({
    type: string,
    status: string,
    reason: string,
    message: string,
    observedGeneration: { type: 'integer', format: 'int64' },
    lastTransitionTime: { type: 'string', format: 'date-time' },
  }),
);

/** What our own kinds look like. */
const cloud = object({
  spec: object({
    replicas: integer,
    release: string,
    paused: boolean,
    ratio: { type: 'number' },
    threads: intOrString,
    cells: listMap(
      ['name'],
      object({
        name: string,
        database: string,
        hosts: set(string),
        endpoints: listMap(
          ['port', 'protocol'],
          object({ port: integer, protocol: { type: 'string', default: 'TCP' }, url: string, tags: set(string) }),
        ),
      }),
    ),
    networks: set(string),
    vlans: set(integer),
    args: { type: 'array', items: string },
    pools: { type: 'array', items: object({ start: string, end: string }) },
    labels: { type: 'object', additionalProperties: string },
    nodeSelector: { type: 'object', additionalProperties: string, 'x-kubernetes-map-type': 'atomic' },
    secretRef: object({ name: string, key: string }, { 'x-kubernetes-map-type': 'atomic' }),
    tls: object({ ca: string, api: object({ public: string, internal: string }) }),
  }),
  status: object({
    conditions,
    phase: string,
    observedGeneration: integer,
    endpoints: { type: 'object', additionalProperties: object({ url: string, ready: boolean }) },
  }),
});

/** Unknown fields, embedded objects, no types. */
const loose = object({
  spec: object({
    extra: anything,
    config: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    mixed: object({ name: string, ports: set(integer), nested: object({ a: string }) }, anything),
    free: { type: 'object' },
    open: { type: 'object', additionalProperties: true },
    template: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
    pod: object({ spec: object({ replicas: integer }) }, { 'x-kubernetes-embedded-resource': true }),
    sections: {
      type: 'object',
      additionalProperties: { type: 'object', additionalProperties: intOrString },
    },
    atomicAnything: { type: 'object', 'x-kubernetes-map-type': 'atomic', ...anything },
    things: listMap(['name'], object({ name: string }, anything)),
    list: { type: 'array', items: { type: 'object', ...anything } },
  }),
  status: anything,
});

/** Lists in maps in lists. */
const nested = object(
  {
    spec: object({
      groups: {
        type: 'object',
        additionalProperties: listMap(
          ['id'],
          object({
            id: integer,
            enabled: { type: 'boolean' },
            rules: listMap(
              ['name', 'index'],
              object({
                name: { type: 'string', default: 'main' },
                index: { type: 'integer', default: 0 },
                match: { type: 'object', additionalProperties: string, 'x-kubernetes-map-type': 'granular' },
                action: object({ kind: string, value: intOrString }, { 'x-kubernetes-map-type': 'atomic' }),
                zones: set(string),
              }),
            ),
          }),
        ),
      },
      keyed: listMap(['a', 'b'], object({ a: string, b: string, c: { type: 'array', items: integer }, d: boolean })),
      flags: set(boolean),
      matrix: { type: 'array', items: { type: 'array', items: integer } },
      bytes: { type: 'string', format: 'byte' },
      when: { type: 'string', format: 'date-time' },
      maybe: { type: 'string', nullable: true },
    }),
    status: object({ conditions }),
    top: string,
  },
  anything,
);

export const customKinds: Record<string, object> = {
  'fuzz.openstack.org/v1/Cloud': cloud,
  'fuzz.openstack.org/v1/Loose': loose,
  'fuzz.openstack.org/v1/Nested': nested,
};

export const builtinKinds = [
  'apps/v1/Deployment',
  'v1/Service',
  'v1/Pod',
  'v1/ConfigMap',
  'v1/Secret',
  'apps/v1/StatefulSet',
  'batch/v1/Job',
  'v1/Namespace',
  'networking.k8s.io/v1/Ingress',
  'rbac.authorization.k8s.io/v1/RoleBinding',
  'apiextensions.k8s.io/v1/CustomResourceDefinition',
  'v1/PersistentVolumeClaim',
];
