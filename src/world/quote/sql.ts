/** MariaDB's escapes: a literal stays on one line, which is all that --init-file understands. */
const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  "'": "''",
  '\0': '\\0',
  '\n': '\\n',
  '\r': '\\r',
  '\x1a': '\\Z',
};

/** A string of a MariaDB statement. */
export const sqlText = (text: string): string => `'${text.replace(/[\\'\p{Cc}]/gu, found => ESCAPES[found] ?? found)}'`;

/** A name of a database or table in a MariaDB statement. */
export const sqlName = (name: string): string => `\`${name.replaceAll('`', '``')}\``;
