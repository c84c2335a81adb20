import type { Call } from './common/call.ts';
import { equal, isObject, type Json } from './common/json.ts';
import { badRequest, failure, Refusal } from './common/status.ts';

/** RFC 6902, with the words of the Go library that kube-apiserver uses. A failed operation is 422. */
export function jsonPatch(_call: Call, target: Json, operations: unknown): Json {
  if (!Array.isArray(operations)) {
    throw badRequest(
      'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp',
    );
  }
  const root = { '': target as unknown };
  for (const operation of operations as { op: string; path: string; from?: string; value?: unknown }[]) {
    const { op, path, from, value } = operation;
    switch (op) {
      case 'add':
        add(root, path, value);
        break;
      case 'replace':
        get(root, path, 'replace');
        remove(root, path, 'replace');
        add(root, path, value);
        break;
      case 'remove':
        remove(root, path, 'remove');
        break;
      case 'move': {
        const moved = get(root, from ?? '', 'move');
        remove(root, from ?? '', 'move');
        add(root, path, moved);
        break;
      }
      case 'copy':
        add(root, path, structuredClone(get(root, from ?? '', 'copy')));
        break;
      case 'test': {
        const found = get(root, path, 'test', true);
        if (!equal(found, value) && !(found === undefined && value === null)) {
          throw failed(`testing value ${path} failed: test failed`);
        }
        break;
      }
      default:
        throw failed(`Unexpected kind: ${op}`);
    }
  }
  return root[''] as Json;
}

/** The server does not say which operation failed, so neither do we; `why` is for debugging. */
const failed = (_why: string) =>
  new Refusal(failure(422, 'Invalid', 'the server rejected our request due to an error in our request', {}));

const tokens = (path: string) => path.split('/').map(t => t.replaceAll('~1', '/').replaceAll('~0', '~'));

function parentOf(root: Json, path: string, op: string): { parent: Json | unknown[]; key: string } {
  const parts = tokens(path);
  let at: unknown = root;
  for (const part of parts.slice(0, -1)) {
    at = Array.isArray(at) ? at[Number(part)] : isObject(at) ? at[part] : undefined;
  }
  if (!isObject(at) && !Array.isArray(at))
    throw failed(`${op} operation does not apply: doc is missing path: "${path}": missing value`);
  return { parent: at, key: parts.at(-1)! };
}

function get(root: Json, path: string, op: string, optional = false): unknown {
  if (path === '') return root[''];
  const { parent, key } = parentOf(root, path, op);
  const value = Array.isArray(parent) ? parent[Number(key)] : parent[key];
  if (value === undefined && !optional)
    throw failed(`${op} operation does not apply: doc is missing key: ${path}: missing value`);
  return value;
}

function add(root: Json, path: string, value: unknown): void {
  const { parent, key } = parentOf(root, path, 'add');
  if (!Array.isArray(parent)) parent[key] = value;
  else if (key === '-') parent.push(value);
  else {
    const index = Number(key);
    if (!Number.isInteger(index) || index < 0 || index > parent.length)
      throw failed(
        `add operation does not apply: doc is missing path: "${path}": Unable to access invalid index: ${key}: invalid index referenced`,
      );
    parent.splice(index, 0, value);
  }
}

function remove(root: Json, path: string, op: string): void {
  const { parent, key } = parentOf(root, path, op);
  if (Array.isArray(parent)) {
    if (Number(key) >= parent.length)
      throw failed(
        `${op} operation does not apply: error in remove for path: '${path}': Unable to access invalid index: ${key}: invalid index referenced`,
      );
    parent.splice(Number(key), 1);
  } else if (key in parent) delete parent[key];
  else
    throw failed(
      `${op} operation does not apply: error in remove for path: '${path}': Unable to remove nonexistent key: ${key}: missing value`,
    );
}
