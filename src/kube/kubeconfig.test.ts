import { describe, expect, it } from 'vitest';
import { readKubeconfig } from './kubeconfig.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const lab = `
apiVersion: v1
kind: Config
current-context: lab
contexts:
- {name: lab, context: {cluster: one, user: admin, namespace: os}}
- {name: other, context: {cluster: two, user: robot}}
- {name: open, context: {cluster: two}}
clusters:
- {name: one, cluster: {server: 'https://127.0.0.1:6443', certificate-authority-data: ${base64('CA')}, tls-server-name: kubernetes}}
- {name: two, cluster: {server: 'https://10.0.0.1', certificate-authority: pki/ca.crt, insecure-skip-tls-verify: true}}
users:
- {name: admin, user: {client-certificate-data: ${base64('CERT')}, client-key: /etc/key.pem}}
- {name: robot, user: {token: inline, tokenFile: token}}
`;
const file = (text: string, path = '/home/u/.kube/config') => ({ path, text });

describe('kubeconfig', () => {
  it('gives the current context with inline data decoded', () => {
    expect(readKubeconfig([file(lab)])).toEqual({
      context: 'lab',
      server: 'https://127.0.0.1:6443',
      namespace: 'os',
      ca: { text: 'CA' },
      insecure: false,
      serverName: 'kubernetes',
      cert: { text: 'CERT' },
      key: { file: '/etc/key.pem' },
      token: undefined,
    });
  });

  it('gives another context when asked; file names count from the kubeconfig, a token file wins', () => {
    expect(readKubeconfig([file(lab)], 'other')).toMatchObject({
      ca: { file: '/home/u/.kube/pki/ca.crt' },
      insecure: true,
      token: { file: '/home/u/.kube/token' },
      namespace: undefined,
    });
    expect(readKubeconfig([file(lab)], 'open').token).toBeUndefined();
  });

  it('merges several files: the first of a name wins', () => {
    const first = `current-context: other\nclusters:\n- {name: two, cluster: {server: 'https://first'}}\n`;
    expect(readKubeconfig([file(first, '/a/config'), file(lab)])).toMatchObject({
      context: 'other',
      server: 'https://first',
      token: { file: '/home/u/.kube/token' },
    });
  });

  const user = (text: string) => lab.replace('{token: inline, tokenFile: token}', text);
  it.each([
    ['no such context', lab, 'nope', 'no context nope'],
    [
      'no current context',
      lab.replace('current-context: lab', ''),
      undefined,
      'no current-context; name one with --context',
    ],
    ['no such cluster', lab.replaceAll('cluster: two,', 'cluster: gone,'), 'other', 'no cluster gone (context other)'],
    ['no such user', lab.replace('user: robot', 'user: gone'), 'other', 'no user gone (context other)'],
    ['exec', user('{exec: {command: aws}}'), 'other', 'user robot uses exec, which is not supported yet'],
    ['a list', '- 1', undefined, 'not a mapping'],
    ['no YAML', 'token: "secret', undefined, 'not valid YAML'],
  ])('says what is wrong: %s', (_, text, context, message) => {
    expect(() => readKubeconfig([file(text)], context)).toThrow(`kubeconfig /home/u/.kube/config: ${message}`);
  });

  it('does not quote the file in errors', () => {
    expect(() => readKubeconfig([file('token: "hunter2')])).toThrow(/^(?!.*hunter2)/);
  });
});
