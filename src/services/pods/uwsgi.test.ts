import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { uwsgiFile, uwsgiFiles, uwsgiLoaded } from './uwsgi.ts';

const app = { service: 'glance', port: 9292, module: 'glance.wsgi.api:application' };

describe('how an API is served', () => {
  it('plain, by its own TLS, or by the router where bodies come in chunks', () => {
    expect(uwsgiFile(app).text).toContain('\nhttp-socket = 0.0.0.0:9292\n');
    expect(uwsgiFile({ ...app, tls: true }).text).toMatch(/\nhttps-socket = 0\.0\.0\.0:9292,\S+,\S+\n/);
    // Clients of memcached read the bundle once.
    expect(uwsgiFile({ ...app, tls: true }).text).toMatch(
      /\ntouch-reload = \S+\/tls.crt\ntouch-chain-reload = \S+\/ca.crt\n/,
    );
    const chunked = uwsgiFile({ ...app, tls: true, chunked: true }).text;
    expect(chunked).toMatch(/\nhttps = 0\.0\.0\.0:9292,\S+,\S+\n/);
    expect(chunked).toContain('\nchunked-input-limit = 16777216\n');
    // Without TLS uWSGI reads chunks as it should.
    expect(uwsgiFile({ ...app, chunked: true }).text).toBe(uwsgiFile(app).text);
  });

  it('answers under a path too, by a file that is loaded instead of the module', () => {
    expect(uwsgiFiles(app).map(({ key }) => key)).toEqual(['uwsgi.ini']);
    const [ini, wrapper] = uwsgiFiles({ ...app, key: 'uwsgi-a.ini', under: '/image' });
    expect(ini?.text).toContain(`\nwsgi-file = ${wrapper?.path}\n`);
    expect(ini?.text).not.toContain('\nmodule = ');
    expect(wrapper).toMatchObject({ key: 'uwsgi-a.py', path: '/etc/uwsgi/glance.py' });
    expect(wrapper?.text).toMatch(/^from glance\.wsgi\.api import application as api\n\nUNDER = "\/image"\n/);
  });

  it('lets nobody stop it before its workers have loaded: a worker forgets what it is told while it loads', () => {
    const marks = uwsgiFile({ ...app, processes: 1 }).text.match(/hook-accepting = exec:touch (\S+)\$PPID/)?.[1] ?? '';
    const mark = `${marks}${process.pid}`;
    writeFileSync(mark, '');
    try {
      // Ends, because the one worker, which is this process, has loaded.
      expect(
        execFileSync('sh', ['-c', `${uwsgiLoaded({ ...app, processes: 1 })}; echo "$loaded"`], { encoding: 'utf8' }),
      ).toBe('1\n');
    } finally {
      rmSync(mark);
    }
  });
});
