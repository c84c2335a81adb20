/**
 * The API server's clock, from its Date headers. A header has whole seconds, so each answer gives an interval: the
 * server wrote `date` at some local instant between sending and receiving, and its clock then stood in
 * [date, date + 1 s). The intersection of the intervals narrows the offset; an empty one means that a clock jumped or
 * drifted, and only the newest evidence counts.
 */
export interface Offset {
  readonly low: number;
  readonly high: number;
}

export function narrowOffset(
  known: Offset | undefined,
  date: string,
  sentAt: number,
  receivedAt: number,
): Offset | undefined {
  const server = Date.parse(date);
  if (Number.isNaN(server)) return known;
  const heard = { low: server - receivedAt, high: server + 1000 - sentAt };
  if (heard.low > heard.high) return known; // the local clock was set back during the request
  if (known === undefined) return heard;
  const both = { low: Math.max(known.low, heard.low), high: Math.min(known.high, heard.high) };
  return both.low <= both.high ? both : heard;
}

/** The smallest correction that the evidence allows: a local clock that could be right is trusted. */
export const offsetMs = (offset: Offset | undefined): number =>
  offset === undefined ? 0 : Math.min(Math.max(0, offset.low), offset.high);
