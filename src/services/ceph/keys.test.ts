import { describe, expect, it } from 'vitest';
import { capsOf, cephKey, fsidIn, keyIn, keyring, type Pool } from './keys.ts';

const pools: readonly Pool[] = [
  { name: 'img', purpose: 'images' },
  { name: 'vol', purpose: 'volumes' },
  { name: 'fast', purpose: 'volumes' },
  { name: 'vms', purpose: 'vms' },
];
const random = { bytes: (n: number) => new Uint8Array(n).fill(7) } as never;

describe('keys of Ceph', () => {
  it('have the layout that ceph-authtool writes', () => {
    const raw = Buffer.from(cephKey(random, 1_700_000_000_500), 'base64');
    expect(raw).toHaveLength(28);
    expect([raw.readUInt16LE(0), raw.readUInt32LE(2), raw.readUInt32LE(6), raw.readUInt16LE(10)]).toEqual([
      1, 1_700_000_000, 0, 16,
    ]);
    expect([...raw.subarray(12)]).toEqual(Array(16).fill(7));
    // The shape everybody knows from keyrings.
    expect(cephKey(random, 1_700_000_000_000)).toMatch(/^AQ[A-Za-z0-9+/]{36}==$/);
  });

  it('open what their service writes, and images read-only for the services that clone them', () => {
    expect(capsOf('cinder', pools)).toEqual({
      mon: 'profile rbd',
      osd: 'profile rbd pool=vol, profile rbd pool=fast, profile rbd pool=vms, profile rbd-read-only pool=img',
      mgr: 'profile rbd pool=vol, profile rbd pool=fast, profile rbd pool=vms',
    });
    expect(capsOf('glance', pools).osd).toBe('profile rbd pool=img');
  });

  it('are found in keyrings, by user', () => {
    const text = `${keyring('a', 'AQa==')}${keyring('b', 'AQb==', { mon: 'allow r' })}`;
    expect(keyIn(text, 'b')).toBe('AQb==');
    expect(keyIn(text, 'c')).toBeUndefined();
    expect(text).toContain('\tcaps mon = "allow r"\n');
  });

  it.each([
    ['[global]\nfsid = 4b5c8c0a-ff60-454b-a1b4-9747aa737d19\n', '4b5c8c0a-ff60-454b-a1b4-9747aa737d19'],
    ['[global]\n  fsid="4b5c8c0a-ff60-454b-a1b4-9747aa737d19"\n', '4b5c8c0a-ff60-454b-a1b4-9747aa737d19'],
    ['[global]\nmon_host = 1.2.3.4\n# fsid = x\n', undefined],
  ])('fsid of %j', (conf, fsid) => expect(fsidIn(conf)).toBe(fsid));
});
