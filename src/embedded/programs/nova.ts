import { computeHost } from '../../../api/nova/host.ts';
import { lookup, parse } from '../../oslo/parse.ts';
import type { PodObject } from '../controllers/objects.ts';
import { commandOf, type Exit, type Outcome, type Run } from '../controllers/program.ts';
import { open } from '../servers/sql.ts';
import { type Database, type DatabaseUrl, type Net, parseDatabaseUrl, type Served } from '../servers/state.ts';

/** What the operator's scripts around nova-manage do to the databases (openstack-facts 10). */

const SYNC = 14_000;
const MAP = 6_000;

const fileOf = (run: Run, name: RegExp): string | undefined => {
  const path = run.files('/').find(file => name.test(file));
  return path === undefined ? undefined : run.file(`/${path}`);
};

/** The URL of a section as the last of the mounted files gives it. */
const urlIn = (run: Run, section: string): string => optionIn(run, section, 'connection');

function optionIn(run: Run, section: string, option: string): string {
  const texts = [...run.files('/')].filter(file => file.endsWith('.conf')).sort();
  const urls = texts.flatMap(file => {
    const parsed = parse(run.file(`/${file}`) ?? '');
    const found = 'ok' in parsed ? lookup(parsed.ok, section, option) : undefined;
    return found ? [found.value] : [];
  });
  return urls.at(-1) ?? '';
}

/** What the URL names to verify the server with is a file of the pod. */
export function databaseUrlIn(run: Run, url: string): DatabaseUrl | undefined {
  const path = /[?&]ssl_ca=([^&]+)/.exec(url)?.[1];
  const parsed = parseDatabaseUrl(url);
  return parsed && path ? { ...parsed, trust: () => run.file(path) } : parsed;
}

function databaseIn(run: Run, net: Net, section: string): Database | string {
  const url = databaseUrlIn(run, urlIn(run, section));
  return url === undefined ? `no [${section}] connection in the mounted configuration` : open(net, url);
}

export function novaSync(run: Run, net: Net): Outcome {
  const end = (): Exit => {
    const script = fileOf(run, /db-sync\.sh$/) ?? '';
    for (const section of [...(/\bapi_db sync\b/.test(script) ? ['api_database'] : []), 'database']) {
      const database = databaseIn(run, net, section);
      if (typeof database === 'string') return { exit: 1, message: database };
      if (!database.schemas.includes('nova')) database.schemas.push('nova');
    }
    return { exit: 0 };
  };
  return { after: SYNC, end };
}

/** The last word of the command is the cell. */
const cellOf = (run: Run): string => commandOf(run).trim().split(/\s+/).at(-1) ?? '';

function mappings(run: Run, net: Net): Database | string {
  const api = databaseIn(run, net, 'api_database');
  if (typeof api === 'string') return api;
  return api.schemas.includes('nova') ? api : "(1146, \"Table 'nova_api.cell_mappings' doesn't exist\")";
}

export function novaEnsureCell(run: Run, net: Net): Outcome {
  const end = (): Exit => {
    const api = mappings(run, net);
    if (typeof api === 'string') return { exit: 1, message: api };
    const url = urlIn(run, 'database');
    const clash = Object.entries(api.cells ?? {}).find(([name, cell]) => name !== cellOf(run) && cell.url === url);
    if (clash)
      return {
        exit: 2,
        message: `The specified transport_url and/or database_connection combination already exists for cell ${clash[0]}`,
      };
    api.cells = { ...api.cells, [cellOf(run)]: { hosts: [], ...api.cells?.[cellOf(run)], url, bus: vhostIn(run) } };
    return { exit: 0 };
  };
  return { after: MAP, end };
}

/** Conductor and scheduler write their row when they start; whether it stays up is the test's to say. */
export function novaReports(run: Run, net: Net): Outcome {
  const binary = /\bnova-(conductor|scheduler)\b/.exec(commandOf(run))?.[0] ?? '';
  const host = run.pod.metadata.name;
  const database = databaseIn(run, net, 'database');
  if (typeof database !== 'string' && database.schemas.includes('nova'))
    database.services = { ...database.services, [`${binary} ${host}`]: { binary, host, state: 'up' } };
  return { serves: true, readyAfter: 5_000 };
}

/** `rabbit://user:password@host:port/vhost`: login and place may change while it stays the same. */
const vhostIn = (run: Run): string => /[^/]*$/.exec(optionIn(run, 'DEFAULT', 'transport_url'))?.[0] ?? '';

/** A compute has no database: it reports over the bus of its cell, as soon as that is mapped. */
export function novaComputes(run: Run, _net: Net, serve: (pod: PodObject, process: Served) => void): Outcome {
  serve(run.pod, { is: 'compute', host: computeHost(run.pod) ?? '', vhost: vhostIn(run) });
  return { serves: true, readyAfter: 5_000 };
}

/** What GET /os-services answers: the rows of every cell that is mapped beside the database the API uses. */
export function novaServices(net: Net, used: DatabaseUrl | undefined): object[] {
  const server = used && net.find('sql', used.host, used.port);
  const here = ({ host, database }: DatabaseUrl): boolean => host === used?.host && database === used.database;
  const apis = Object.entries(net.disks.sql).flatMap(([volume, { databases }]) =>
    Object.entries(databases).map(([name, { cells = {} }]) => ({
      own: volume === server?.volume && name === used?.database,
      cells: Object.values(cells).map(({ url, bus }) => ({ url: parseDatabaseUrl(url), bus })),
    })),
  );
  const mapped = apis.find(api => api.own || api.cells.some(({ url }) => url !== undefined && here(url)))?.cells;
  return (mapped ?? []).flatMap(({ url, bus }) => {
    const database = url && open(net, { ...url, trust: used?.trust });
    if (typeof database !== 'object') return [];
    const computes = net.started('compute').filter(({ vhost }) => vhost === bus);
    const rows = computes.map(({ host }) => [`nova-compute ${host}`, { binary: 'nova-compute', host, state: 'up' }]);
    return Object.values({ ...Object.fromEntries(rows), ...database.services });
  });
}

export function novaCheckCell(run: Run, net: Net): Outcome {
  const end = (): Exit => {
    const api = mappings(run, net);
    if (typeof api === 'string') return { exit: 1, message: api };
    const name = cellOf(run);
    const { hosts = [], servers = [] } = api.cells?.[name] ?? {};
    const strange = hosts.filter(host => !(run.env.OWN_HOSTS ?? '').split(' ').includes(host));
    if (strange.length > 0) return { exit: 2, message: `cell ${name} still has hosts: ${strange.join(' ')}` };
    if (servers.length > 0) return { exit: 3, message: `cell ${name} still has servers: ${servers.join(' ')}` };
    return { exit: 0 };
  };
  return { after: MAP, end };
}

export function novaDeleteCell(run: Run, net: Net): Outcome {
  const end = (): Exit => {
    const api = mappings(run, net);
    if (typeof api === 'string') return { exit: 1, message: api };
    const name = cellOf(run);
    delete api.cells?.[name];
    return { exit: 0 };
  };
  return { after: MAP, end };
}
