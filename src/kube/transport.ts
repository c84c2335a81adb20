import type { AnyObject, Status } from './object.ts';

/** One HTTP exchange with an API server, as values. Both worlds implement it; nothing else reaches a cluster. */
export interface Request {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Of the body; `application/json` unless said. */
  readonly contentType?: string;
  readonly accept?: string;
  /** Milliseconds until the answer is given up; the outcome of a write is then unknown. */
  readonly timeout?: number;
}

/** The Accept header for metadata only. */
export const METADATA = {
  list: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json',
  watch: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json',
} as const;

export interface Response {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: AnyObject | Status;
}

/** A watch that the server accepted (status 200), or its refusal. */
export type WatchAnswer =
  | { readonly status: 200; readonly events: AsyncIterable<WatchEvent> }
  | { readonly status: number; readonly refusal: Response };

export interface Transport {
  /** Resolves with any answer, whatever its status; rejects with NoAnswer when there was none. */
  send(request: Request, signal?: AbortSignal): Promise<Response>;
  /**
   * Opens a watch. The iterable ends when the server closes the stream and throws NoAnswer when the connection
   * breaks or a line does not parse. Abort ends it.
   */
  watch(request: Request, signal: AbortSignal): Promise<WatchAnswer>;
}

/** The request got no answer: a write may or may not have happened, so read before you write again. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
  }
}
