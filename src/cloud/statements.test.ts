import { expect, it } from 'vitest';
import { whileMarked } from './statements.ts';

it('a drop asks for the mark in the same statement, byte by byte', () => {
  const text = whileMarked('DROP DATABASE `keystone`');
  expect(text).toMatch(/^BEGIN NOT ATOMIC IF EXISTS \(SELECT .*SCHEMA_NAME = \? AND BINARY SCHEMA_COMMENT = \?\) THEN/);
  expect(text).toMatch(/THEN DROP DATABASE `keystone`; END IF; END$/);
});
