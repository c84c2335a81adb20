import { describe, expect, it } from 'vitest';
import { expectedOf, silent } from './reported.ts';

const two = expectedOf('nova-conductor', 'nova-cell1-conductor', 2);
const row = (host: string, state = 'up', binary = 'nova-conductor') => ({ binary, host, state });

describe('services that report', () => {
  it('are expected under the names of their pods', () => {
    expect(two.map(s => s.host)).toEqual(['nova-cell1-conductor-0', 'nova-cell1-conductor-1']);
    expect(expectedOf('nova-scheduler', 'nova-scheduler', 0)).toEqual([]);
  });

  it.each([
    ['both up', [row('nova-cell1-conductor-0'), row('nova-cell1-conductor-1')], []],
    ['one down', [row('nova-cell1-conductor-0'), row('nova-cell1-conductor-1', 'down')], ['nova-cell1-conductor-1']],
    ['one never seen', [row('nova-cell1-conductor-0')], ['nova-cell1-conductor-1']],
    [
      'one down because somebody disabled it',
      [row('nova-cell1-conductor-0'), { ...row('nova-cell1-conductor-1', 'down'), status: 'disabled' }],
      [],
    ],
    [
      'a name that is only alike (cell1 and cell10)',
      [row('nova-cell10-conductor-0'), row('nova-cell1-conductor-1')],
      ['nova-cell1-conductor-0'],
    ],
    [
      'another program of that name',
      [row('nova-cell1-conductor-0', 'up', 'nova-compute'), row('nova-cell1-conductor-1')],
      ['nova-cell1-conductor-0'],
    ],
  ])('%s', (_name, services, missing) => {
    expect(silent(two, { services }).map(s => s.host)).toEqual(missing);
  });

  it.each([undefined, null, {}, { services: 'x' }])('takes the answer %j for silence', answer => {
    expect(silent(two, answer)).toEqual(two);
  });
});
