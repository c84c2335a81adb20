import { rejected } from '../cloud/faults.ts';
import type { Cloud, Term } from '../cloud/ports.ts';
import type { Clock } from '../world/clock.ts';
import { realBus } from './bus.ts';
import { type Dial, direct } from './http/dial.ts';
import { createHttp, type Http } from './http/http.ts';
import { realIdentity } from './identity/identity.ts';
import { createTokens } from './identity/tokens.ts';
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
  const { http, during, close } = createHttp(dial, deadline);
  const tokens = createTokens();
  const cloudOf = (http: Http, term?: Term): Cloud => ({
    sql: at => realSql(at, dial, { deadline, term }),
    bus: at => realBus(at, http),
    identity: at => realIdentity(at, http, clock, tokens),
    page: async ({ url, ca }) => {
      const answer = await http('The service', 'GET', url, { headers: { accept: 'text/html' }, ...(ca && { ca }) });
      const { host, pathname } = new URL(url);
      if (answer.status >= 300) throw rejected('The service', host, `GET ${pathname}: status ${answer.status}`);
    },
  });
  return { ...cloudOf(http), during: term => cloudOf(during(term), term), close };
}
