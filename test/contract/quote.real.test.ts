import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { createConnection } from 'mysql2/promise';
import { afterAll, describe, expect, it } from 'vitest';
import { initSql } from '../../src/services/mariadb/files.ts';
import { optionFile } from '../../src/world/quote/option-file.ts';
import { sqlName, sqlText } from '../../src/world/quote/sql.ts';
import { CLASSICS, hostile } from '../fixtures/hostile.ts';
import { folder, type MariaDb, removeFolders, startMariaDb } from './daemons.ts';

/** Quoted words, read back by a real MariaDB and its reader of option files. */
const words = [...CLASSICS, ...fc.sample(hostile(), { numRuns: 300, seed: 19 })];

/** Comes with MariaDB's client. */
const PRINT = 'my_print_defaults';

let mariadb: MariaDb | undefined;
afterAll(async () => {
  await mariadb?.stop();
  removeFolders();
});

describe('a real MariaDB', () => {
  it('reads strings, names and passwords of statements as they were', async () => {
    const open = (port: number, user: string, password: string) =>
      createConnection({ host: '127.0.0.1', port, user, password, charset: 'utf8mb4' });
    mariadb = await startMariaDb(async (port, password) => (await open(port, 'root', password)).end());
    const { port, rootPassword } = mariadb;
    const root = await open(port, 'root', rootPassword);
    for (const word of words) {
      const [rows] = await root.query(`SELECT ${sqlText(word)} AS value`);
      expect((rows as { value: string }[])[0]?.value).toBe(word);
    }
    const [named] = await root.query(`SELECT 1 AS ${sqlName("a`b'c")}`);
    expect(Object.keys((named as object[])[0]!)).toEqual(["a`b'c"]);
    // As --init-file does: one statement per line.
    const secret = 'p\'"\\$(x)`%@:/ä\nq';
    const lines = initSql({ user: 'it', password: secret }, false).trimEnd().split('\n');
    for (const line of lines.slice(0, 3)) await root.query(line);
    const own = await open(port, 'it', secret);
    await own.ping();
    await own.end();
    await root.end();
  }, 180_000);

  it('reads values of option files as they were', () => {
    const file = join(folder('options'), 'client.cnf');
    // Its tool prints one option per line, so a line end can't be told from the next option there.
    for (const word of words.filter(word => !/[\n\r]/.test(word)).slice(0, 100)) {
      writeFileSync(file, `[client]\npassword=${optionFile(word)}\n`);
      const said = execFileSync(PRINT, [`--defaults-file=${file}`, 'client'], { encoding: 'utf8' });
      expect(said).toBe(`--password=${word}\n`);
    }
  });
});
