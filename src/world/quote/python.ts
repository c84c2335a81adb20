/** What Python's literals are made from. */
export type Literal = string | boolean | readonly Literal[] | { readonly [key: string]: Literal };

/** A value as Python writes it, lists as tuples: for settings that are read as Python. */
export function python(value: Literal): string {
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  // JSON's escapes are Python's.
  if (typeof value === 'string') return JSON.stringify(value);
  if (Array.isArray(value)) return `(${value.map(item => `${python(item)},`).join(' ')})`;
  return `{${Object.entries(value)
    .map(([key, item]) => `${python(key)}: ${python(item)}`)
    .join(', ')}}`;
}
