import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { switchScript } from './scripts.ts';

describe('the start script of the switch', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'switch-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** Programs of the image, each of one line of shell. */
  const programs = (lines: Readonly<Record<string, string>>): void => {
    for (const [name, line] of Object.entries(lines)) {
      writeFileSync(join(folder, name), `#!/bin/sh\n${line}\n`);
      chmodSync(join(folder, name), 0o755);
    }
  };

  /** What the script of a datapath sets up in its first look at the taps; `gone` is one that cannot be. */
  const linksSetUp = (datapath: string): string => {
    const log = join(folder, 'ip.log');
    writeFileSync(log, '');
    programs({
      'ovs-vsctl': `case "$*" in *"find interface admin_state=down"*) echo gone; echo tap1 ;; esac`,
      'ovs-vswitchd': 'wait',
      ip: `echo "$@" >> ${log}; [ "$3" != gone ]`,
      sleep: `[ ! -e ${folder}/slept ] || exit 1; touch ${folder}/slept`,
    });
    const { text } = switchScript({ datapath });
    execFileSync('sh', ['-c', text], { env: { PATH: `${folder}:${process.env.PATH}` } });
    return readFileSync(log, 'utf8');
  };

  it('sets taps up that are down, in userspace only', () => {
    expect(linksSetUp('netdev')).toBe('link set gone up\nlink set tap1 up\n');
    rmSync(join(folder, 'slept'));
    expect(linksSetUp('system')).toBe('');
  });
});
