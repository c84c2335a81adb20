/**
 * Writes src/oslo/options/<release>.json, which ships with the product: every option of the services of a release, from
 * their packages, by the lock files of the lab. `make oslo-tables` does so for all releases, a minute each.
 *
 *   npx tsx lab/oslo/tables.ts [RELEASE...]
 *
 * What list.py says, for each file that a service reads:
 *   { "groups": { "<GROUP>": { "o": { "<option>": Option } } },
 *     "renamed": { "<GROUP>": { "<old name>": ["<new GROUP>", "<new name>"] } } }
 *   Option: t type (str int float bool port list dict multi uri host hostdomain ...), d default (a scalar that does not
 *   depend on the host), choices, min, max, secret, mutable, required, multi (may be given several times, t is that of
 *   one item), dep (deprecated for removal: true, or since when).
 */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type PackedTable, releases, type Shape } from '../../src/oslo/options.ts';
import { namespacesOf } from './namespaces.ts';
import { python, virtualenv } from './venv.ts';

export interface Input {
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

/** What the services of a release list. */
async function list(release: string): Promise<Input> {
  const program = fileURLToPath(new URL('./list.py', import.meta.url));
  const done = python(await virtualenv(release), [program], JSON.stringify(namespacesOf(release)));
  if (done.status !== 0) throw new Error(`list.py ended with ${done.status}:\n${done.stderr.slice(-2000)}`);
  return { release, files: JSON.parse(done.stdout) };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const wanted = process.argv.slice(2);
  for (const release of wanted.length > 0 ? wanted : releases) {
    const table = pack(await list(release));
    const target = fileURLToPath(new URL(`../../src/oslo/options/${release}.json`, import.meta.url));
    const text = print(table);
    writeFileSync(target, text);
    console.log(`${target}: ${Buffer.byteLength(text)} bytes, ${Object.keys(table.shapes).length} shapes`);
  }
}
