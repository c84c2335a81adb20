import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

/** `make undeploy` and `make uninstall` ask config/objects-left.sh first; kubectl is a stub here. */
let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'objects-left-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function run(kinds: string, objects: string): { code: number; said: string } {
  const stub = `#!/bin/sh\nif [ "$1" = api-resources ]; then printf '%s' '${kinds}'; else printf '%s' '${objects}'; fi\n`;
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

  it('goes on when there are none, and when there are no CRDs', () => {
    expect(run('keystones.openstack.k8s.io', '')).toEqual({ code: 0, said: '' });
    expect(run('', '')).toEqual({ code: 0, said: '' });
  });
});
