import type { Cloud, Term } from './ports.ts';

/** Before anything leaves: the pass goes on, and this process leads. */
export function assertTerm({ signal, fence }: Term): void {
  signal.throwIfAborted();
  fence();
}

/** What `work` gives, unless the term ends first; `cut` then aborts `work`, and its outcome is dropped. */
export async function within<T>(signal: AbortSignal, work: Promise<T>, cut: () => void): Promise<T> {
  signal.throwIfAborted();
  let onAbort = (): void => undefined;
  const over = new Promise<never>((_, reject) => {
    onAbort = () => {
      cut();
      reject(signal.reason);
    };
  });
  signal.addEventListener('abort', onAbort, { once: true });
  // The promise that lost the race must not end the process.
  work.catch(() => undefined);
  try {
    return await Promise.race([work, over]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/**
 * The same cloud for one pass: no call of a port is made once the pass is aborted or the lease is in doubt. A world whose
 * calls are several exchanges asks before each of them as well (`Cloud.during`), and cuts those under way.
 */
function during(cloud: Cloud, term: Term): Cloud {
  const inner = cloud.during?.(term) ?? cloud;
  const asked = <T extends object>(port: T): T =>
    new Proxy(port, {
      get: (target, name) => {
        const method: unknown = Reflect.get(target, name);
        if (typeof method !== 'function') return method;
        return async (...args: unknown[]): Promise<unknown> => {
          assertTerm(term);
          return method.apply(target, args);
        };
      },
    });
  const { asked: askedBy } = inner;
  return {
    ...inner,
    sql: at => asked(inner.sql(at)),
    bus: at => asked(inner.bus(at)),
    identity: at => asked(inner.identity(at)),
    page: async at => {
      assertTerm(term);
      return inner.page(at);
    },
    ...(askedBy && { asked: by => during(askedBy(by), term) }),
  };
}

/** The same cloud, whose passes all have a term. */
export const termed = (cloud: Cloud): Cloud => ({ ...cloud, during: term => during(cloud, term) });
