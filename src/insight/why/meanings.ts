/** What the last words of a process mean, where the cure is not "read the log". */
export interface Meaning {
  readonly reason: string;
  /** What is the case, in words of the person who must act. */
  readonly means: string;
  readonly next: string;
}

/** The first that matches. The texts are those of MariaDB, RabbitMQ, PyMySQL, OpenSSL, the kernel and the kubelet. */
const TABLE: readonly (readonly [RegExp, Meaning])[] = [
  [
    /No space left on device|disk is full|Errcode: 28|ENOSPC|disk_free_limit/i,
    { reason: 'VolumeFull', means: 'its volume is full', next: 'make the volume larger, or clear it' },
  ],
  [
    /certificate (has )?expired|CERTIFICATE_VERIFY_FAILED.*expired|certificate is not yet valid/i,
    {
      reason: 'CertificateExpired',
      means: 'a certificate has expired',
      next: 'renew the certificate in the Secret that the pod mounts',
    },
  ],
  [
    /OOMKilled|Out of memory|Cannot allocate memory/i,
    { reason: 'OutOfMemory', means: 'it was killed for want of memory', next: 'raise resources.limits.memory' },
  ],
  [
    /Access denied for user|ACCESS_REFUSED|\(1045,|Login was refused|HTTP 401|requires authentication/i,
    {
      reason: 'AccessDenied',
      means: 'a backend refuses its password',
      next: 'restore the password that the Secret holds',
    },
  ],
  [
    /Can't connect to|Connection refused|Lost connection to|No route to host|timed out|Name or service not known|not connected|does not answer|unreachable|getaddrinfo/i,
    { reason: 'Unreachable', means: 'something that it needs does not answer', next: 'look at what it calls' },
  ],
  [
    /Permission denied|Operation not permitted|Read-only file system/i,
    {
      reason: 'NotPermitted',
      means: 'the container may not do what it must',
      next: 'check podProfile and the security settings of the namespace',
    },
  ],
];

export const meaningOf = (text: string): Meaning | undefined => TABLE.find(([words]) => words.test(text))?.[1];
