import type { Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Address {
  /** 0 takes a free one. */
  readonly port: number;
  readonly host: string;
}

/** Start and stop of a server of ours. Who holds a connection open does not hold up the stop. */
export const listening = (server: HttpServer, { port, host }: Address) => ({
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
});
