/** metav1.Time: seconds, no fraction. What the API server writes itself, so an echo compares equal. */
export const timeOf = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;

/** metav1.MicroTime (Lease, Event): exactly six digits, or the API server refuses the object. */
export const microTimeOf = (ms: number): string => {
  const micros = Math.floor(ms * 1000);
  const fraction = ((micros % 1_000_000) + 1_000_000) % 1_000_000;
  return `${new Date((micros - fraction) / 1000).toISOString().slice(0, 19)}.${String(fraction).padStart(6, '0')}Z`;
};

/** Milliseconds since 1970 of a Time or MicroTime, microseconds as a fraction; undefined when it is none. */
export function parseTime(text: string | undefined): number | undefined {
  const match = text === undefined ? null : /^(.{19})(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/.exec(text);
  if (!match) return undefined;
  const seconds = Date.parse(`${match[1]}${match[3]}`);
  return Number.isNaN(seconds) ? undefined : seconds + Number(`0.${match[2] ?? '0'}`) * 1000;
}
