import { dirname, isAbsolute, join } from 'node:path';
import { parse } from 'yaml';

/** Something given in the file, or in another one that it names. */
export type Given = { readonly text: string } | { readonly file: string };

/** What one context of a kubeconfig says, before the files it names are read. */
export interface ContextSettings {
  readonly context: string;
  readonly server: string;
  readonly namespace: string | undefined;
  readonly ca: Given | undefined;
  readonly insecure: boolean;
  readonly serverName: string | undefined;
  readonly cert: Given | undefined;
  readonly key: Given | undefined;
  readonly token: Given | undefined;
}

export interface ConfigFile {
  readonly path: string;
  readonly text: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** Merges as kubectl does: of two entries with the same name the first wins, and so does the first current-context. */
export function readKubeconfig(files: readonly ConfigFile[], wanted?: string): ContextSettings {
  const where = files.map(file => file.path).join(', ');
  const docs = files.map(file => ({ path: file.path, doc: parseFile(file) }));
  const fail = (text: string): never => {
    throw new Error(`kubeconfig ${where}: ${text}`);
  };
  const find = (list: string, inner: string, name: string): { path: string; fields: Fields } | undefined => {
    for (const { path, doc } of docs) {
      const entries = Array.isArray(doc[list]) ? (doc[list] as Fields[]) : [];
      const entry = entries.find(candidate => candidate?.name === name);
      if (entry) return { path, fields: (entry[inner] ?? {}) as Fields };
    }
    return undefined;
  };

  const current = docs.map(({ doc }) => stringOf(doc['current-context'])).find(Boolean);
  const name = wanted ?? current ?? fail('no current-context; name one with --context');
  const context = find('contexts', 'context', name) ?? fail(`no context ${name}`);
  const clusterName = stringOf(context.fields.cluster) ?? fail(`context ${name} names no cluster`);
  const cluster = find('clusters', 'cluster', clusterName) ?? fail(`no cluster ${clusterName} (context ${name})`);
  const userName = stringOf(context.fields.user);
  const user =
    userName === undefined
      ? { path: context.path, fields: {} }
      : (find('users', 'user', userName) ?? fail(`no user ${userName} (context ${name})`));
  for (const unsupported of ['exec', 'auth-provider', 'username', 'as']) {
    if (user.fields[unsupported] === undefined) continue;
    fail(`user ${userName} uses ${unsupported}, which is not supported yet; use a token or a client certificate`);
  }
  if (cluster.fields['proxy-url']) fail(`cluster ${clusterName} uses proxy-url, which is not supported yet`);

  return {
    context: name,
    server: stringOf(cluster.fields.server) ?? fail(`cluster ${clusterName} has no server`),
    namespace: stringOf(context.fields.namespace),
    ca: given(cluster, 'certificate-authority-data', 'certificate-authority'),
    insecure: cluster.fields['insecure-skip-tls-verify'] === true,
    serverName: stringOf(cluster.fields['tls-server-name']),
    cert: given(user, 'client-certificate-data', 'client-certificate'),
    key: given(user, 'client-key-data', 'client-key'),
    token: tokenOf(user),
  };
}

function parseFile({ path, text }: ConfigFile): Fields {
  let doc: unknown;
  try {
    doc = parse(text, { version: '1.1' });
  } catch {
    // The parser's message quotes the line, and lines here are keys and tokens.
    throw new Error(`kubeconfig ${path}: not valid YAML`);
  }
  if (typeof doc !== 'object' || doc === null || Array.isArray(doc))
    throw new Error(`kubeconfig ${path}: not a mapping`);
  return doc as Fields;
}

const stringOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/** Inline data is base64 and wins over a file; a relative file name counts from its kubeconfig. */
function given({ path, fields }: { path: string; fields: Fields }, data: string, file: string): Given | undefined {
  const inline = stringOf(fields[data]);
  if (inline !== undefined) return { text: Buffer.from(inline, 'base64').toString('utf8') };
  const name = stringOf(fields[file]);
  return name === undefined ? undefined : { file: isAbsolute(name) ? name : join(dirname(path), name) };
}

/** A token file wins over a token, as in client-go: it is the one that rotates. */
function tokenOf(user: { path: string; fields: Fields }): Given | undefined {
  const file = given(user, '', 'tokenFile');
  const token = stringOf(user.fields.token);
  return file ?? (token === undefined ? undefined : { text: token });
}
