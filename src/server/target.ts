import type { IncomingMessage } from 'node:http';

/**
 * What a request asks for; undefined where it is ambiguous. A target that starts with a slash is a path and nothing else:
 * read as a reference, `//` is a URL without a host, which throws, and `//x/metrics` is the path /metrics of host x.
 */
export function targetOf({ url = '/' }: Pick<IncomingMessage, 'url'>): URL | undefined {
  try {
    return new URL(url.startsWith('/') ? `http://localhost${url}` : url);
  } catch {
    return undefined;
  }
}
