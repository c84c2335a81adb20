/** Whether processes that nobody can call report to their database: the list of Nova's or Cinder's own API knows. */

export interface Expected {
  readonly binary: string;
  readonly host: string;
}

/** Pods of a StatefulSet are known by their names, which are their host names. */
export const expectedOf = (binary: string, set: string, replicas: number): readonly Expected[] =>
  Array.from({ length: replicas }, (_, ordinal) => ({ binary, host: `${set}-${ordinal}` }));

interface Reported {
  readonly binary?: unknown;
  readonly host?: unknown;
  readonly state?: unknown;
}

/** Those of the expected that the answer of GET /os-services does not call up. */
export function silent(expected: readonly Expected[], answer: unknown): readonly Expected[] {
  const { services } = (answer ?? {}) as { services?: unknown };
  const up = (Array.isArray(services) ? (services as readonly Reported[]) : []).filter(s => s.state === 'up');
  return expected.filter(({ binary, host }) => !up.some(s => s.binary === binary && s.host === host));
}
