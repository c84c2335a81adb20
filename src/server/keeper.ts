import { X509Certificate } from 'node:crypto';
import type { Client } from '../kube/client.ts';
import type { AnyObject } from '../kube/object.ts';
import { Secret, ValidatingWebhookConfiguration } from '../kube/resource.ts';
import { type Certificate, makeCertificate } from '../real/certificate.ts';
import { type Clock, sleep } from '../world/clock.ts';
import type { Log } from '../world/log.ts';

/** Keeps the webhook's certificate: in a Secret that all replicas share, and its authority in the configuration. */

export interface KeeperOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Log;
  /** Of the operator. */
  readonly namespace: string;
  /** Of the Service, the Secret and the ValidatingWebhookConfiguration. */
  readonly name: string;
}

const DAYS = 90;
/** Renewed when a third of its life is left: weeks in which somebody may notice that it does not work. */
const LEFT_MS = (DAYS / 3) * 86_400_000;
const LOOK_MS = 3_600_000;
/** The API server may be away, or a Secret just written by another replica. */
const RETRY_MS = 10_000;

const endOf = (cert: string): number => {
  try {
    return Date.parse(new X509Certificate(cert).validTo);
  } catch {
    return 0;
  }
};

const KEYS = { ca: 'ca.crt', cert: 'tls.crt', key: 'tls.key' } as const;

function certificateIn(secret: AnyObject | undefined): Certificate | undefined {
  const data = (secret?.data ?? {}) as Readonly<Record<string, string>>;
  const text = (key: string): string => Buffer.from(data[key] ?? '', 'base64').toString('utf8');
  const found = { ca: text(KEYS.ca), cert: text(KEYS.cert), key: text(KEYS.key) };
  return found.ca && found.cert && found.key ? found : undefined;
}

/** Only the newest authority, and the one before it, whose certificates other replicas may still show. */
const bundleOf = (...authorities: readonly (string | undefined)[]): string =>
  authorities
    .flatMap(text => text?.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----\n?/g) ?? [])
    .slice(0, 2)
    .join('');

/** One look: the certificate that is good now, made anew when there is none or it is old. */
export async function keep({ client, namespace, name, log }: KeeperOptions): Promise<Certificate> {
  const ref = { namespace, name };
  const secret = await client.get(Secret, ref);
  const known = certificateIn(secret);
  const now = client.serverTime();
  let certificate = known;
  if (known === undefined || endOf(known.cert) - now < LEFT_MS) {
    const fresh = makeCertificate(now, {
      names: [`${name}.${namespace}.svc`, `${name}.${namespace}.svc.cluster.local`],
      days: DAYS,
      authority: `${name} ${new Date(now).toISOString()}`,
    });
    certificate = { ...fresh, ca: bundleOf(fresh.ca, known?.ca) };
    const data = Object.fromEntries(
      Object.entries(KEYS).map(([part, key]) => [
        key,
        Buffer.from(certificate![part as keyof Certificate]).toString('base64'),
      ]),
    );
    const body = { apiVersion: 'v1', kind: 'Secret', metadata: { ...ref }, type: 'kubernetes.io/tls', data };
    if (secret === undefined) await client.create(Secret, body);
    // With its resourceVersion: of two replicas one wins, and the other reads what it wrote.
    else await client.replace(Secret, { ...body, metadata: secret.metadata });
    log.info('Webhook: certificate made', {
      secret: name,
      days: DAYS,
      why: known ? 'a third of its life is left' : 'there was none',
    });
  }
  await publish(client, name, certificate!.ca);
  return certificate!;
}

async function publish(client: Client, name: string, ca: string): Promise<void> {
  const found = await client.get(ValidatingWebhookConfiguration, { namespace: '', name });
  // The webhook runs without its configuration: the author of that one knows the Secret.
  if (found === undefined) return;
  const caBundle = Buffer.from(ca).toString('base64');
  const webhooks = (found.webhooks ?? []) as readonly { name: string; clientConfig?: { caBundle?: string } }[];
  if (webhooks.every(webhook => webhook.clientConfig?.caBundle === caBundle)) return;
  const body = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name, resourceVersion: found.metadata.resourceVersion },
    webhooks: webhooks.map(webhook => ({ ...webhook, clientConfig: { ...webhook.clientConfig, caBundle } })),
  };
  await client.patch(ValidatingWebhookConfiguration, { namespace: '', name }, body, { type: 'merge' });
}

/** Looks again and again until the signal; `renewed` gets every certificate that is another than the last. */
export async function keeping(
  options: KeeperOptions,
  first: Certificate,
  renewed: (certificate: Certificate) => void,
  signal: AbortSignal,
): Promise<void> {
  let last = first;
  let pause = LOOK_MS;
  while (!signal.aborted) {
    await sleep(options.clock, pause, signal, { daemon: true, label: 'webhook certificate' });
    pause = LOOK_MS;
    try {
      const now = await keep(options);
      if (now.cert !== last.cert) renewed(now);
      last = now;
    } catch (error) {
      pause = RETRY_MS;
      const reason = error instanceof Error ? error.message : String(error);
      options.log.warn('Webhook: certificate not looked at', { error: reason });
    }
  }
}
