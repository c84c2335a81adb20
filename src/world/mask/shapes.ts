/**
 * What looks like a secret, from any source: the second line of defence, for values that no Secret at hand holds. It may
 * hide a word too many; it must not take long, so every pattern has a fixed beginning and a bounded length.
 */

export const MASK = '***';

/** Gives what stands in the place of a secret. */
type Instead = (secret: string) => string;

/** Names in INI, JSON, YAML, Python and on command lines whose value is a secret, by their end. */
const NAMES = [
  'password',
  'passwd',
  'passphrase',
  'passcode',
  '(?<![a-z])pass',
  'credentials?',
  // `secret: nova-db` and `databaseSecret: nova-db` name a Secret; `client_secret: x` and `secret = x` are one.
  '[_-]secret',
  '(?<![\\w-])secret(?=\\s*=)',
  'token',
  '[_-]key',
  'apikey',
  'encryption_?key',
  // Of a Ceph keyring.
  '(?<![\\w.-])key(?=\\s*=)',
  'cookie',
  '(?<=")auth(?=")',
].join('|');
/** Something that may be such a name, and a sign of equality. */
const ASSIGNED = /(?:pass\w{0,6}|credentials?|secret|token|key|cookie|auth)\\?["']?\s{0,4}[=:]/i;
const CONF = `[\\w.-]{0,80}?(?:${NAMES})`;

/** A file's name is no key. */
const PATH = /^\/[\w./-]+$/;
/** `Access denied for user 'nova'@'10.0.0.1' (using password: YES)` is useful, and so are `<new password>` and `$(cat it)`. */
const SAYS = /^((yes|no)\b|<|\.\.\.|…|\$[({])/i;
/** What an earlier look put there. */
const MASKED = /^(\*\*\*|\(secret\)|masked(-\d+)?)[.,;:]?$/;

interface Shape {
  /** A text without it is not looked at: a search for a word takes a hundredth of the time of one for a shape. */
  readonly needs: RegExp;
  /** Groups: what comes before the secret, the secret, what comes after. */
  readonly pattern: RegExp;
  /** Whether it really is one. */
  readonly is?: (secret: string) => boolean;
}

const SHAPES: readonly Shape[] = [
  // Private keys, also with line breaks that are escaped, also cut off.
  {
    needs: /PRIVATE KEY/,
    pattern:
      /(-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----)((?:(?!-----BEGIN)[\s\S]){0,20000}?(?=-----END)|(?:\s*[A-Za-z0-9+/=]{16,76}){0,400})/g,
  },
  // `scheme://user:password@host`. Up to the last @ of the word: a bus URL lists several hosts, each with its password, and
  // a raw password may hold any character.
  { needs: /:\/\//, pattern: /((?<![\w+.-])[a-z][a-z0-9+.-]{0,30}:\/\/[^\s:/@"']{0,200}:)([^\s"']{0,4000})(@)/gi },
  {
    needs: /authorization|-token|cookie/i,
    pattern:
      /(\b(?:(?:proxy-)?authorization|x-(?:auth|subject|service|storage)-token|(?:set-)?cookie)\\?["']?\s{0,4}[:=]\s{0,4}\\?["']?)([^\r\n"'\\]{1,8000})/gi,
  },
  { needs: /Bearer/, pattern: /(\bBearer\s+)([\w.~+/=-]{20,8000})/g },
  {
    needs: /Basic/,
    pattern: /(\bBasic\s+)([A-Za-z0-9+/]{8,2000}={0,2})/g,
    is: secret => /^[\x20-\x7e]*:[\x20-\x7e]*$/.test(Buffer.from(secret, 'base64').toString('latin1')),
  },
  // Tokens of Keystone, tokens that are signed JSON, keys of Ceph, keys of Fernet.
  { needs: /gAAAAA/, pattern: /()((?<![\w-])gAAAAA[\w-]{20,8000}={0,2})/g },
  { needs: /eyJ/, pattern: /()((?<![\w-])eyJ[\w-]{8,4000}\.[\w-]{8,4000}\.[\w-]{8,4000})/g },
  { needs: /==/, pattern: /()((?<![A-Za-z0-9+/])AQ[A-Za-z0-9+/]{36}==)/g },
  { needs: /\w=/, pattern: /()((?<![\w+/-])[\w-]{43}=)(?![\w=])/g },
  // SQL.
  {
    needs: /identified|password/i,
    pattern:
      /(\b(?:IDENTIFIED\s+(?:BY|AS)(?:\s+PASSWORD)?|IDENTIFIED\s+VIA\s+\w{1,64}\s+USING|PASSWORD)\s*\(?\s*')((?:[^'\\\n]|\\.|''){0,2000})('?)/gi,
  },
  // Command lines.
  {
    needs: /--/,
    pattern: /(--[\w-]{0,40}?(?:password|passwd|passphrase|secret|token|-key)(?:=|\s+))([^\s"'-][^\s"']*)/gi,
  },
  { needs: / -p/, pattern: /(\b(?:mysql|mariadb)[\w-]{0,20}\s[^\n]{0,400}?(?<=\s)-p)([^\s"']{1,2000})/g },
  {
    needs: /rabbitmqctl/,
    pattern: /(\brabbitmqctl\s[^\n]{0,200}?(?:add_user|change_password|authenticate_user)\s+\S{1,200}\s+)(\S{1,2000})/g,
  },
  { needs: /-setcookie|pass:/, pattern: /(-setcookie\s+|\bpass:)([^\s"']{1,2000})/g },
  // A line of an INI or YAML file, whole: a password may have blanks.
  {
    needs: ASSIGNED,
    pattern: new RegExp(`^([ \\t]{0,40}${CONF}[ \\t]{0,20}[=:](?!//)[ \\t]{0,20})(\\S.*)$`, 'gim'),
    is: secret => !/^["'{[|>]/.test(secret),
  },
  // `"password": "x"`, `password='x'`, the same inside a JSON text, and without quotes.
  {
    needs: ASSIGNED,
    pattern: new RegExp(`((?:${NAMES})["']?\\s{0,4}(?:=>?|:)\\s{0,4}[ub]?")((?:[^"\\\\\\n]|\\\\.){1,8000})("?)`, 'gi'),
  },
  {
    needs: ASSIGNED,
    pattern: new RegExp(`((?:${NAMES})["']?\\s{0,4}(?:=>?|:)\\s{0,4}[ub]?')((?:[^'\\\\\\n]|\\\\.){1,8000})('?)`, 'gi'),
  },
  {
    needs: ASSIGNED,
    pattern: new RegExp(`((?:${NAMES})\\\\"\\s{0,4}:\\s{0,4}\\\\")((?:(?!\\\\")[^\\n]){1,8000})`, 'gi'),
  },
  {
    needs: ASSIGNED,
    pattern: new RegExp(`((?:${NAMES})\\s?(?:=\\s?|:\\s))(?![ub]?["'])([^\\s"'{[(<=][^\\s"']{0,8000})`, 'gi'),
  },
];

/** Hides what looks like a secret, and nothing that was hidden before. Lines stay lines. */
export const maskShapes = (text: string): string => replaceShapes(text, () => MASK);

function replaceShapes(text: string, instead: Instead): string {
  let out = text;
  for (const { needs, pattern, is } of SHAPES) {
    if (!needs.test(out)) continue;
    out = out.replace(pattern, (whole: string, before: string, secret: string, after: unknown) => {
      const end = typeof after === 'string' && whole.endsWith(after) && after.length <= 1 ? after : '';
      const isPath = PATH.test(secret) && /key\S{0,3}\s*[=:]\s*\S?$/i.test(before);
      if (secret === '' || isPath || SAYS.test(secret) || is?.(secret) === false) return whole;
      return before + secret.replace(/[^\n]+/g, line => hiddenLine(line, instead)) + end;
    });
  }
  return out;
}

function hiddenLine(line: string, instead: Instead): string {
  // Each host of a bus URL has its own.
  const parts = line.split(/(@[^\s:@,]*(?::\d+)?,[^\s:@]*:)/);
  if (parts.every((part, index) => index % 2 === 1 || MASKED.test(part))) return line;
  return /^\s*$/.test(line) ? line : instead(line);
}

/** The secrets that a text holds by their shape, as they are and as they were before they were put into a URL or a file. */
export function secretsByShape(text: string): readonly string[] {
  const found = new Set<string>();
  replaceShapes(text, secret => {
    for (const part of [secret, ...secret.split(/@[^\s:@,]*(?::\d+)?,[^\s:@]*:/)]) {
      const bare = part.trim().replace(/^(["'])(.*)\1$/, '$2');
      for (const one of [bare, decoded(bare), bare.replaceAll('$$', '$'), bare.replaceAll("''", "'")]) found.add(one);
    }
    return MASK;
  });
  return [...found];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** An option that holds a secret, by its name: the option tables do not flag what plug-ins register at run time. */
export const soundsSecret = (option: string): boolean =>
  /(password|passwd|passphrase|passcode|_pass|secret|token|_key|connection|transport_url|credentials?)$/i.test(option);
