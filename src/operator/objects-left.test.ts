import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KINDS } from '../../api/kinds.ts';

/** `make undeploy` and `make uninstall` ask config/objects-left.sh first; kubectl is a stub here. */
let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'objects-left-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function run(kinds: string, objects: string): { code: number; said: string } {
  const crds = `for crd in ${kinds}; do echo customresourcedefinition.apiextensions.k8s.io/$crd; done`;
  return stubbed(`if [ "$2" = customresourcedefinitions ]; then ${crds}; else printf '%s' '${objects}'; fi`);
}

function stubbed(kubectl: string): { code: number; said: string } {
  const stub = `#!/bin/sh\n${kubectl}\n`;
  writeFileSync(join(dir, 'kubectl'), stub);
  chmodSync(join(dir, 'kubectl'), 0o755);
  try {
    execFileSync('bash', ['config/objects-left.sh'], { env: { PATH: `${dir}:${process.env.PATH}` }, stdio: 'pipe' });
    return { code: 0, said: '' };
  } catch (error) {
    const { status, stderr } = error as { status: number; stderr: Buffer };
    return { code: status, said: stderr.toString() };
  }
}

describe('taking the operator out', () => {
  it('is refused while objects of ours exist, and lists them', () => {
    const { code, said } = run('keystones.openstack.k8s.io', 'Keystone   openstack   keystone');
    expect(code).toBe(1);
    expect(said).toContain('Delete them first:\nKeystone   openstack   keystone');
  });

  it('asks for every kind of ours, and for none of others', () => {
    const asked = join(dir, 'asked');
    const crds = KINDS.map(({ plural, group }) => `${plural}.${group}`);
    const others = ['certificates.cert-manager.io', 'openstacks.example.com', 'x.k8s.io'];
    const list = [...crds, ...others].map(name => `customresourcedefinition.apiextensions.k8s.io/${name}`).join('\n');
    const { code } = stubbed(
      `if [ "$2" = customresourcedefinitions ]; then echo '${list}'; else echo "$2" > ${asked}; fi`,
    );
    expect(code).toBe(0);
    expect(readFileSync(asked, 'utf8').trim().split(',').sort()).toEqual([...crds].sort());
  });

  it.each(['customresourcedefinitions', 'keystones.openstack.k8s.io'])(
    'is refused when nobody can say whether there are any: %s',
    what => {
      const { code, said } = stubbed(
        `[ "$2" = ${what} ] && { echo 'dial tcp: connection refused' >&2; exit 1; }\necho x/keystones.openstack.k8s.io`,
      );
      expect(code).toBe(1);
      expect(said).toContain('connection refused');
    },
  );

  it('goes on when there are none, and when there are no CRDs', () => {
    expect(run('keystones.openstack.k8s.io', '')).toEqual({ code: 0, said: '' });
    expect(run('', '')).toEqual({ code: 0, said: '' });
    expect(run('certificates.cert-manager.io', 'x')).toEqual({ code: 0, said: '' });
  });
});
