import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { lvmStart } from './lvm.ts';

/** Commands of the node that note what they are called with, one argument per line. */
const NOTES = `#!/bin/bash\n{ echo "\${0##*/}"; printf "  %s\\n" "$@"; } >>"$LOG"\n`;

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'lvm-'));
  for (const name of ['vgs', 'losetup', 'pvcreate', 'vgcreate', 'truncate', 'cinder-volume']) {
    writeFileSync(join(dir, name), name === 'vgs' ? `${NOTES}exit 5\n` : NOTES);
    chmodSync(join(dir, name), 0o755);
  }
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function run(script: string): string {
  const env = { PATH: `${dir}:${process.env.PATH}`, LOG: join(dir, 'log') };
  writeFileSync(join(dir, 'start.sh'), script);
  execFileSync('bash', [join(dir, 'start.sh')], { cwd: dir, env, stdio: 'pipe' });
  return readFileSync(join(dir, 'log'), 'utf8');
}

const HOSTILE = ["x'; touch marker; '", '$(touch marker)', '`touch marker`', '"; touch marker; "'];

it.each(HOSTILE)('runs nothing that a volume group is called: %s', name => {
  const log = run(lvmStart(name, `/srv/${name}.img`, '1Gi'));
  expect(existsSync(join(dir, 'marker'))).toBe(false);
  expect(log).toContain(`vgcreate\n  ${name}\n`);
  expect(log).toContain(`truncate\n  -s\n  1G\n  /srv/${name}.img\n`);
});

it('says the name of a group that is not there', () => {
  const name = "a'b$(touch marker)";
  expect(() => run(lvmStart(name, undefined, undefined))).toThrow();
  expect(existsSync(join(dir, 'marker'))).toBe(false);
});
