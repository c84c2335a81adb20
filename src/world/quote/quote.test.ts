import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CLASSICS, hostile } from '../../../test/fixtures/hostile.ts';
import { literal } from './kubelet.ts';
import { optionFile } from './option-file.ts';
import { python } from './python.ts';
import { rabbitValue } from './rabbitmq.ts';
import { shell } from './shell.ts';
import { sqlName, sqlText } from './sql.ts';
import { Unquotable } from './unquotable.ts';
import { isHost, urlHost, urlWord } from './url.ts';

/** Each word is read back by the program that it is for; one process reads many. */
const words = [...CLASSICS, ...fc.sample(hostile(), { numRuns: 400, seed: 19 })];

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'quote-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** What a program prints for a script, split at NUL. */
function read(program: string, script: string): string[] {
  const file = join(dir, 'script');
  writeFileSync(file, script);
  const out = execFileSync(program, [file], { cwd: dir, encoding: 'utf8', maxBuffer: 1 << 24 });
  expect(existsSync(join(dir, 'marker'))).toBe(false);
  return out.split('\0').slice(0, -1);
}

describe('a quoted word is read back as it was', () => {
  it.each(['bash', 'sh'])('by %s', program => {
    expect(read(program, words.map(word => `printf '%s\\0' ${shell(word)}\n`).join(''))).toEqual(words);
  });

  it('by Python', () => {
    const script = `import sys\nfor word in ${python(words)}:\n    sys.stdout.buffer.write(word.encode() + b"\\0")\n`;
    expect(read('python3', script)).toEqual(words);
    expect(python({ a: [true, 'b'] })).toBe('{"a": (True, "b",)}');
  });

  it('by a reader of URLs', () => {
    for (const word of words) {
      const url = new URL(`rabbit://${urlWord(word)}:${urlWord(word)}@host:1/${urlWord(word)}`);
      expect([url.hostname, url.search, url.hash]).toEqual(['host', '', '']);
      expect([url.username, url.password].map(decodeURIComponent)).toEqual([word, word]);
    }
  });

  it('by the kubelet', () => {
    for (const word of words) expect(expanded(literal(word)), JSON.stringify(word)).toBe(word);
    // What it leaves alone stays as it is: a template must not change for nothing.
    for (const text of ['$(date +%s)', '$x {y}', 'a$', '$']) expect(literal(text)).toBe(text);
  });
});

/** Expand() of k8s.io/kubernetes/third_party/forked/golang/expansion, in a container that has every variable. */
function expanded(text: string): string {
  let out = '';
  for (let i = 0; i < text.length; i++) {
    const next = text[i + 1];
    if (text[i] !== '$' || next === undefined) out += text[i];
    else if (next === '$') {
      out += '$';
      i++;
    } else if (next === '(') {
      const end = text.indexOf(')', i);
      const name = end < 0 ? '' : text.slice(i + 2, end);
      if (/^[-._A-Za-z][-._A-Za-z0-9]*$/.test(name)) {
        out += 'EXPANDED';
        i = end;
      } else out += '$';
    } else out += '$';
  }
  return out;
}

it('keeps statements and option files on one line, and their quotes closed', () => {
  for (const word of words) {
    expect(sqlText(word)).toMatch(/^'([^'\\\n\r]|''|\\[^\n])*'$/);
    expect(sqlName(word)).toMatch(/^`([^`]|``)*`$/);
    expect(optionFile(word)).toMatch(/^"([^"\\\n\r]|\\.)*"$/);
  }
});

it('refuses what no quotes can carry, and does not repeat it', () => {
  expect(() => shell('secret\0x')).toThrow(Unquotable);
  expect(() => shell('secret\0x')).not.toThrow(/secret/);
  expect(rabbitValue('p@ss:w/rd%"\'$x', 'it')).toBe('p@ss:w/rd%"\'$x');
  for (const word of ['', 'a#b', 'a\n', ' a', 'a ', "'a", 'a$(b)', 'encrypted:a'])
    expect(() => rabbitValue(word, 'key password of Secret s'), word).toThrow('key password of Secret s');
});

it.each([
  ['db.example.org', 'db.example.org'],
  ['10.0.0.1', '10.0.0.1'],
  ['fd00::1', '[fd00::1]'],
  ['[fd00::1]', '[fd00::1]'],
])('writes the host %s', (host, written) => {
  expect(urlHost(host)).toBe(written);
  expect(new URL(`http://${urlHost(host)}:1/`).hostname).toBe(written);
});

it('takes nothing else for a host', () => {
  for (const word of CLASSICS) expect(isHost(word), word).toBe(false);
  for (const word of ['a@b', 'a/b', 'a:1', 'host\n', '', '-a', '300.1.1.1', '1::2::3'])
    expect(() => urlHost(word), word).toThrow(Unquotable);
});
