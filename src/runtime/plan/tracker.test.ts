import { describe, expect, it } from 'vitest';
import { Pod, Secret } from '../../kube/resource.ts';
import { Tracker } from './tracker.ts';

const meta = (name: string, labels: Record<string, string> = {}, namespace = 'ns') => ({ name, namespace, labels });
const ref = (name: string, namespace = 'ns') => ({ name, namespace });

describe('Tracker', () => {
  it('wakes whoever read an object, found or missing, and nobody else', () => {
    const tracker = new Tracker();
    tracker.begin('one').read(Secret, ref('a'));
    tracker.begin('two').read(Secret, ref('a'));
    tracker.begin('three').read(Secret, ref('b'));
    expect([...tracker.concerned(Secret, meta('a'))]).toEqual(['one', 'two']);
    expect([...tracker.concerned(Pod, meta('a'))]).toEqual([]);
    expect([...tracker.concerned(Secret, meta('a', {}, 'other'))]).toEqual([]);
  });

  it('wakes whoever would have found it in a list', () => {
    const tracker = new Tracker();
    tracker.begin('one').scan(Pod, 'ns', { app: 'x' });
    tracker.begin('all').scan(Pod, 'ns', {});
    expect([...tracker.concerned(Pod, meta('p', { app: 'x', more: 'y' }))].sort()).toEqual(['all', 'one']);
    expect([...tracker.concerned(Pod, meta('p', { app: 'z' }))]).toEqual(['all']);
    expect([...tracker.concerned(Pod, meta('p', { app: 'x' }, 'other'))]).toEqual([]);
  });

  it('a change of status alone does not wake who left the status out', () => {
    const tracker = new Tracker();
    tracker.begin('whole').read(Pod, ref('p'));
    tracker.begin('all').scan(Pod, 'ns', {});
    for (const owner of ['wish', 'wishes']) {
      const reads = tracker.begin(owner);
      if (owner === 'wish') reads.read(Pod, ref('p'), 'wish');
      else reads.scan(Pod, 'ns', {}, 'wish');
      reads.done();
    }
    expect([...tracker.concerned(Pod, meta('p'), true)].sort()).toEqual(['all', 'whole']);
    expect([...tracker.concerned(Pod, meta('p'))].sort()).toEqual(['all', 'whole', 'wish', 'wishes']);
    // A pass that does not look again is forgotten here too.
    for (const owner of ['wish', 'wishes']) tracker.begin(owner).done();
    expect([...tracker.concerned(Pod, meta('p'))].sort()).toEqual(['all', 'whole']);
  });

  it('a read counts from the moment it is made, not from the end of the pass', () => {
    const tracker = new Tracker();
    const reads = tracker.begin('one');
    reads.read(Secret, ref('a'));
    expect([...tracker.concerned(Secret, meta('a'))]).toEqual(['one']);
    reads.done();
    expect([...tracker.concerned(Secret, meta('a'))]).toEqual(['one']);
  });

  it('forgets what the last pass looked at and this one did not, but not before this one ends', () => {
    const tracker = new Tracker();
    const first = tracker.begin('one');
    first.read(Secret, ref('old'));
    first.scan(Pod, 'ns', { app: 'x' });
    first.done();
    const second = tracker.begin('one');
    second.read(Secret, ref('new'));
    expect([...tracker.concerned(Secret, meta('old'))]).toEqual(['one']);
    second.done();
    expect([...tracker.concerned(Secret, meta('old'))]).toEqual([]);
    expect([...tracker.concerned(Pod, meta('p', { app: 'x' }))]).toEqual([]);
    expect([...tracker.concerned(Secret, meta('new'))]).toEqual(['one']);
  });

  it('an owner that goes leaves others alone', () => {
    const tracker = new Tracker();
    for (const owner of ['one', 'two']) {
      const reads = tracker.begin(owner);
      reads.read(Secret, ref('a'));
      reads.scan(Pod, 'ns', { app: 'x' });
      reads.done();
    }
    tracker.forget('one');
    expect([...tracker.concerned(Secret, meta('a'))]).toEqual(['two']);
    expect([...tracker.concerned(Pod, meta('p', { app: 'x' }))]).toEqual(['two']);
  });
});
