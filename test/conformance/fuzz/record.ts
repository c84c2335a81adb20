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
    for (const [, { text, size }] of [...this.best].sort(([a], [b]) => (hash(a) < hash(b) ? -1 : 1))) {
      if (lines.length === MAX_CASES || bytes + size > MAX_BYTES) break;
      lines.push(text);
      bytes += size;
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
    request.kind,
    request.op,
    request.subresource,
    request.force,
    request.live === null,
    before.length > 2,
    outcome,
  ].join('|');
}

/** FNV-1a: spreads the choice over all kinds, always in the same way. */
function hash(text: string): number {
  let h = 2166136261;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 16777619) >>> 0;
  return h;
}
