import { type Called, CloudError } from './ports.ts';

/**
 * The three ways a backend fails, in words that name the place and the cure. Both worlds speak them, so that a story
 * the same fault has the same text in both. Never a password; nothing that differs from one try to the next.
 */
export type Backend = 'MariaDB' | 'RabbitMQ' | 'Keystone' | 'The service';

/** An address as clients write it: a host, or a host and a port, or a URL. */
const hostOf = (where: string): string => where.replace(/^https?:\/\//, '').replace(/[:/][^\]]*$/, '');
const called = (server: Backend, where: string, more: Pick<Called, 'user' | 'said'> = {}): Called => ({
  ...(server !== 'The service' && { server }),
  host: hostOf(where),
  ...more,
});

export const unreachable = (what: Backend, where: string, why: string, cause?: unknown): CloudError => {
  const untrusted = why.startsWith(TLS);
  const cure = untrusted
    ? 'check the certificate that it shows: its end, its names, and the CA in the Secret of its client'
    : 'check that its pods are ready and its Service leads to them';
  const message = `${what} at ${where} does not answer (${why}): ${cure}`;
  return new CloudError('unreachable', message, cause, untrusted, called(what, where, { said: why }));
};

/** Begins what clients say of a certificate that they do not accept. */
export const TLS = 'TLS: ';

export const refused = (what: Backend, where: string, user: string): CloudError =>
  new CloudError(
    'refused',
    `${what} at ${where} refuses user ${user}: its password differs from the one in the Secret; put the right one there`,
    undefined,
    false,
    called(what, where, { user }),
  );

/** MariaDB gives one answer, 1045, to a wrong password and to a plain connection where it requires TLS. */
export const refusedBySql = (where: string, user: string, ca: string | undefined): CloudError =>
  ca !== undefined
    ? refused('MariaDB', where, user)
    : new CloudError(
        'refused',
        `MariaDB at ${where} refuses user ${user}: its password differs from the one in the Secret, or the server requires TLS; put the right password there, or the CA of the server into key ca.crt`,
        undefined,
        false,
        called('MariaDB', where, { user }),
      );

export const rejected = (what: Backend, where: string, why: string): CloudError =>
  new CloudError(
    'rejected',
    `${what} at ${where} rejects the request: ${why}`,
    undefined,
    false,
    called(what, where, { said: why }),
  );

/** A page of a proxy, half an answer, or JSON of another program. Never to be taken for `nothing there`. */
export const stranger = (what: Backend, where: string, request: string, how = 'success'): CloudError =>
  new CloudError(
    'rejected',
    `${what} at ${where} answers ${request} with ${how}, but not as its API does: check what its Service, and any proxy on the way, leads to`,
    undefined,
    false,
    called(what, where),
  );
