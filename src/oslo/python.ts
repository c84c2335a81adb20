/**
 * Python's str.strip() and JavaScript's trim() disagree: Python also strips U+001C to U+001F and U+0085 and keeps U+FEFF.
 * oslo.config is Python, so the files are read with Python's idea of white space. Loops instead of regular expressions:
 * `/\s+$/` is quadratic on long runs of blanks, and these texts come from users.
 */
export function isPythonSpace(code: number): boolean {
  return (
    (code >= 0x09 && code <= 0x0d) ||
    (code >= 0x1c && code <= 0x20) ||
    code === 0x85 ||
    code === 0xa0 ||
    code === 0x1680 ||
    (code >= 0x2000 && code <= 0x200a) ||
    code === 0x2028 ||
    code === 0x2029 ||
    code === 0x202f ||
    code === 0x205f ||
    code === 0x3000
  );
}

export function rstrip(text: string): string {
  let end = text.length;
  while (end > 0 && isPythonSpace(text.charCodeAt(end - 1))) end--;
  return text.slice(0, end);
}

export function lstrip(text: string): string {
  let start = 0;
  while (start < text.length && isPythonSpace(text.charCodeAt(start))) start++;
  return text.slice(start);
}

export const strip = (text: string): string => lstrip(rstrip(text));

/** What open(...).readlines() does in text mode: \n, \r\n and a lone \r all end a line, and no other character does. */
export function lines(text: string): string[] {
  const found = text.split(/\r\n|\r|\n/);
  if (found.at(-1) === '') found.pop();
  return found;
}
