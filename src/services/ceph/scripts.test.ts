import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { dropScript, setupScript, TAKEN } from './scripts.ts';

/** Ceph's commands as files in a folder: what the scripts themselves decide is seen by running them with a real shell. */
const CEPH = `#!/bin/bash
set -eu
d=$CEPH_STATE
case "$1 $2" in
  "osd pool")
    case "$3" in
      ls) ls "$d/pools" ;;
      create) mkdir -p "$d/pools/$4" ;;
      rm) rm -r "$d/pools/$4" ;;
      set) : ;;
      application)
        if [ "$4" = set ]; then
          case "$8" in *[!A-Za-z0-9_.=-]*) echo "invalid chars" >&2; exit 22 ;; esac
          echo "$8" > "$d/pools/$5/owner"
        else cat "$d/pools/$5/owner"; fi ;;
    esac ;;
  "config-key get") cat "$d/keys/\${3//\\//_}" ;;
  "config-key set") echo "$4" > "$d/keys/\${3//\\//_}" ;;
  "config-key rm") rm -f "$d/keys/\${3//\\//_}" ;;
  "auth get-key") head -n 1 "$d/users/$3" ;;
  "auth get") cat "$d/users/$3" ;;
  "auth rm") rm "$d/users/$3" ;;
  "auth import")
    grep '^\\[client' "$d/etc/clients.keyring" | tr -d '[]' | while read -r name; do
      { awk -v s="[$name]" '$0 == s { f = 1; next } /^\\[/ { f = 0 } f && $1 == "key" { print $3 }' "$d/etc/clients.keyring"
        echo 'caps osd = "profile rbd pool=images, profile rbd pool=vms"'; } > "$d/users/$name"
    done ;;
  *) echo "unknown: $*" >&2; exit 9 ;;
esac
`;

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'ceph-script-'));
  for (const folder of ['bin', 'pools', 'keys', 'users', 'etc']) mkdirSync(join(dir, folder));
  for (const [name, text] of [
    ['ceph', CEPH],
    ['rbd', '#!/bin/sh\n'],
  ] as const) {
    writeFileSync(join(dir, 'bin', name), text);
    chmodSync(join(dir, 'bin', name), 0o755);
  }
  keyring('ours', 'AQours==');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const keyring = (user: string, key: string) =>
  writeFileSync(join(dir, 'etc', 'clients.keyring'), `[client.${user}]\n\tkey = ${key}\n`);
const pools = [
  { name: 'images', purpose: 'images' },
  { name: 'vms', purpose: 'vms' },
] as const;
const OWNER = { mark: 'openstack-operator=aa11=CephStorage=ceph' };
const OTHER = { mark: 'openstack-operator=bb22=CephStorage=ceph' };

/** Its exit code and what it says. */
function run(script: string): { code: number; said: string } {
  const text = script.replaceAll('/etc/ceph/', `${join(dir, 'etc')}/`);
  const env = { ...process.env, PATH: `${join(dir, 'bin')}:${process.env.PATH}`, CEPH_STATE: dir };
  try {
    execFileSync('sh', ['-c', text], { env, stdio: 'pipe' });
    return { code: 0, said: '' };
  } catch (error) {
    const { status, stderr } = error as { status: number; stderr: Buffer };
    return { code: status, said: stderr.toString() };
  }
}

const setUp = (owner: { mark: string; adopt?: string } = OWNER, user = 'ours') =>
  run(setupScript(true, pools, [{ client: 'glance', user }], owner).script);
const ownerOf = (pool: string) =>
  existsSync(join(dir, 'pools', pool, 'owner')) ? readFileSync(join(dir, 'pools', pool, 'owner'), 'utf8').trim() : '';
const has = (...path: string[]) => existsSync(join(dir, ...path));

describe('the scripts for Ceph', () => {
  it('create pools and users with a mark, twice without harm', () => {
    expect(setUp()).toEqual({ code: 0, said: '' });
    expect(setUp()).toEqual({ code: 0, said: '' });
    expect([ownerOf('images'), ownerOf('vms')]).toEqual([OWNER.mark, OWNER.mark]);
    expect(has('users', 'client.ours')).toBe(true);
  });

  it('refuse pools and users of another owner, with a code of their own, and change nothing', () => {
    setUp(OTHER);
    keyring('mine', 'AQmine==');
    const { code, said } = setUp(OWNER, 'mine');
    expect([code, said.trim()]).toEqual([TAKEN, 'pool images belongs to CephStorage ceph of owner bb22']);
    expect(ownerOf('images')).toBe(OTHER.mark);
    expect(has('users', 'client.mine')).toBe(false);
    keyring('ours', 'AQdifferent==');
    rmSync(join(dir, 'pools'), { recursive: true });
    mkdirSync(join(dir, 'pools'));
    expect(setUp(OWNER, 'ours').said.trim()).toBe('user client.ours belongs to CephStorage ceph of owner bb22');
  });

  it('mark what our own key opens, and refuse the rest that carries no mark', () => {
    mkdirSync(join(dir, 'pools', 'images'));
    expect(setUp()).toEqual({ code: TAKEN, said: 'pool images carries no owner mark of this operator\n' });
    writeFileSync(join(dir, 'users', 'client.ours'), 'AQours==\ncaps osd = "profile rbd pool=images"\n');
    expect(setUp()).toEqual({ code: 0, said: '' });
    expect(ownerOf('images')).toBe(OWNER.mark);
  });

  it('a pool whose name begins like ours is not opened by our key', () => {
    mkdirSync(join(dir, 'pools', 'images'));
    writeFileSync(join(dir, 'users', 'client.ours'), 'AQours==\ncaps osd = "profile rbd pool=images2"\n');
    expect(setUp().code).toBe(TAKEN);
  });

  it.each(['images,vms,ours', 'bb22'])('adopt when the user says so: %s', adopt => {
    setUp(OTHER);
    expect(setUp({ ...OWNER, adopt })).toEqual({ code: 0, said: '' });
    expect(ownerOf('images')).toBe(OWNER.mark);
  });

  it('go on where a Job was cut off after it had created a pool', () => {
    mkdirSync(join(dir, 'pools', 'images'));
    writeFileSync(join(dir, 'keys', 'openstack-operator_pool_images'), `${OWNER.mark}\n`);
    expect(setUp()).toEqual({ code: 0, said: '' });
    expect(ownerOf('images')).toBe(OWNER.mark);
  });

  it('drop what carries our mark, also when the spec names it no more, and nothing else', () => {
    setUp();
    mkdirSync(join(dir, 'pools', 'extra'));
    writeFileSync(join(dir, 'pools', 'extra', 'owner'), `${OWNER.mark}\n`);
    mkdirSync(join(dir, 'pools', 'theirs'));
    writeFileSync(join(dir, 'pools', 'theirs', 'owner'), `${OTHER.mark}\n`);
    mkdirSync(join(dir, 'pools', 'nobodys'));
    writeFileSync(join(dir, 'users', 'client.theirs'), 'AQtheirs==\n');
    expect(run(dropScript(['ours', 'theirs'], ['images', 'vms'], OWNER))).toEqual({ code: 0, said: '' });
    expect([has('pools', 'images'), has('pools', 'extra'), has('users', 'client.ours')]).toEqual([false, false, false]);
    expect([has('pools', 'theirs'), has('pools', 'nobodys'), has('users', 'client.theirs')]).toEqual([
      true,
      true,
      true,
    ]);
    expect(run(dropScript(['ours'], ['images', 'vms'], OWNER))).toEqual({ code: 0, said: '' });
  });

  it('drop a pool without a mark that our key opens only if the spec names it', () => {
    for (const pool of ['images', 'vms']) mkdirSync(join(dir, 'pools', pool));
    const caps = 'caps osd = "profile rbd pool=images, profile rbd pool=vms"';
    writeFileSync(join(dir, 'users', 'client.ours'), `AQours==\n${caps}\n`);
    expect(run(dropScript(['ours'], ['images'], OWNER))).toEqual({ code: 0, said: '' });
    expect([has('pools', 'images'), has('pools', 'vms')]).toEqual([false, true]);
  });

  it('say so when Ceph does not list its pools, instead of finding none', () => {
    setUp();
    rmSync(join(dir, 'pools'), { recursive: true });
    expect(run(dropScript(['ours'], ['images'], OWNER)).code).not.toBe(0);
    expect(has('users', 'client.ours')).toBe(true);
  });
});
