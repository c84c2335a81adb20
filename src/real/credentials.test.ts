import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { loadCredentials } from './credentials.ts';

const dir = mkdtempSync(join(tmpdir(), 'credentials-'));
afterAll(() => rmSync(dir, { recursive: true }));
const write = (name: string, text: string) => {
  writeFileSync(join(dir, name), text);
  return join(dir, name);
};
const config = (server: string, user = '{token: t}') => `
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: '${server}'}}]
users: [{name: u, user: ${user}}]
`;

describe('where credentials come from', () => {
  const flag = write('flag', config('https://flag'));
  const env = write('env', config('https://env'));
  mkdirSync(join(dir, '.kube'));
  write('.kube/config', config('https://home'));
  mkdirSync(join(dir, 'sa'));
  for (const [name, text] of Object.entries({ token: 'one\n', 'ca.crt': 'CA', namespace: 'os\n' }))
    write(`sa/${name}`, text);
  const serviceAccountDir = join(dir, 'sa');
  const pod = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };

  it.each([
    ['--kubeconfig', { kubeconfig: flag, env: { KUBECONFIG: env, HOME: dir, ...pod } }, 'https://flag'],
    ['KUBECONFIG, skipping absent files', { env: { KUBECONFIG: `/nowhere:${env}`, HOME: dir, ...pod } }, 'https://env'],
    ['the service account', { env: { HOME: dir, ...pod } }, 'https://[fd00::1]:443'],
    ['the home directory', { env: { HOME: dir } }, 'https://home'],
    ['a context named in a pod', { context: 'c', env: { HOME: dir, ...pod } }, 'https://home'],
  ])('%s', (_, options, server) => {
    expect(loadCredentials({ serviceAccountDir, ...options }).server).toBe(server);
  });

  it('says so when there are none, or when KUBECONFIG leads nowhere', () => {
    expect(() => loadCredentials({ env: {} })).toThrow('no cluster: give --kubeconfig');
    expect(() => loadCredentials({ env: { KUBECONFIG: '/nowhere' } })).toThrow('KUBECONFIG names /nowhere');
    expect(() => loadCredentials({ kubeconfig: '/nowhere', env: {} })).toThrow(
      'cannot read the kubeconfig at /nowhere: ENOENT',
    );
  });

  it('read() sees a rotated token and the namespace of the pod', () => {
    const credentials = loadCredentials({ env: pod, serviceAccountDir });
    expect([credentials.namespace, credentials.read().token]).toEqual(['os', 'one']);
    write('sa/token', 'two\n');
    expect(credentials.read()).toMatchObject({ token: 'two', ca: 'CA' });
  });

  it('read() sees files that a kubeconfig names, and a kubeconfig that was rewritten', () => {
    write('token', 'first');
    const path = write('rotating', config('https://x', '{tokenFile: token}'));
    const credentials = loadCredentials({ kubeconfig: path, env: {} });
    expect([credentials.namespace, credentials.read().token]).toEqual(['default', 'first']);
    write('token', 'second');
    expect(credentials.read().token).toBe('second');
    write('rotating', config('https://x', '{token: third}'));
    expect(credentials.read().token).toBe('third');
  });
});
