import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Server } from '../../runtime/manager.ts';
import { listening } from '../listening.ts';
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

/** Twice the streams that there may be (page.ts): each page asks for other things beside its stream. */
const MOST_CONNECTIONS = 200;

export const isLoopback = (host: string): boolean => ['127.0.0.1', 'localhost', '::1'].includes(host);

export function createPageServer({ page, port, host, tls }: PageServerOptions): PageServer {
  const server = tls ? createTlsServer(tls, page.handle) : createServer(page.handle);
  const { port: at, start, stop } = listening(server, { port, host, most: MOST_CONNECTIONS });
  return {
    name: 'page',
    get url() {
      return `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${at()}/`;
    },
    start,
    stop: () => {
      page.close();
      return stop();
    },
    drop: () => server.closeAllConnections(),
  };
}
