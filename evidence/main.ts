import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { levels, record } from './entries.ts';
import { proofs } from './features.ts';
import { commitOf, hashing } from './hash.ts';
import { entriesOf, type Report } from './suites.ts';

const USAGE = `usage: npx tsx evidence/main.ts REPORT --level ${levels.join('|')} --command COMMAND

Writes what a JSON report of vitest says of the test files that evidence/features.ts names into docs/evidence.json.
Suites call it when EVIDENCE=1 is set:

  EVIDENCE=1 make test && make manifests
`;

const { values, positionals } = parseArgs({
  options: { level: { type: 'string' }, command: { type: 'string' }, help: { type: 'boolean' } },
  allowPositionals: true,
});
const level = levels.find(each => each === values.level);
const [file] = positionals;
if (values.help || file === undefined || level === undefined || values.command === undefined) {
  console.log(USAGE);
  process.exitCode = values.help ? 0 : 2;
} else {
  const root = fileURLToPath(new URL('../', import.meta.url));
  const found = entriesOf(JSON.parse(readFileSync(file, 'utf8')) as Report, {
    root,
    level,
    command: values.command,
    date: new Date().toISOString(),
    commit: commitOf(root),
    wanted: proofs(level),
    hash: hashing(root),
  });
  for (const entry of found) record(entry);
  console.log(`${found.length} results of ${values.command} are in docs/evidence.json; make manifests shows them`);
}
