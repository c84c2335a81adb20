import { writeFileSync } from 'node:fs';
import type { Answer, Request } from './oracle.ts';

/** A small set of cases for the default test run: one for each way a request can end, the shortest seen. */
const MAX_CASES = 200;
const MAX_BYTES = 280_000;

export class Recorder {
  private readonly best = new Map<string, { text: string; size: number }>();

  offer(request: Request, answer: Answer): void {
    const text = JSON.stringify({ request, answer });
    // Very small cases show little, very large ones cost too much.
    if (text.length > 1700) return;
    const signature = signatureOf(request, answer);
    const known = this.best.get(signature);
    if (known === undefined || text.length < known.size) this.best.set(signature, { text, size: text.length });
  }

  write(path: string): void {
    const lines: string[] = [];
    let bytes = 0;
    // In turns over the groups of features, so that rare ones are not crowded out.
    const groups = new Map<string, { text: string; size: number }[]>();
    for (const [signature, found] of [...this.best].sort(([a], [b]) => (hash(a) < hash(b) ? -1 : 1))) {
      const features = signature.split('|')[0]!;
      groups.set(features, [...(groups.get(features) ?? []), found]);
    }
    for (let turn = 0; lines.length < MAX_CASES && turn < this.best.size; turn++) {
      for (const group of groups.values()) {
        const found = group[turn];
        if (!found || lines.length === MAX_CASES || bytes + found.size > MAX_BYTES) continue;
        lines.push(found.text);
        bytes += found.size;
      }
    }
    writeFileSync(path, `[\n${lines.join(',\n')}\n]\n`);
    console.log(`${lines.length} of ${this.best.size} kinds of cases recorded in ${path} (${bytes} bytes)`);
  }
}

function signatureOf(request: Request, answer: Answer): string {
  const owners = (o: unknown): string =>
    ((o as { metadata?: { managedFields?: { operation: string }[] } })?.metadata?.managedFields ?? [])
      .map(e => e.operation?.[0])
      .join('');
  const before = owners(request.live);
  const outcome = answer.error
    ? answer.error.message.replace(/\(.*?\)|\d+|"[^"]*"|\.[\w.]+/g, '').slice(0, 60)
    : `${owners(answer.object).length - before.length}${JSON.stringify(answer.object).length < JSON.stringify(request.live).length}`;
  return [
    featuresOf(request, answer),
    request.kind,
    request.op,
    request.subresource,
    request.force,
    request.live === null,
    before.length > 2,
    outcome,
  ].join('|');
}

/** Marks of the rarer rules: kubectl's annotation, escapes, old ownership of atomic things, duplicates, order of lists, cap. */
function featuresOf(request: Request, answer: Answer): string {
  const live = JSON.stringify(request.live);
  const result = JSON.stringify(answer);
  const features = {
    kubectl: request.manager === 'kubectl' && live.includes('last-applied'),
    escaped: result.includes('u003c'),
    atomic: /"i:\d/.test(live),
    twice: repeats(request.live) || repeats(request.new),
    listed: request.op === 'apply' && !answer.error && lists(request.live) && lists(request.new),
    times: new Set(result.match(/"time":"[^"]*"/g)).size > 2,
    capped: result.includes('ancient-changes'),
    stranger: result.includes('.stranger:'),
  };
  return Object.entries(features)
    .filter(([, has]) => has)
    .map(([name]) => name)
    .join();
}

const values = (value: unknown): unknown[] => (typeof value === 'object' && value !== null ? Object.values(value) : []);
const repeats = (value: unknown): boolean =>
  (Array.isArray(value) && new Set(value.map(v => JSON.stringify(v))).size < value.length) ||
  values(value).some(repeats);
const lists = (value: unknown): boolean => (Array.isArray(value) && value.length > 2) || values(value).some(lists);

/** FNV-1a: spreads the choice over all kinds, always in the same way. */
function hash(text: string): number {
  let h = 2166136261;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 16777619) >>> 0;
  return h;
}
