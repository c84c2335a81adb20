const NEWLINE = 10;
/** etcd takes 1.5 MB per object; a line far beyond that is no watch event but a fault that would eat the memory. */
const LONGEST_LINE = 64 * 1024 * 1024;

/**
 * Splits chunks at newlines. A line that spans chunks is joined once, when its end has come: the cost is linear in
 * its size, where adding up strings and searching them again would be quadratic.
 */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let pending: Uint8Array[] = [];
  let pendingBytes = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      pending.push(chunk.subarray(start, end));
      const line = textOf(pending);
      pending = [];
      pendingBytes = 0;
      start = end + 1;
      if (line.trim() !== '') yield line;
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
