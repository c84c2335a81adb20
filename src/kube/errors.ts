import type { Status } from './object.ts';
import type { Response } from './transport.ts';

/** The API server answered, and the answer is no. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** HTTP status code. */
  readonly status: number;
  /** metav1 reason: NotFound, Conflict, Invalid ... */
  readonly reason: string;
  readonly body: Status;

  /** `what` is the request in words: `apply deployments.apps default/keystone-api`. */
  constructor(what: string, response: Response) {
    const body = statusOf(response);
    super(`${what}: ${body.message ?? body.reason ?? `status ${response.status}`}`);
    this.status = response.status;
    this.reason = body.reason ?? '';
    this.body = body;
  }

  /** For 422: which fields; for an apply conflict: which manager holds which field. */
  get causes(): readonly { reason?: string; message?: string; field?: string }[] {
    return this.body.details?.causes ?? [];
  }

  get retryAfterSeconds(): number | undefined {
    return this.body.details?.retryAfterSeconds;
  }
}

/** By code, for answers that are no Status: a proxy's page, an aggregated server's text. */
const REASONS: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  409: 'Conflict',
  410: 'Expired',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

export const isStatus = (body: unknown): body is Status =>
  typeof body === 'object' && body !== null && (body as { kind?: unknown }).kind === 'Status';

/** The Status in an answer, or one made from its code. The text of a stranger's page is cut: it ends up in conditions. */
export function statusOf(response: Response): Status {
  if (isStatus(response.body)) return response.body;
  const text = typeof response.body === 'string' ? response.body.replace(/\s+/g, ' ').trim().slice(0, 200) : '';
  const reason = REASONS[response.status] ?? 'Unknown';
  return {
    apiVersion: 'v1',
    kind: 'Status',
    metadata: {},
    status: 'Failure',
    code: response.status,
    reason,
    message: text === '' ? `the server answered ${response.status} ${reason}` : text,
  };
}

const has = (error: unknown, status: number, reason?: string): boolean =>
  error instanceof ApiError && error.status === status && (reason === undefined || error.reason === reason);

export const isNotFound = (error: unknown): boolean => has(error, 404);
/** Someone else wrote in between, a precondition failed, or (apply without force) another manager owns a field. */
export const isConflict = (error: unknown): boolean => has(error, 409) && !isAlreadyExists(error);
export const isAlreadyExists = (error: unknown): boolean => has(error, 409, 'AlreadyExists');
export const isInvalid = (error: unknown): boolean => has(error, 422);
export const isForbidden = (error: unknown): boolean => has(error, 403);
export const isExpired = (error: unknown): boolean => has(error, 410);
/** A create refused because its namespace is going away: nothing to retry, the object will never be. */
export const isNamespaceTerminating = (error: unknown): boolean =>
  error instanceof ApiError && error.causes.some(cause => cause.reason === 'NamespaceTerminating');
