import { describe, expect, it } from 'vitest';
import { references, substitute } from './substitute.ts';

const set: Record<string, Record<string, string>> = {
  DEFAULT: {
    my_ip: '10.0.0.1',
    state_path: '/var/lib/nova',
    loop: '$loop',
    bomb: '$bomb2'.repeat(50),
    bomb2: '$bomb3'.repeat(50),
    bomb3: 'x'.repeat(9),
  },
  vnc: { listen: '$my_ip', unset: '' },
};
const lookup = {
  section: (name: string) => name in set,
  option: (section: string, key: string) => set[section]?.[key],
};

describe('substitute', () => {
  // biome-ignore-start lint/suspicious/noTemplateCurlyInString: these are oslo's templates
  it.each([
    ['$my_ip', '10.0.0.1'],
    ['http://${my_ip}:80', 'http://10.0.0.1:80'],
    ['$vnc.listen', '10.0.0.1'],
    ['[$unset]', '[]'],
    ['a$$b', 'a$b'],
    ['a\\$b', 'a$b'],
    ['100$', '100$'],
    ['$1 ${x', '$1 ${x'],
  ])('%s gives %s', (value, expected) => {
    expect(substitute(value, 'vnc', lookup)).toEqual({ ok: expected });
  });

  it.each(['$nope', '$vnc.nope', '$none.my_ip', '$my_ip.', '$loop', '$MY_IP'])(
    '%s kills the service that reads it',
    value => {
      expect(substitute(value, 'vnc', lookup)).toMatchObject({ error: {} });
    },
  );

  it('lists references with their offset, escapes are none', () => {
    expect(references('a $b \\$c $$d ${e.f}')).toEqual([
      { name: 'b', offset: 2 },
      { name: 'e.f', offset: 13 },
    ]);
  });
  // biome-ignore-end lint/suspicious/noTemplateCurlyInString: these are oslo's templates

  it('bounds the work that a text can ask for', () => {
    expect(substitute('$bomb'.repeat(50), 'DEFAULT', lookup)).toMatchObject({
      error: { message: expect.stringContaining('leads to itself') },
    });
  });
});
