import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { overlayFiles } from '../src/operator/files.ts';
import { installedName } from '../src/operator/overlay.ts';
import { PLANS } from '../src/operator/plans.ts';

/** Writes a folder for kustomize: an operator for the namespaces and kinds that are named, with no other rights. */
const { values } = parseArgs({
  options: {
    namespaces: { type: 'string', default: '' },
    kinds: { type: 'string', default: '' },
    name: { type: 'string' },
    image: { type: 'string' },
    webhook: { type: 'boolean', default: false },
    out: { type: 'string' },
  },
});
const listOf = (text: string): string[] => text.split(',').flatMap(item => item.trim() || []);
const fail = (message: string): never => {
  console.error(message);
  process.exit(2);
};

const scope = { namespaces: listOf(values.namespaces), kinds: listOf(values.kinds).map(kind => kind.toLowerCase()) };
const known = PLANS.map(({ kind }) => kind.kind.toLowerCase());
const unknown = scope.kinds.find(kind => !known.includes(kind));
if (unknown !== undefined) fail(`--kinds: there is no kind ${unknown}; there are ${known.join(', ')}`);
const bad = scope.namespaces.find(name => !/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name));
if (bad !== undefined) fail(`--namespaces: ${bad} can't be the name of a namespace`);
if (scope.namespaces.length + scope.kinds.length === 0) fail('name --namespaces or --kinds; config/default serves all');
const { out = fail('--out is missing: the folder to write') } = values;

const installed = { name: values.name ?? installedName(scope), scope };
const files = overlayFiles(out, { installed, webhook: values.webhook, ...(values.image && { image: values.image }) });
for (const { path, text } of files) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
console.log(
  `${files.length} files in ${out}; install it with: kubectl apply --server-side -k ${out} (and config/crd before it, once)`,
);
