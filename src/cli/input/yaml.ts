import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { LineCounter, parseAllDocuments } from 'yaml';
import type { AnyObject } from '../../kube/object.ts';

/** The user's mistake: said in one line, without a stack, exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** What a flag gives, where it must be a number from 0 on. */
export function numberOf(given: unknown, flag: string): number {
  const number = Number(given);
  if (given === '' || !(number >= 0)) throw new UsageError(`${flag} takes a number`);
  return number;
}

export function portOf(given: unknown, flag: string): number {
  const port = numberOf(given, flag);
  if (!Number.isInteger(port) || port > 65_535) throw new UsageError(`${flag} takes a port: 0 to 65535`);
  return port;
}

/** Objects of a file, a folder (not its subfolders' hidden files) or standard input (`-`). Lists are opened. */
export function readObjects(path: string): AnyObject[] {
  if (path === '-') return parseObjects(readText(0, 'standard input'), 'standard input');
  let stat: ReturnType<typeof statSync>;
  try {
    stat = statSync(path);
  } catch {
    throw new UsageError(`${path}: there is no such file or folder`);
  }
  if (!stat.isDirectory()) return parseObjects(readText(path, path), path);
  const files = readdirSync(path, { recursive: true, encoding: 'utf8' })
    .filter(name => /\.(ya?ml|json)(\.gz)?$/.test(name))
    .sort();
  if (files.length === 0) throw new UsageError(`${path}: no .yaml or .json file in this folder`);
  return files.flatMap(name => parseObjects(readText(join(path, name), name), name));
}

/** All objects of a large cluster; a small archive may open to far more than there is memory. */
const MOST_BYTES = 256_000_000;
const TOO_MUCH = ['ERR_BUFFER_TOO_LARGE', 'ERR_FS_FILE_TOO_LARGE'];

export function readText(from: string | 0, name: string): string {
  let bytes: Buffer;
  try {
    bytes = readFileSync(from);
    if (bytes[0] === 0x1f && bytes[1] === 0x8b) bytes = gunzipSync(bytes, { maxOutputLength: MOST_BYTES });
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (TOO_MUCH.includes(code)) throw tooMuch(name);
    throw new UsageError(`${name}: ${code === 'ENOENT' ? 'there is no such file' : `can't be read (${code})`}`);
  }
  if (bytes.length > MOST_BYTES) throw tooMuch(name);
  return bytes.toString('utf8');
}

const tooMuch = (name: string): UsageError =>
  new UsageError(`${name}: more than ${MOST_BYTES / 1e6} MB are more than this program reads`);

/** Reading takes about forty times this much memory. JSON has no such limit. */
const MOST_YAML = 32_000_000;

/** YAML 1.1 as kubectl reads it. Errors carry line and column, tabs and duplicate keys among them. */
export function parseObjects(text: string, name: string): AnyObject[] {
  if (/^\s*\{/.test(text)) return opened(parseJson(text, name), name);
  if (text.length > MOST_YAML)
    throw new UsageError(
      `${name}: ${Math.round(text.length / 1e6)} MB of YAML are more than this program reads; give it JSON (kubectl -o json)`,
    );
  const counter = new LineCounter();
  const documents = parseAllDocuments(text, { version: '1.1', lineCounter: counter, uniqueKeys: true, merge: true });
  const objects: AnyObject[] = [];
  for (const document of Array.isArray(documents) ? documents : []) {
    const [error] = document.errors;
    if (error) {
      const { line, col } = counter.linePos(error.pos[0]);
      throw new UsageError(`${name}:${line}:${col}: ${error.message.split('\n')[0]?.replace(/ at line .*$/, '')}`);
    }
    const value = document.toJS() as unknown;
    if (value !== null && value !== undefined) {
      const at = document.contents?.range?.[0] ?? 0;
      objects.push(...opened(value, `${name}:${counter.linePos(at).line}`));
    }
  }
  return objects;
}

function parseJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(`${name}: ${(error as Error).message}`);
  }
}

function opened(value: unknown, name: string): AnyObject[] {
  const object = value as Partial<AnyObject>;
  if (typeof value !== 'object' || Array.isArray(value) || !object.kind || !object.apiVersion)
    throw new UsageError(`${name}: not a Kubernetes object: it has no apiVersion and kind`);
  if (object.kind.endsWith('List') && Array.isArray(object.items))
    return (object.items as unknown[]).flatMap((item, index) => opened(item, `${name} item ${index + 1}`));
  if (typeof object.metadata?.name !== 'string') throw new UsageError(`${name}: ${object.kind} without metadata.name`);
  return [object as AnyObject];
}
