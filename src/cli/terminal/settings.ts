import { TRUSTED_REGISTRIES } from '../../services/host-access/images.ts';
import { ALLOW_HOST_ACCESS } from '../../services/host-access/index.ts';

/** Settings of the operator that plans read from its environment and people write as flags. */
interface SettingFlags {
  readonly allowHostAccess?: boolean;
  readonly trustedRegistries?: string;
}

export const settingsBy = ({ allowHostAccess, trustedRegistries }: SettingFlags): Record<string, string> => ({
  ...(allowHostAccess && { [ALLOW_HOST_ACCESS]: 'true' }),
  ...(trustedRegistries !== undefined && { [TRUSTED_REGISTRIES]: trustedRegistries }),
});

/** The same from the arguments of a container: `--flag value` and `--flag=value`. */
export function settingsOf(args: readonly string[]): Record<string, string> {
  const words = args.flatMap(arg =>
    /^--[^=]+=/.test(arg) ? [arg.slice(0, arg.indexOf('=')), arg.slice(arg.indexOf('=') + 1)] : [arg],
  );
  const at = words.indexOf('--trusted-registries');
  const trustedRegistries = at < 0 ? undefined : words[at + 1];
  return settingsBy({
    allowHostAccess: words.includes('--allow-host-access'),
    ...(trustedRegistries !== undefined && { trustedRegistries }),
  });
}
