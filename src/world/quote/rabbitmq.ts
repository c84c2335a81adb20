import { Unquotable } from './unquotable.ts';

/**
 * A value of rabbitmq.conf. Its reader has no escapes: `#` begins a comment, `$(name)` is replaced, `encrypted:` is
 * decrypted, blanks at the ends are cut off, and quotes at the beginning mean something in some releases only. So what
 * can't be written as it stands is refused.
 */
export function rabbitValue(text: string, what: string): string {
  if (text === '' || /[\p{Cc}#]|^[\s'"]|\s$|\$\(|^encrypted:/u.test(text))
    throw new Unquotable(
      `${what} can't be written to rabbitmq.conf: it is empty, holds a line end, another control character, # or $(, ` +
        'begins with a quote or encrypted:, or begins or ends with a blank',
    );
  return text;
}
