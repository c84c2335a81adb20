import type { AnyObject } from '../../kube/object.ts';
import type { Call } from '../store/common/call.ts';
import { isObject } from '../store/common/json.ts';
import type { CustomVersion } from '../store/common/resources.ts';
import { AGE, type Column, columns, duration, NAME } from './columns.ts';

/** meta.k8s.io/v1 Table: rows for one object or a list. `withColumns` is false for the later events of a watch. */
export function tableOf(call: Call, object: AnyObject, withColumns: boolean): object {
  const shown = columnsOf(call);
  const list = (object as { items?: AnyObject[] }).items;
  const now = call.now();
  const age = (time: unknown) => (typeof time === 'string' ? duration(now - Date.parse(time)) : '<unknown>');
  // A bookmark has a version and no name: a table without rows.
  const rows = (Array.isArray(list) ? list : object.metadata.name ? [object] : []).map(o => ({
    cells: shown.map(c => c.cell(o, age) ?? null),
    object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: o.metadata },
  }));
  const { resourceVersion, annotations, ...rest } = object.metadata as AnyObject['metadata'] & { continue?: string };
  const metadata = {
    resourceVersion,
    ...(Array.isArray(list) && rest.continue ? { continue: rest.continue } : {}),
    ...(object.metadata.name ? {} : annotations ? { annotations } : {}),
  };
  const definitions = shown.map(c => ({
    name: c.name,
    type: c.type ?? 'string',
    format: c.name === 'Name' ? 'name' : '',
    description: '',
    priority: c.priority ?? 0,
  }));
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata,
    columnDefinitions: withColumns ? definitions : null,
    rows,
  };
}

function columnsOf(call: Call): readonly Column[] {
  const { resource } = call;
  if ('builtin' in resource.is) return columns[resource.kind] ?? [NAME, AGE];
  const own = resource.is.custom.columns;
  return own.length === 0 ? [NAME, AGE] : [NAME, ...own.map(customColumn)];
}

function customColumn(column: CustomVersion['columns'][number]): Column {
  return {
    name: column.name,
    type: column.type === 'date' ? 'date' : column.type,
    priority: column.priority ?? 0,
    cell: (object, age) => {
      const found = jsonPath(object, column.jsonPath);
      if (found === undefined) return null;
      return column.type === 'date' ? age(found) : found;
    },
  };
}

/** The part of JSONPath that printer columns use: `.a.b`, `['a']`, `[0]`, `[?(@.type=="Ready")]`, `\.` inside a name. */
export function jsonPath(object: unknown, path: string): unknown {
  let at: unknown[] = [object];
  for (const [, name, quoted, index, filter, literal] of path.matchAll(
    /\.((?:\\.|[^.[\\])+)|\[['"]([^'"]+)['"]\]|\[(\d+|\*)\]|\[\?\(@\.([^=)]+?)\s*==\s*['"]([^'"]*)['"]\)\]/g,
  )) {
    at = at.flatMap(value => {
      const key = name?.replaceAll('\\.', '.') ?? quoted;
      if (key !== undefined) return isObject(value) && value[key] !== undefined ? [value[key]] : [];
      if (!Array.isArray(value)) return [];
      if (index !== undefined) return index === '*' ? value : value.slice(Number(index), Number(index) + 1);
      return value.filter(item => String(jsonPath(item, `.${filter}`)) === literal);
    });
  }
  return at[0];
}
