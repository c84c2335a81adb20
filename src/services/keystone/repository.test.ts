import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { keyCopier } from './repository.ts';

const root = mkdtempSync(join(tmpdir(), 'keys-'));
afterAll(() => rmSync(root, { recursive: true }));

const { command = [] } = keyCopier('image', { fernet: 'f', credential: 'c' });
const script = command[2]!.replaceAll('/var/lib/openstack/keystone', root);
const run = () => execFileSync('sh', ['-c', script], { stdio: 'pipe' });

/** As the kubelet writes a Secret: files behind a link to a folder that is replaced as a whole. */
function secret(name: string, keys: Readonly<Record<string, string>>, generation: number): void {
  const folder = join(root, name);
  mkdirSync(join(folder, `..${generation}`), { recursive: true });
  for (const [key, text] of Object.entries(keys)) writeFileSync(join(folder, `..${generation}`, key), text);
  symlinkSync(`..${generation}`, join(folder, '..data_tmp'));
  renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
}
const copies = (name: string) => {
  const folder = join(root, 'copies', name);
  return Object.fromEntries(readdirSync(folder).map(key => [key, readFileSync(join(folder, key), 'utf8')]));
};
const mode = (path: string): number => statSync(join(root, 'copies', path)).mode & 0o777;

describe('copies of keys', () => {
  it('are for their user alone, follow a rotation, and stay when there is nothing to copy', () => {
    secret('fernet-keys', { '0': 'staged', '1': 'signs' }, 1);
    secret('credential-keys', { '0': 'a', '1': 'b' }, 1);
    run();
    expect(copies('fernet-keys')).toEqual({ '0': 'staged', '1': 'signs' });
    expect([mode('fernet-keys'), mode('fernet-keys/0'), mode('credential-keys')]).toEqual([0o700, 0o600, 0o700]);
    secret('fernet-keys', { '0': 'next', '2': 'staged' }, 2);
    run();
    expect(copies('fernet-keys')).toEqual({ '0': 'next', '2': 'staged' });
    secret('fernet-keys', {}, 3);
    expect(run).toThrow();
    expect(copies('fernet-keys')).toEqual({ '0': 'next', '2': 'staged' });
  });
});
