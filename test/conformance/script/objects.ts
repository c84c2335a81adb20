/** Objects that several areas write. */

export const template = (labels: Record<string, string> = { app: 'a' }, more: object = {}) => ({
  metadata: { labels },
  spec: { containers: [{ name: 'c', image: 'example.com/nginx:1.2', ...more }] },
});

export const deployment = (name: string, spec: object = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: { selector: { matchLabels: { app: 'a' } }, template: template(), ...spec },
});

export const configMap = (name: string, data: Record<string, string> = { a: '1' }, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...metadata },
  data,
});

export const pod = (name: string, spec: object = {}, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, ...metadata },
  spec: { containers: [{ name: 'c', image: 'example.com/nginx:1.2' }], ...spec },
});

export const ns = (namespace: string, plural: string, name = '') =>
  `/api/v1/namespaces/${namespace}/${plural}${name && `/${name}`}`;
export const apps = (namespace: string, plural: string, name = '') =>
  `/apis/apps/v1/namespaces/${namespace}/${plural}${name && `/${name}`}`;
export const batch = (namespace: string, plural: string, name = '') =>
  `/apis/batch/v1/namespaces/${namespace}/${plural}${name && `/${name}`}`;
