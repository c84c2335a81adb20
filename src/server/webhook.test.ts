import { request } from 'node:https';
import { afterEach, expect, it } from 'vitest';
import { makeCertificate } from '../real/certificate.ts';
import { realClock } from '../real/clock.ts';
import { silent } from '../world/log.ts';
import { createWebhook, VALIDATE, type WebhookOptions, type WebhookServer } from './webhook.ts';

let server: WebhookServer | undefined;
afterEach(async () => {
  await server?.stop();
  server = undefined;
});

async function start(options: Partial<WebhookOptions>): Promise<void> {
  const { ca, cert, key } = makeCertificate(Date.now());
  const neighbours = { list: async () => [] };
  server = createWebhook({
    port: 0,
    certificate: { ca, cert, key },
    clock: realClock,
    log: silent,
    neighbours,
    ...options,
  });
  await server.start();
}

/** Whether a pod on the network of its node may be asked for in this namespace. */
function allowed(namespace: string): Promise<boolean> {
  const spec = { override: { podTemplate: { spec: { hostNetwork: true } } } };
  const object = { apiVersion: 'x/v1', kind: 'Keystone', metadata: { name: 'k', namespace }, spec };
  const body = JSON.stringify({
    apiVersion: 'a',
    kind: 'AdmissionReview',
    request: { uid: '1', operation: 'CREATE', object },
  });
  return new Promise((resolve, reject) => {
    const options = { port: server!.port, method: 'POST', path: VALIDATE, rejectUnauthorized: false };
    const asked = request(options, answer => {
      let text = '';
      answer.on('data', chunk => {
        text += chunk;
      });
      answer.on('end', () => resolve((JSON.parse(text) as { response: { allowed: boolean } }).response.allowed));
    });
    asked.on('error', reject);
    asked.end(body);
  });
}

it('looks at every namespace, unless its operator serves some', async () => {
  await start({});
  expect([await allowed('mine'), await allowed('others')]).toEqual([false, false]);
  await server?.stop();
  await start({ namespaces: ['mine'] });
  expect([await allowed('mine'), await allowed('others')]).toEqual([false, true]);
});

it('knows what its operator was told to allow', async () => {
  await start({ env: { ALLOW_HOST_ACCESS: 'true' } });
  expect(await allowed('mine')).toBe(true);
});
