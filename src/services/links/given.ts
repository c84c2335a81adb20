import { Secret } from '../../kube/resource.ts';
import { stall, subjectOf } from '../../runtime/plan/unmet.ts';
import { blocks } from '../../world/x509.ts';

/** Keys of a hand-made Secret that opens a server. */
export const CONNECTION = ['hostname', 'user', 'password'] as const;

/** A CA in a hand-made Secret means that the way is encrypted. */
export function caIn(data: object, secret: string, field: string): { readonly ca: string | undefined } {
  const ca = (data as Readonly<Record<string, string | undefined>>)['ca.crt'];
  if (ca === undefined) return { ca };
  if (blocks(ca).length > 0) return { ca };
  throw stall({
    reason: 'CertificateInvalid',
    about: subjectOf(Secret, secret),
    what: `Secret ${secret}, named in ${field}: ca.crt holds no certificate`,
    who: 'User',
    next: 'put the PEM certificate of the CA there, or remove ca.crt if the way may be plain',
  });
}
