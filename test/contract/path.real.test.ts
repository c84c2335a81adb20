import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { uwsgiFiles } from '../../src/services/pods/uwsgi.ts';

const folder = mkdtempSync(join(tmpdir(), 'path-'));
afterAll(() => rmSync(folder, { recursive: true }));

const [, wrapper] = uwsgiFiles({ service: 'toy', port: 80, module: 'toy.api:application', under: '/image' });

/** What an application sees of a request for a path, when it is loaded as uWSGI loads it. */
function seen(paths: readonly string[]): unknown {
  mkdirSync(join(folder, 'toy'), { recursive: true });
  writeFileSync(
    join(folder, 'toy', 'api.py'),
    'def application(environ, start_response):\n    return [environ["SCRIPT_NAME"], environ["PATH_INFO"]]\n',
  );
  writeFileSync(join(folder, 'wrapper.py'), wrapper?.text ?? '');
  const ask = [
    'import json, sys, wrapper',
    'print(json.dumps([wrapper.application({"SCRIPT_NAME": "", "PATH_INFO": p}, None) for p in sys.argv[1:]]))',
  ].join('\n');
  return JSON.parse(execFileSync('python3', ['-B', '-c', ask, ...paths], { cwd: folder, encoding: 'utf8' }));
}

describe('an API under a path', () => {
  it('sees it as SCRIPT_NAME, and nothing of it where the request has none', () => {
    expect(seen(['/', '/v2/images', '/image', '/image/', '/image/v2/images', '/images/v2'])).toEqual([
      ['', '/'],
      ['', '/v2/images'],
      ['/image', '/'],
      ['/image', '/'],
      ['/image', '/v2/images'],
      ['', '/images/v2'],
    ]);
  });
});
