import { afterEach, describe, expect, it } from 'vitest';
import type { Health } from '../runtime/health.ts';
import { prometheusMetrics } from '../runtime/metrics/prometheus.ts';
import { createProbeServer, type ProbeServer } from './http.ts';

let server: ProbeServer | undefined;
afterEach(async () => {
  await server?.stop();
  server = undefined;
});

async function serve(health: Partial<Health> = {}) {
  const metrics = prometheusMetrics({ process: false });
  metrics.event('created');
  const started = createProbeServer({ port: 0, health: { live: {}, ready: {}, ...health }, metrics });
  await started.start();
  server = started;
  return (path: string, init?: RequestInit) => fetch(`http://127.0.0.1:${started.port}${path}`, init);
}

describe('probes', () => {
  it('answer ok while nothing complains', async () => {
    const get = await serve();
    const live = await get('/healthz');
    expect([live.status, await live.text()]).toEqual([200, 'ok\n']);
    expect((await get('/readyz')).status).toBe(200);
  });

  it('name what complains, and liveness is not readiness', async () => {
    let reason: string | undefined = 'the process is syncing';
    const get = await serve({ ready: { manager: () => reason, other: () => undefined } });
    const ready = await get('/readyz');
    expect([ready.status, await ready.text()]).toEqual([503, '[-]manager: the process is syncing\n[+]other ok\n']);
    expect((await get('/healthz')).status).toBe(200);
    reason = undefined;
    expect(await (await get('/readyz?verbose')).text()).toBe('[+]manager ok\n[+]other ok\n');
  });

  it('serve metrics, and nothing else', async () => {
    const get = await serve();
    const metrics = await get('/metrics');
    expect(metrics.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(await metrics.text()).toContain('events_total{result="created"} 1');
    expect((await get('/')).status).toBe(404);
    expect((await get('/healthz', { method: 'POST' })).status).toBe(405);
  });

  it('a check that throws is a 500, and the server lives on', async () => {
    const get = await serve({
      live: {
        broken: () => {
          throw new Error('x');
        },
      },
    });
    expect((await get('/healthz')).status).toBe(500);
    expect((await get('/readyz')).status).toBe(200);
  });

  it('a port that is taken is an error at start', async () => {
    await serve();
    const second = createProbeServer({ port: server!.port, health: { live: {}, ready: {} } });
    await expect(second.start()).rejects.toThrow('EADDRINUSE');
  });
});
