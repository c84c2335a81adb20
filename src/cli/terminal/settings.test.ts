import { expect, it } from 'vitest';
import { settingsOf } from './settings.ts';

it.each<[string[], object]>([
  [['run', '--leader-elect'], {}],
  [['run', '--allow-host-access'], { ALLOW_HOST_ACCESS: 'true' }],
  [['run', '--trusted-registries', 'a,b'], { TRUSTED_REGISTRIES: 'a,b' }],
  [
    ['run', '--trusted-registries=a/b=c', '--allow-host-access'],
    { TRUSTED_REGISTRIES: 'a/b=c', ALLOW_HOST_ACCESS: 'true' },
  ],
  [['run', '--trusted-registries'], {}],
])('the flags of a deployed operator are its settings: %j', (args, settings) => {
  expect(settingsOf(args)).toEqual(settings);
});
