import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { request } from 'undici';
import { type Cloud, CloudError } from '../src/cloud/ports.ts';

interface Call {
  readonly port: Exclude<keyof Cloud, 'asked' | 'during'>;
  readonly at: never;
  readonly method: string;
  readonly args: readonly unknown[];
}
interface Answer {
  readonly value?: unknown;
  readonly fault?: CloudError['fault'];
  readonly message?: string;
}

/** Lets an operator in a process of its own reach the fake backends of this one. */
export async function serveCloud(cloud: Cloud): Promise<{ url: string; close(): void }> {
  const server = createServer((incoming, outgoing) => {
    void answer(cloud, incoming).then(result => {
      outgoing.setHeader('content-type', 'application/json');
      outgoing.end(JSON.stringify(result));
    });
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => void server.close() };
}

async function answer(cloud: Cloud, incoming: IncomingMessage): Promise<Answer> {
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const { port, at, method, args } = JSON.parse(Buffer.concat(chunks).toString()) as Call;
    const methods = cloud[port](at) as unknown as Record<string, (...args: readonly unknown[]) => Promise<unknown>>;
    return { value: await methods[method]!(...args) };
  } catch (error) {
    if (error instanceof CloudError) return { fault: error.fault, message: error.message };
    return { fault: 'unreachable', message: String(error) };
  }
}

/** The other end of the bridge. */
export function bridgedCloud(url: string): Cloud {
  const port = (name: Call['port']) => (at: object) =>
    new Proxy(
      {},
      {
        get:
          (_, method) =>
          async (...args: unknown[]) => {
            const body = JSON.stringify({ port: name, at, method, args });
            const response = await request(url, { method: 'POST', body });
            const { value, fault, message } = (await response.body.json()) as Answer;
            if (fault !== undefined) throw new CloudError(fault, message ?? '');
            return value;
          },
      },
    );
  return { sql: port('sql'), bus: port('bus'), identity: port('identity') } as Cloud;
}
