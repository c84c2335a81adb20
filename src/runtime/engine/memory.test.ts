import { describe, expect, it } from 'vitest';
import { Deployment, Secret } from '../../kube/resource.ts';
import { Memory } from '../plan/pass/memory.ts';

const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' } };

describe('what survives a pass', () => {
  it('is forgotten with the object that it is about', () => {
    const memory = new Memory();
    const ref = { namespace: 'openstack', name: 'a' };
    memory.applied.set('deployments.apps openstack/a', { hash: 'h', version: '1' });
    memory.rolls.set('deployments.apps openstack/a', { picture: 'p', since: 0 });
    memory.secrets.set('openstack/a', { version: '1', secret, data: { password: 'x' } });
    memory.forget(Deployment, ref);
    expect([memory.applied.size, memory.rolls.size, memory.secrets.size]).toEqual([0, 0, 1]);
    memory.forget(Secret, ref);
    expect(memory.secrets.size).toBe(0);
  });

  it('is bounded, whatever comes and goes', () => {
    const memory = new Memory();
    for (let i = 0; i < 2_000; i++) memory.secrets.set(`openstack/${i}`, { version: '1', secret, data: {} });
    expect(memory.secrets.size).toBe(1_000);
  });
});
