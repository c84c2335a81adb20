/**
 * Packs the option tables of a release into src/oslo/options/<release>.json, which ships with the product.
 *
 *   npx tsx lab/oslo/tables.ts <input.json>...
 *
 * Input, one file per release, is what `oslo-config-generator --format json` says about each service file, reduced to
 * what a linter needs:
 *   { "schema": 1, "release": "2026.1", "files": { "<file>": {
 *       "groups": { "<GROUP>": { "o": { "<option>": Option } } },
 *       "renamed": { "<GROUP>": { "<old name>": ["<new GROUP>", "<new name>"] } } } } }
 *   <file> is the generator's file without its suffix: nova, glance-api, ml2_conf, neutron_ovn_metadata_agent ...
 *   Option: t type (str int float bool port list dict multi uri host hostdomain ...), d default (only if it does not
 *   depend on the host), choices, min, max, secret, mutable, required, dep (deprecated for removal: true, or since when).
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { PackedTable, Shape } from '../../src/oslo/options.ts';

export interface Input {
  schema: number;
  release: string;
  files: Record<
    string,
    {
      groups: Record<string, { o: Record<string, Shape> }>;
      renamed: Record<string, Record<string, readonly string[]>>;
    }
  >;
}

/** Equal descriptions are stored once: of about 5,000 options there are some 900 different ones. */
export function pack(input: Input): PackedTable {
  const shapes: Record<string, Shape> = {};
  const ids = new Map<string, string>();
  const idOf = (shape: Shape): string => {
    const text = JSON.stringify(sorted(shape));
    const known = ids.get(text);
    if (known) return known;
    const id = ids.size.toString(36);
    ids.set(text, id);
    shapes[id] = JSON.parse(text);
    return id;
  };
  const files: PackedTable['files'] = Object.fromEntries(
    Object.entries(sorted(input.files)).map(([file, { groups, renamed }]) => [
      file,
      {
        groups: mapValues(sorted(groups), group =>
          Object.entries(sorted(group.o))
            .map(([name, shape]) => `${name}=${idOf(shape)}`)
            .join(' '),
        ),
        renamed: mapValues(sorted(renamed), names =>
          Object.entries(sorted(names))
            .map(([old, [group, name]]) => `${old}=${group}/${name}`)
            .join(' '),
        ),
      },
    ]),
  );
  return { schema: 1, release: input.release, shapes, files };
}

function mapValues<A, B>(record: Record<string, A>, change: (value: A) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
}

function sorted<T extends object>(record: T): T {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1))) as T;
}

/** One shape and one group per line, so that the difference between two releases can be read. */
export function print(table: PackedTable): string {
  const block = (record: object) =>
    `{\n${Object.entries(record)
      .map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`)
      .join(',\n')}\n}`;
  const files = Object.entries(table.files).map(
    ([file, { groups, renamed }]) => `${JSON.stringify(file)}:{"groups":${block(groups)},"renamed":${block(renamed)}}`,
  );
  const head = `"schema":${table.schema},"release":${JSON.stringify(table.release)}`;
  return `{${head},\n"shapes":${block(table.shapes)},\n"files":{\n${files.join(',\n')}}}\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const path of process.argv.slice(2)) {
    const table = pack(JSON.parse(readFileSync(path, 'utf8')));
    const target = fileURLToPath(new URL(`../../src/oslo/options/${table.release}.json`, import.meta.url));
    const text = print(table);
    writeFileSync(target, text);
    console.log(`${target}: ${Buffer.byteLength(text)} bytes, ${Object.keys(table.shapes).length} shapes`);
  }
}
