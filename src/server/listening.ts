import type { Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Address {
  /** 0 takes a free one. */
  readonly port: number;
  readonly host: string;
  /** Connections at the same time; more are closed as they come. */
  readonly most: number;
}

/** A request that has not come in whole after this time is given up: its sender would hold a socket for nothing. */
const REQUEST_MS = 30_000;

/** Start and stop of a server of ours. Who holds a connection open does not hold up the stop. */
export const listening = (server: HttpServer, { port, host, most }: Address) => {
  server.maxConnections = most;
  server.requestTimeout = REQUEST_MS;
  server.headersTimeout = REQUEST_MS;
  // A failed accept (no file descriptors left) is an error event for as long as it serves, and the next one may succeed.
  // Without a listener it would end the process.
  server.on('error', () => undefined);
  return {
    /** After start; with port 0 the system chose one. */
    port: (): number => (server.address() as AddressInfo | null)?.port ?? port,
    start: () =>
      new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, host, () => {
          server.off('error', reject);
          resolve();
        });
      }),
    stop: () =>
      new Promise<void>((resolve, reject) => {
        server.close(error => (error ? reject(error) : resolve()));
        server.closeAllConnections();
      }),
  };
};
