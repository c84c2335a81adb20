import { readFileSync } from 'node:fs';
import { afterAll, describe } from 'vitest';
import { type Pretenders, pretend } from '../../src/embedded/controllers/controllers.ts';
import { pathOf, type Resource } from '../../src/kube/resource.ts';
import { realClock, realRandom } from '../../src/real/clock.ts';
import { loadCredentials } from '../../src/real/credentials.ts';
import { type Connection, connect } from '../../src/real/transport.ts';
import { storyPrograms } from '../functional/pretend-programs.ts';
import { type Ground, type Obj, stories } from '../functional/pretend-stories.ts';
import { type ApiServer, startApiServer } from './apiserver.ts';

const PATIENCE = 60_000;
const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms));

describe('pretenders on a real kube-apiserver', { timeout: 2 * PATIENCE }, () => {
  let server: ApiServer | undefined;
  let pretenders: Pretenders | undefined;
  const connections: Connection[] = [];
  const ground = once(async (): Promise<Ground> => {
    server = await startApiServer({ keep: process.env.KEEP !== undefined });
    const connection = (user: 'admin' | 'pretender') => {
      const c = connect(loadCredentials({ kubeconfig: server!.kubeconfig(user), env: {} }), { userAgent: user });
      connections.push(c);
      return c;
    };
    const admin = connection('admin');
    const running = pretend({
      transport: connection('pretender'),
      clock: realClock,
      random: realRandom,
      programs: storyPrograms,
      delays: { pull: 20, start: 20, ready: 50, job: 50, stop: 50 },
    });
    pretenders = running;
    await running.start();
    return {
      pretenders: running,
      send: request => admin.send(request),
      async until(resource: Resource, namespace, check) {
        const end = Date.now() + PATIENCE;
        for (;;) {
          const answer = await admin.send({ method: 'GET', path: pathOf(resource, namespace) });
          const { items } = answer.body as { items: Obj[] };
          if (check(items)) return;
          if (Date.now() > end) throw new Error(`not in ${PATIENCE} ms: ${JSON.stringify(items.map(strip), null, 1)}`);
          await pause(20);
        }
      },
      async writesAtRest() {
        // Whatever the earlier stories left behind ends first: crash back-offs, deadlines of Jobs.
        await pause(12_000);
        const before = writes();
        await pause(5_000);
        return writes() - before;
      },
    };
  });
  const writes = () =>
    readFileSync(server!.auditLog, 'utf8')
      .split('\n')
      .filter(line => line.includes('"username":"pretender"') && /"verb":"(create|update|patch|delete)"/.test(line))
      .length;
  afterAll(async () => {
    await pretenders?.stop();
    for (const c of connections) await c.close();
    await server?.stop();
  });
  stories(ground);
});

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

const strip = (o: Obj) => ({ ...o, metadata: { ...o.metadata, managedFields: undefined } });
