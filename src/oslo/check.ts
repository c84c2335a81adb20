import type { Shape } from './options.ts';
import { strip } from './python.ts';

export interface ValueProblem {
  readonly code: 'type' | 'range' | 'choice';
  /** Continues a sentence that starts with the option's name. */
  readonly message: string;
}

/**
 * What oslo's types (oslo_config/types.py) say about a value whose references are resolved: the problem, or undefined.
 * The value is not in the text, because the option may hold a secret. Types that the tables name but do not describe
 * (item types of lists, regular expressions, maximal lengths) are not checked.
 */
export function problemOf(option: Shape, value: string): ValueProblem | undefined {
  switch (option.t) {
    case 'bool':
      return booleans.has(value.toLowerCase()) ? undefined : type('is not a boolean: write true or false');
    case 'int':
      return number(option, value, integer, 'an integer');
    case 'port':
      return number({ min: 0, max: 65535, ...option }, value, integer, 'a port number');
    case 'float':
      return number(option, value, float, 'a number');
    case 'str':
      return choice(option, value);
    case 'dict':
      return dictionary(value);
    case 'uri':
      return isUri(value) ? undefined : type('is not a URI with a scheme and a host');
    case 'IP address value':
      return isIp(value) ? undefined : type('is not an IP address');
    case 'host':
      return isIp(value) || isHost(value, /^(?!-)[a-z0-9-]{1,63}(?<!-)$/i)
        ? undefined
        : type('is not a host name or IP address');
    case 'hostdomain':
      return isIp(value) || isHost(value, /^(?!-)[a-z0-9-_]{1,63}(?<!-)$/i)
        ? undefined
        : type('is not a host name or IP address');
    default:
      return undefined;
  }
}

const type = (message: string): ValueProblem => ({ code: 'type', message });

const booleans = new Set(['true', '1', 'on', 'yes', 'false', '0', 'off', 'no']);

/** Python's int() and float() take single underscores between digits, and white space around. */
const digits = '[0-9]+(?:_[0-9]+)*';
const integer = new RegExp(`^[+-]?${digits}$`);
const float = new RegExp(
  `^[+-]?(?:(?:${digits}(?:\\.(?:${digits})?)?|\\.${digits})(?:e[+-]?${digits})?|inf|infinity|nan)$`,
  'i',
);

function number(
  option: Pick<Shape, 'min' | 'max' | 'choices'>,
  value: string,
  form: RegExp,
  what: string,
): ValueProblem | undefined {
  const text = strip(value);
  // oslo reads an empty number as None.
  if (text === '') return undefined;
  if (!form.test(text)) return type(`is not ${what}`);
  const found = toNumber(text);
  if (option.choices) return option.choices.includes(found) ? undefined : oneOf(option.choices);
  if (option.min !== undefined && found < option.min)
    return { code: 'range', message: `must be at least ${option.min}` };
  if (option.max !== undefined && found > option.max)
    return { code: 'range', message: `must be at most ${option.max}` };
  return undefined;
}

function toNumber(text: string): number {
  const plain = text.replaceAll('_', '');
  const infinite = /^([+-]?)inf/i.exec(plain);
  return infinite ? (infinite[1] === '-' ? -Infinity : Infinity) : Number(plain);
}

function choice(option: Shape, value: string): ValueProblem | undefined {
  const { choices } = option;
  if (!choices || choices.includes(value)) return undefined;
  return oneOf(choices);
}

/** Some options ignore case, which the tables do not say; so a difference in case alone is no certain error. */
export function differsOnlyByCase(option: Shape, value: string): boolean {
  return (option.choices ?? []).some(item => String(item).toLowerCase() === value.toLowerCase());
}

function oneOf(choices: readonly (string | number | null)[]): ValueProblem {
  const named = choices.filter(item => item !== null).map(item => (item === '' ? "''" : String(item)));
  return { code: 'choice', message: `must be one of ${named.join(', ')}` };
}

/** Another separator than ':' is possible and not in the tables: a value without any ':' is judged only if it has no '='. */
function dictionary(value: string): ValueProblem | undefined {
  const text = strip(value).replace(/^\{(.*)\}$/s, '$1');
  if (text === '' || (!text.includes(':') && text.includes('='))) return undefined;
  const pieces = text.split(',');
  const keys = new Set<string>();
  for (let at = 0; at < pieces.length; at++) {
    const start = at;
    while (!pieces[at]?.includes(':')) {
      at++;
      if (at === pieces.length) return type("is not a list of NAME:VALUE pairs separated by ','");
    }
    const pair = pieces.slice(start, at + 1).join(',');
    const key = strip(pair.slice(0, pair.indexOf(':')));
    if (key === '') return type('has a pair without a name');
    if (keys.has(key)) return type('names the same key twice');
    keys.add(key);
  }
  return undefined;
}

/** rfc3986 as oslo calls it: scheme and host present and well formed. Its test of the path accepts everything. */
function isUri(value: string): boolean {
  const authority = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(value)?.[1];
  if (authority === undefined) return false;
  const name = "(?:[a-z0-9._~!$&'()*+,;=-]|%[0-9a-f]{2})";
  const parts = new RegExp(`^(?:(?:${name}|:)*@)?(${name}+|\\[[^\\]]+\\])(?::([0-9]*))?$`, 'i').exec(authority);
  const host = parts?.[1] ?? '';
  if (!parts || Number(parts[2] ?? 0) > 65535) return false;
  return !host.startsWith('[') || isIpv6(host.slice(1, -1).replace(/%.+$/, ''));
}

function isHost(value: string, segment: RegExp): boolean {
  if (value.length === 0 || value.length > 253) return false;
  const segments = (value.endsWith('.') ? value.slice(0, -1) : value).split('.');
  return /[a-zA-Z-]/.test(segments.at(-1) ?? '') && segments.every(part => segment.test(part));
}

function isIp(value: string): boolean {
  return isIpv4(value) || isIpv6(value);
}

function isIpv4(value: string): boolean {
  const parts = value.split('.');
  return parts.length === 4 && parts.every(part => /^(?:0|[1-9][0-9]{0,2})$/.test(part) && Number(part) <= 255);
}

function isIpv6(value: string): boolean {
  const halves = value.split('::');
  if (halves.length > 2) return false;
  let groups = 0;
  for (const [at, half] of halves.entries()) {
    const parts = half === '' ? [] : half.split(':');
    for (const [index, part] of parts.entries()) {
      const last = at === halves.length - 1 && index === parts.length - 1;
      if (/^[0-9a-f]{1,4}$/i.test(part)) groups += 1;
      else if (last && isIpv4(part)) groups += 2;
      else return false;
    }
  }
  return halves.length === 2 ? groups <= 7 : groups === 8;
}
