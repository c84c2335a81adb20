export type Fields = Readonly<Record<string, unknown>>;

/** Text is a sentence in the past tense that names the kind of object; what varies goes into fields. */
export interface Log {
  debug(text: string, fields?: Fields): void;
  info(text: string, fields?: Fields): void;
  warn(text: string, fields?: Fields): void;
  error(text: string, fields?: Fields): void;
  /** The same log, these fields on every line. */
  child(fields: Fields): Log;
}

export const silent: Log = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => silent,
};
