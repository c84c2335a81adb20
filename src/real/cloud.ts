import { rejected } from '../cloud/faults.ts';
import type { Cloud } from '../cloud/ports.ts';
import type { Clock } from '../world/world.ts';
import { realBus } from './bus.ts';
import { type Dial, direct } from './dial.ts';
import { createHttp } from './http.ts';
import { realIdentity, type Tokens } from './identity.ts';
import { realSql } from './sql.ts';

export interface RealCloudOptions {
  readonly clock: Clock;
  /** How to reach an address of the cluster; straight unless given. */
  readonly dial?: Dial;
  /** Milliseconds for one exchange; longer than the operator's own only where a slow machine is no fault (tests). */
  readonly deadline?: number;
}

export interface RealCloud extends Cloud {
  /** Ends every open connection. */
  close(): Promise<void>;
}

export function realCloud({ clock, dial = direct, deadline }: RealCloudOptions): RealCloud {
  const { http, close } = createHttp(dial, deadline);
  const tokens: Tokens = new Map();
  return {
    sql: at => realSql(at, dial, deadline),
    bus: at => realBus(at, http),
    identity: at => realIdentity(at, http, clock, tokens),
    page: async ({ url, ca }) => {
      const answer = await http('The service', 'GET', url, { headers: { accept: 'text/html' }, ...(ca && { ca }) });
      const { host, pathname } = new URL(url);
      if (answer.status >= 300) throw rejected('The service', host, `GET ${pathname}: status ${answer.status}`);
    },
    close,
  };
}
