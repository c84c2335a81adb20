/** The candidate that a typing mistake most likely meant: at most one edit per three letters, and never more than three. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const limit = Math.min(3, Math.max(1, Math.floor(word.length / 3)));
  const plain = normal(word);
  let best: string | undefined;
  let least = limit + 1;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) >= least) continue;
    const found = distance(plain, normal(candidate), least);
    if (found < least || (found === least && best !== undefined && candidate < best && found <= limit)) {
      best = candidate;
      least = found;
    }
  }
  return best;
}

/** `cpu-mode` and `CPU_Mode` are the same word to a person. */
const normal = (word: string): string => word.toLowerCase().replaceAll('-', '_').trim();

/** Edits between two words, where swapped neighbours are one edit (optimal string alignment); gives up at the limit. */
function distance(a: string, b: string, limit: number): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, (before[j - 2] ?? 0) + 1);
      row.push(cost);
    }
    if (Math.min(...row) > limit) return limit + 1;
    before = last;
    last = row;
  }
  return last[b.length] ?? 0;
}
