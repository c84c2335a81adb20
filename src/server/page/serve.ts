import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Server } from '../../runtime/manager.ts';
import type { Page } from './page.ts';

export interface PageServerOptions {
  readonly page: Page;
  /** 0 takes a free one. */
  readonly port: number;
  readonly host: string;
  /** PEM. */
  readonly tls?: { readonly cert: string; readonly key: string };
}

export interface PageServer extends Server {
  /** After start. */
  readonly url: string;
  /** Cuts every connection, as a proxy in between may do at any time. */
  drop(): void;
}

export const isLoopback = (host: string): boolean => ['127.0.0.1', 'localhost', '::1'].includes(host);

export function createPageServer({ page, port, host, tls }: PageServerOptions): PageServer {
  const server = tls ? createTlsServer(tls, page.handle) : createServer(page.handle);
  return {
    name: 'page',
    get url() {
      const at = (server.address() as AddressInfo | null)?.port ?? port;
      return `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${at}/`;
    },
    start: () =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, host, () => {
          server.off('error', reject);
          resolve();
        });
      }),
    stop: () =>
      new Promise(resolve => {
        page.close();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
    drop: () => server.closeAllConnections(),
  };
}
