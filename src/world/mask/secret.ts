import { SHORTEST } from './matcher.ts';
import { secretsByShape, soundsSecret } from './shapes.ts';

/** Keys that say where, not how to get in: without them a message or a bundle would explain nothing. */
export const PLAIN_KEYS: ReadonlySet<string> = new Set([
  'hostname',
  'user',
  'username',
  'database',
  'vhost',
  'url',
  'project',
  'region',
  'port',
  'incarnation',
  // Where hosts outside the cluster find it.
  'hosts-hostname',
  'hosts-url',
  // Of the Secrets that Rook makes; its cluster-name is the namespace.
  'fsid',
  'cluster-name',
  'ceph-username',
  'userID',
  'adminID',
  // Of a service account's token.
  'namespace',
]);

/** Files that the operator makes. What comes from customServiceConfigSecrets (03-) is the user's, and a secret as a whole. */
const MADE_FILE = /^(?!03-).*\.(conf|cnf|ini|json|yaml|sql|sh|py)$|plugins$/;
export const isMadeFile = (key: string): boolean => MADE_FILE.test(key);

/** Words of every output. A password that is one of them is hidden by its key and its shape alone. */
const COMMON: ReadonlySet<string> = new Set([
  ...['openstack', 'keystone', 'placement', 'memcached', 'rabbitmq', 'password', 'passw0rd', 'database', 'kubernetes'],
  ...['mariadb-root', 'controlplane', 'RegionOne', 'undefined', 'disabled', 'internal', 'novncproxy', 'conductor'],
  ...['scheduler', 'metadata', 'hypervisor', 'rabbitmq-admin', 'keystone-admin', 'client.openstack', 'localhost'],
]);

/**
 * Whether a value is looked for in texts. Below SHORTEST characters, one character again and again, and the words above
 * are not: they would take half of every answer away. They are still hidden under their keys and in their shapes.
 */
export const isDistinct = (value: string): boolean =>
  value.length >= SHORTEST && !COMMON.has(value) && !/^(.)\1*$/.test(value);

const CERTIFICATE = /-----BEGIN (?:CERTIFICATE|PUBLIC KEY|X509 CRL)-----[\s\S]*?-----END [A-Z0-9 ]+-----/g;
const MARKER = /^-----(BEGIN|END) [A-Z0-9 ]+-----$/;

/**
 * Files, addresses and classes: settings of everybody, also where a whole file counts as secret. Hiding them elsewhere
 * would hide much and protect nobody.
 */
const PUBLIC = new RegExp(
  [
    '^/(dev|etc|home|lib|opt|run|srv|tmp|usr|var)/[\\w./-]*$',
    '^[a-z][a-z0-9+.-]*://[\\w.:/-]*$',
    '^[a-z_]+(\\.[A-Za-z_]+)+$',
    '^\\d+(\\.\\d+){3}(:\\d+|/\\d+)?$',
  ].join('|'),
);

/**
 * The texts to look for that the values of a Secret hold, each one line long. Of what the operator `made`, files are made
 * of values that other Secrets hold; `files` takes what is secret in them by its shape too, for those who see no other.
 */
export function secretsOf(
  data: Readonly<Record<string, string>>,
  { made, files }: { readonly made: boolean; readonly files: boolean },
): readonly string[] {
  const found = Object.entries(data).flatMap(([key, value]): readonly string[] => {
    const text = value.includes('-----BEGIN') ? value.replace(CERTIFICATE, '') : value;
    if (made && isMadeFile(key)) return files ? secretsByShape(text) : [];
    return PLAIN_KEYS.has(key) ? secretsByShape(text) : partsOf(text);
  });
  return [...new Set(found.map(text => text.trim()))].filter(isDistinct);
}

function partsOf(text: string): readonly string[] {
  const whole = text.trim();
  if (/^[{[]/.test(whole)) {
    const leaves = leavesOf(whole);
    if (leaves) return [...leaves, ...leaves.flatMap(secretsByShape)];
  }
  if (!whole.includes('\n') && !ASSIGNMENT.test(whole)) return [whole, ...secretsByShape(whole)];
  return [...whole.split('\n').flatMap(linePart), ...secretsByShape(whole)];
}

const ASSIGNMENT = /^\s*([\w.-]+)\s*[=:]\s+(\S.*)$|^\s*([\w.-]+)\s*=\s*(\S.*)$/;

/** Of an option its value; else the line. */
function linePart(line: string): readonly string[] {
  if (/^\s*([#;]|\[.*\]\s*$)/.test(line) || MARKER.test(line.trim())) return [];
  const [, a, b, c, d] = ASSIGNMENT.exec(line) ?? [];
  const [name, value] = [a ?? c, (b ?? d)?.trim()];
  if (name === undefined || value === undefined) return [line];
  const bare = value.replace(/^(["'])(.*)\1$/, '$2');
  return soundsSecret(name) || !PUBLIC.test(bare) ? [value, bare] : [];
}

function leavesOf(text: string): readonly string[] | undefined {
  const leaves: string[] = [];
  try {
    JSON.parse(text, (key, value: unknown) => {
      if (typeof value === 'string' && !PLAIN_KEYS.has(key))
        leaves.push(...value.split('\n').filter(line => !MARKER.test(line)));
      return value;
    });
    return leaves;
  } catch {
    return undefined;
  }
}
