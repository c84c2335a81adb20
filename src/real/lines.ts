const NEWLINE = 10;
/** etcd takes 1.5 MB per object; a line far beyond that is no watch event but a fault that would eat the memory. */
const LONGEST_LINE = 64 * 1024 * 1024;

/**
 * About 5 ms of work for a cache that fills. Chunks that wait in memory come without a turn of the event loop between
 * them, and libuv reads up to two megabytes of a busy socket at once: thousands of objects during which no timer ran,
 * no lease was renewed and no probe answered (140 ms of CPU, measured with 10,000 Secrets).
 */
const LINES_PER_TURN = 100;
const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve));

/**
 * Splits chunks at newlines. A line that spans chunks is joined once, when its end has come: the cost is linear in
 * its size, where adding up strings and searching them again would be quadratic.
 */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let pending: Uint8Array[] = [];
  let pendingBytes = 0;
  let lines = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      pending.push(chunk.subarray(start, end));
      const line = textOf(pending);
      pending = [];
      pendingBytes = 0;
      start = end + 1;
      if (line.trim() === '') continue;
      yield line;
      if (++lines % LINES_PER_TURN === 0) await turn();
    }
    if (start < chunk.length) {
      pending.push(chunk.subarray(start));
      pendingBytes += chunk.length - start;
      if (pendingBytes > LONGEST_LINE) throw new Error(`a line is longer than ${LONGEST_LINE} bytes`);
    }
  }
  const rest = textOf(pending);
  if (rest.trim() !== '') yield rest;
}

function textOf(parts: readonly Uint8Array[]): string {
  const one = parts.length === 1 ? parts[0]! : Buffer.concat(parts);
  return Buffer.from(one.buffer, one.byteOffset, one.byteLength).toString('utf8');
}
