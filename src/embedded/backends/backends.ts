import { unreachable } from '../../cloud/faults.ts';
import type { Cloud } from '../../cloud/ports.ts';
import type { PodObject } from '../controllers/objects.ts';
import type { Programs } from '../controllers/program.ts';
import { table } from '../programs/programs.ts';
import { fakeBus } from '../servers/bus.ts';
import { misfit, openingOf } from '../servers/handshake.ts';
import { fakeSql } from '../servers/sql.ts';
import type { Disks, Net, Served } from '../servers/state.ts';
import { fakeIdentity } from './identity.ts';

export interface BackendOptions {
  /** Ready pods behind a host and port: `Pretenders.resolve`. */
  readonly resolve: (host: string, port: number) => readonly PodObject[];
  /** Asked before each call of a port; what it throws is what the caller gets. */
  readonly intercept?: (call: BackendCall) => void;
}

export interface BackendCall {
  readonly port: 'sql' | 'bus' | 'identity' | 'page';
  readonly at: string;
  readonly method: string;
}

export interface Backends {
  readonly cloud: Cloud;
  /** What the containers of the cloud do; pass it to createControllers(). */
  readonly programs: Programs;
  /** Whether the MariaDB at a host refuses plain connections now. */
  refusesPlain(host: string): boolean;
  /** Plain ways to servers that serve over TLS, which a port was asked to open, since the beginning. */
  plain(): readonly string[];
  /** How often a port changed something, since the beginning. */
  mutations(): number;
  /** All disks as plain values. Processes are not in it: the kubelet that starts them again brings them back. */
  snapshot(): Disks;
  restore(disks: Disks): void;
  /** The disks themselves, for tests that break something by hand. */
  readonly disks: Disks;
}

export function createBackends(options: BackendOptions): Backends {
  const disks: Disks = { sql: {}, bus: {} };
  /** By pod uid. */
  const processes = new Map<string, Served>();
  const plain: string[] = [];
  let mutations = 0;
  const net: Net = {
    disks,
    find<K extends Served['is']>(kind: K, host: string, port: number) {
      for (const pod of options.resolve(host, port)) {
        const process = processes.get(pod.metadata.uid ?? '');
        if (process?.is === kind) return process as Extract<Served, { is: K }>;
      }
      return undefined;
    },
    started: <K extends Served['is']>(kind: K) =>
      [...processes.values()].filter((process): process is Extract<Served, { is: K }> => process.is === kind),
    answers: (host, port) => options.resolve(host, port).length > 0,
    plainTo: (server, where) => {
      if (server?.shows?.() !== undefined) plain.push(where);
    },
    mutated: () => {
      mutations++;
    },
  };
  const guarded = <T extends object>(port: BackendCall['port'], at: string, of: T): T =>
    options.intercept === undefined ? of : intercepted(options.intercept, port, at, of);
  return {
    cloud: {
      sql: at => guarded('sql', `${at.host}:${at.port}`, fakeSql(net, at)),
      bus: at => guarded('bus', at.url, fakeBus(net, at)),
      identity: at => guarded('identity', at.url, fakeIdentity(net, at)),
      page: async ({ url, ca }) => {
        options.intercept?.({ port: 'page', at: url, method: 'get' });
        const { host } = new URL(url);
        const opening = openingOf(url, ca);
        if (!net.answers(opening.host, opening.port)) throw unreachable('The service', host, 'connection refused');
        const process = net.find('other', opening.host, opening.port);
        if (!opening.tls) net.plainTo(process, `page ${opening.host}`);
        const why = process && misfit(process, opening);
        if (why) throw unreachable('The service', host, why);
      },
    },
    programs: table(net, (pod, process) => processes.set(pod.metadata.uid ?? '', process)),
    refusesPlain: host => net.find('sql', host, 3306)?.transport.required ?? false,
    plain: () => plain,
    mutations: () => mutations,
    snapshot: () => structuredClone(disks),
    restore(saved) {
      Object.assign(disks, structuredClone(saved));
      processes.clear();
    },
    disks,
  };
}

/** The same port, each call of which is told first, and may be refused. */
const intercepted = <T extends object>(
  intercept: NonNullable<BackendOptions['intercept']>,
  port: BackendCall['port'],
  at: string,
  of: T,
): T =>
  new Proxy(of, {
    get: (target, method) => {
      const call: unknown = Reflect.get(target, method);
      if (typeof call !== 'function') return call;
      return async (...args: unknown[]): Promise<unknown> => {
        intercept({ port, at, method: String(method) });
        return call.apply(target, args);
      };
    },
  });
