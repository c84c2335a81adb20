import { describe, expect, it } from 'vitest';
import { createLog, type Level } from './log.ts';

function capture(level?: Level) {
  const lines: Record<string, unknown>[] = [];
  const log = createLog(level, { write: text => void lines.push(JSON.parse(text)) });
  return { log, lines };
}

describe('createLog', () => {
  it('writes one JSON object per line, with the fields of its parents', () => {
    const { log, lines } = capture();
    log.child({ controller: 'nova' }).child({ object: 'ns/nova' }).info('Secret was written', { name: 'nova-config' });
    expect(lines).toEqual([
      {
        level: 'info',
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
        controller: 'nova',
        object: 'ns/nova',
        name: 'nova-config',
        msg: 'Secret was written',
      },
    ]);
  });

  it('writes nothing below its level', () => {
    const { log, lines } = capture('warn');
    log.info('x');
    log.child({}).debug('x');
    log.error('y');
    expect(lines.map(l => l.msg)).toEqual(['y']);
  });

  it('lets no secret through, in text, fields, children or errors', () => {
    const { log, lines } = capture('debug');
    log.child({ password: 'hush1' }).debug('Connected to mysql://u:hush2@db', {
      object: { kind: 'Secret', data: { key: 'hush3' } },
      error: new Error('rabbit://u:hush4@bus refused'),
    });
    expect(JSON.stringify(lines)).not.toMatch(/hush/);
    expect(lines.length).toBe(1);
  });
});
