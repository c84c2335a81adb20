import { describe, expect, it } from 'vitest';
import { uwsgiFile } from './uwsgi.ts';

const app = { service: 'glance', port: 9292, module: 'glance.wsgi.api:application' };

describe('how an API is served', () => {
  it('plain, by its own TLS, or by the router where bodies come in chunks', () => {
    expect(uwsgiFile(app).text).toContain('\nhttp-socket = 0.0.0.0:9292\n');
    expect(uwsgiFile({ ...app, tls: true }).text).toMatch(/\nhttps-socket = 0\.0\.0\.0:9292,\S+,\S+\n/);
    const chunked = uwsgiFile({ ...app, tls: true, chunked: true }).text;
    expect(chunked).toMatch(/\nhttps = 0\.0\.0\.0:9292,\S+,\S+\n/);
    expect(chunked).toContain('\nchunked-input-limit = 16777216\n');
    // Without TLS uWSGI reads chunks as it should.
    expect(uwsgiFile({ ...app, chunked: true }).text).toBe(uwsgiFile(app).text);
  });
});
