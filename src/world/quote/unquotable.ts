/** A value that a language can't hold, however it is quoted. The value is never in the message: it may be a password. */
export class Unquotable extends Error {
  override name = 'Unquotable';
}

/** No file, environment and command line of Unix can hold it. */
export function withoutNul(text: string, language: string): string {
  if (text.includes('\0')) throw new Unquotable(`a value for ${language} holds a NUL character`);
  return text;
}
