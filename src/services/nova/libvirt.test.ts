import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { libvirtFiles, virtlogdFiles } from './libvirt.ts';

const textOf = (key: string): string => libvirtFiles.find(file => file.key === key)!.text;

it('guests are neither root nor free to call everything', () => {
  const settings = Object.fromEntries(
    textOf('qemu.conf')
      .split('\n')
      .filter(line => line.includes('='))
      .map(line => line.split(' = ') as [string, string]),
  );
  expect(settings).toMatchObject({
    user: '"nova"',
    group: '"nova"',
    dynamic_ownership: '1',
    seccomp_sandbox: '1',
    stdio_handler: '"logd"',
  });
});

it('the start scripts are text that bash reads', () => {
  for (const { key, text } of [...libvirtFiles, ...virtlogdFiles].filter(file => file.key.endsWith('.sh')))
    expect(execFileSync('bash', ['-n'], { input: text, encoding: 'utf8' }), key).toBe('');
});

it('the user of guests is in the group that the device has on the node, and who reads the log hears if that is not enough', () => {
  const [, device] = /(if \[ -c \/dev\/kvm \][\s\S]*?\nfi)\n/.exec(textOf('libvirt-start.sh'))!;
  const run = (group: string, mayOpen: boolean): string => {
    const words = device!
      .replace('[ -c /dev/kvm ]', 'true')
      .replace('stat -c %g /dev/kvm', `echo ${group}`)
      .replace('>>/etc/group', '')
      .replace('setpriv --reuid nova --regid nova --init-groups test -w /dev/kvm', String(mayOpen))
      .replace('>&2', '');
    return execFileSync('bash', ['-euc', words], { encoding: 'utf8' });
  };
  expect(run('104', true)).toBe('node-kvm:x:104:nova\n');
  expect(run('0', false)).toMatch(/^user nova may not open \/dev\/kvm, so guests .* mode 0660\n$/);
});
