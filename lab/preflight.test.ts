import { describe, expect, it } from 'vitest';
import { distribution, type Machine, refusals } from './preflight.ts';

const good: Machine = {
  root: true,
  os: 'linux',
  osName: 'Debian GNU/Linux 12 (bookworm)',
  debian: 12,
  architecture: 'x64',
  memoryGiB: 23.4,
  freeDiskGiB: 70,
  cores: 2,
  go: true,
};

describe('what the lab needs of a machine', () => {
  it('takes a machine that has it all', () => {
    expect(refusals(good, false)).toEqual([]);
  });

  it.each([
    [{ root: false }, /not root/],
    [{ debian: 11, osName: 'Debian GNU/Linux 11' }, /Debian GNU\/Linux 11, not Debian 12/],
    [{ debian: 0, osName: 'Ubuntu 24.04' }, /Ubuntu 24.04/],
    [{ freeDiskGiB: 3.21 }, /3\.2 GiB are free .* 20 GiB are needed/],
    [{ memoryGiB: 2 }, /2\.0 GiB of memory; 6 GiB are needed/],
    [{ go: false }, /Go is not on PATH/],
    [{ architecture: 'arm64' }, /arm64/],
    [{ os: 'darwin' }, /darwin/],
  ])('refuses %o with numbers', (change, words) => {
    const said = refusals({ ...good, ...change }, false);
    expect(said).toHaveLength(1);
    expect(said[0]).toMatch(words);
  });

  it('says everything at once', () => {
    expect(refusals({ ...good, root: false, memoryGiB: 1, freeDiskGiB: 1, go: false }, false)).toHaveLength(4);
  });

  it('needs less when the cache is warm', () => {
    expect(refusals({ ...good, freeDiskGiB: 6, go: false }, true)).toEqual([]);
  });

  it('knows Debian from its children', () => {
    expect(distribution('PRETTY_NAME="Debian GNU/Linux 13 (trixie)"\nVERSION_ID="13"\nID=debian\n')).toEqual({
      name: 'Debian GNU/Linux 13 (trixie)',
      debian: 13,
    });
    expect(distribution('PRETTY_NAME="Ubuntu 24.04"\nVERSION_ID="24.04"\nID=ubuntu\nID_LIKE=debian\n').debian).toBe(0);
    expect(distribution('')).toEqual({ name: 'an unknown system', debian: 0 });
  });
});
