import { describe, expect, it } from 'vitest';
import { linesOf, tempestConf, verdictOf } from './tempest.ts';

const judged = {
  folder: '/w',
  keystone: 'https://keystone.cloud.test',
  password: 'p',
  region: 'RegionOne',
  ca: '/w/ca.crt',
  catalog: new Set(['identity', 'image', 'compute', 'network']),
  images: ['i', 'j'],
  flavors: ['f', 'g'],
  publicNetwork: 'n',
  extensions: ['router', 'dns'],
  backup: false,
} as const;

const OUTPUT = `{1} tempest.api.identity.v3.test_api_discovery.X.test_a [0.10s] ... ok
{0} setUpClass (tempest.api.object_storage.Y) ... SKIPPED: Y skipped as swift is not available
{0} tempest.api.compute.Z.test_b [1.2s] ... FAILED

======
Totals
======
Ran: 147 tests in 812.1 sec.
 - Passed: 100
 - Skipped: 46
 - Expected Fail: 0
 - Unexpected Success: 0
 - Failed: 1
Sum of execute time for each test: 1000 sec.
`;

describe('Tempest', () => {
  it('is told which services there are', () => {
    const conf = tempestConf(judged);
    expect(conf).toContain('nova = true\n');
    expect(conf).toContain('cinder = false\n');
    expect(conf).toContain('uri_v3 = https://keystone.cloud.test/v3\n');
    expect(conf).toContain('ca_certificates_file = /w/ca.crt\n');
    expect(tempestConf({ ...judged, ca: undefined as never })).not.toContain('ca_certificates_file');
  });

  it('is read: passed, skipped, failed, and which', () => {
    expect(verdictOf(OUTPUT)).toEqual({ passed: 100, skipped: 46, failed: 1 });
    expect(linesOf(OUTPUT, 'FAILED')).toEqual(['{0} tempest.api.compute.Z.test_b [1.2s] ... FAILED']);
    expect(linesOf(OUTPUT, 'SKIPPED')).toHaveLength(1);
    expect(() => verdictOf('Traceback')).toThrow(/counted nothing/);
  });
});
