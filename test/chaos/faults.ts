import type { Fault } from '../../src/embedded/sim/transport.ts';
import type { Request } from '../../src/kube/transport.ts';

/** The API server says no, in its own shape. */
export const refusal = (code: number, reason: string, message: string, headers?: Record<string, string>): Fault => ({
  status: code,
  body: { apiVersion: 'v1', kind: 'Status', metadata: {}, status: 'Failure', code, reason, message },
  ...(headers && { headers }),
});

export const FAULTS: Readonly<Record<string, Fault>> = {
  'answer lost': 'lose-answer',
  'connection broken': 'reject',
  429: refusal(429, 'TooManyRequests', 'too many requests, please try again later', { 'retry-after': '1' }),
  '429 without a time': refusal(429, 'TooManyRequests', 'too many requests'),
  500: refusal(500, 'InternalError', 'etcdserver: leader changed'),
  409: refusal(409, 'Conflict', 'the object has been modified; please apply your changes to the latest version'),
  'no answer': 'hang',
};

export const isWatch = (request: Request): boolean => request.query?.watch !== undefined;

/** Mutating requests that matter: neither Events nor the Lease. */
export const isWrite = (request: Request): boolean =>
  request.method !== 'GET' && !/\/(events|leases)(\/|$)/.test(request.path);

/** Hits the k-th write of a run, and only that. Tells whether it came to it. */
export function kthWrite(k: number, fault: Fault, match: (request: Request) => boolean = isWrite) {
  let writes = 0;
  let hit: string | undefined;
  return {
    intercept(request: Request): Fault | undefined {
      if (!match(request) || ++writes !== k) return undefined;
      hit = `${request.method} ${request.path}`;
      return fault;
    },
    hit: () => hit,
  };
}
