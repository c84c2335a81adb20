/** Whether processes that nobody can call report to their database: the list of Nova's or Cinder's own API knows. */

export interface Expected {
  readonly binary: string;
  /** As which it reports. */
  readonly host: string;
  /** Where its log is, when that is not the host. */
  readonly pod?: string;
}

/** Pods of a StatefulSet are known by their names, which are their host names. */
export const expectedOf = (binary: string, set: string, replicas: number): readonly Expected[] =>
  Array.from({ length: replicas }, (_, ordinal) => ({ binary, host: `${set}-${ordinal}` }));

interface Reported {
  readonly binary?: unknown;
  readonly host?: unknown;
  readonly state?: unknown;
  readonly status?: unknown;
}

/** Those of the expected that the answer of GET /os-services does not call up. Of one that was disabled nobody expects it. */
export function silent(expected: readonly Expected[], answer: unknown): readonly Expected[] {
  const { services } = (answer ?? {}) as { services?: unknown };
  const rows = Array.isArray(services) ? (services as readonly Reported[]) : [];
  const fine = rows.filter(s => s.state === 'up' || s.status === 'disabled');
  return expected.filter(({ binary, host }) => !fine.some(s => s.binary === binary && s.host === host));
}
