import { withoutNul } from './unquotable.ts';

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** A value of an option file of MariaDB (my.cnf): quoted, because it may hold `#`, blanks or the end of a line. */
export const optionFile = (text: string): string =>
  `"${withoutNul(text, 'an option file of MariaDB').replace(/[\\"\n\r\t]/g, found => ESCAPES[found] ?? '')}"`;
