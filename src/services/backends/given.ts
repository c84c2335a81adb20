import { Unwritable, write } from '../../oslo/write.ts';
import { stall } from '../../runtime/plan/unmet.ts';
import { isHost } from '../../world/quote/url.ts';

/**
 * Values of Secrets that users make. What a file or a URL can't carry is refused by the names of Secret and key: a newline
 * at the end, which `echo` leaves, would else be cut off or break the file. A value is never in a message.
 */

/** What is wrong with a value, or undefined. */
type Form = (value: string) => string | undefined;

const ends = (value: string): string | undefined => (/[\r\n]$/.test(value) ? 'ends with a newline' : undefined);

const host: Form = value => ends(value) ?? (isHost(value) ? undefined : 'is neither a host name nor an address');
const port: Form = value =>
  ends(value) ?? (/^[1-9][0-9]{0,4}$/.test(value) && Number(value) < 65_536 ? undefined : 'is not a port');
const word: Form = value =>
  ends(value) ??
  (value !== '' && !/\p{Cc}|^\s|\s$/u.test(value)
    ? undefined
    : 'is empty, holds a control character, or begins or ends with a blank');
const url: Form = value =>
  ends(value) ?? (/^https?:\/\/[^\s\p{Cc}]+$/u.test(value) && URL.canParse(value) ? undefined : 'is not an HTTP URL');

/** oslo.config has few escapes. */
const oslo: Form = value => {
  try {
    write({ DEFAULT: { value } });
    return undefined;
  } catch (error) {
    if (!(error instanceof Unwritable)) throw error;
    return ends(value) ?? error.problem;
  }
};

/** By key, for all Secrets that open a server. */
const FORMS = {
  hostname: host,
  'hosts-hostname': host,
  port,
  'hosts-port': port,
  user: word,
  vhost: word,
  database: word,
  project: word,
  region: word,
  url,
  'hosts-url': url,
  auth_url: url,
} as const;

/** Refuses what can't work. `osloKeys`: keys whose value is written to an oslo.config file as it is. */
export function checkGiven(
  data: Readonly<Record<string, string | undefined>>,
  secret: string,
  field: string,
  osloKeys: readonly string[] = [],
): void {
  const forms: Readonly<Record<string, Form>> = { ...FORMS, ...Object.fromEntries(osloKeys.map(key => [key, oslo])) };
  for (const [key, form] of Object.entries(forms)) {
    const value = data[key];
    const problem = value === undefined ? undefined : form(value);
    if (problem === undefined) continue;
    throw stall({
      reason: 'SecretInvalid',
      about: { kind: 'Secret', name: secret },
      what: `Secret ${secret}, named in ${field}: key ${key} ${problem}`,
      who: 'User',
      next:
        problem === 'ends with a newline' ? 'remove it: use printf, not echo, or kubectl --from-literal' : 'correct it',
    });
  }
}
