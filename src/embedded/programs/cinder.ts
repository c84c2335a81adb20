import { lookup, parse } from '../../oslo/parse.ts';
import { commandOf, type Outcome, type Run } from '../controllers/program.ts';
import type { Database, Net } from '../servers/state.ts';
import { cephRefuses } from './ceph.ts';

/** What Cinder's processes and its API do to its database, as far as the operator looks. */

/** The value of an option as the last of the mounted files gives it. */
function optionIn(run: Run, section: string, key: string): string | undefined {
  const texts = [...run.files('/')].filter(file => file.endsWith('.conf')).sort();
  return texts
    .flatMap(file => {
      const parsed = parse(run.file(`/${file}`) ?? '');
      const found = 'ok' in parsed ? lookup(parsed.ok, section, key) : undefined;
      return found ? [found.value] : [];
    })
    .at(-1);
}

/**
 * Each writes its row at its start; a volume process is known by host and backend. A driver that Ceph refuses is not tried
 * again: its process runs on and does not report.
 */
export function cinderReports(run: Run, database: Database | string, net: Net): Outcome {
  const binary = /\bcinder-(scheduler|volume|backup)\b/.exec(commandOf(run))?.[0] ?? 'cinder-volume';
  const backend = binary === 'cinder-volume' ? optionIn(run, 'DEFAULT', 'enabled_backends') : undefined;
  const own = backend && optionIn(run, backend, 'backend_host');
  const host = backend ? `${own ?? run.pod.metadata.name}@${backend}` : run.pod.metadata.name;
  const state = cephRefuses(run, net) ? 'down' : 'up';
  if (typeof database !== 'string' && database.schemas.includes('cinder'))
    database.services = { ...database.services, [`${binary} ${host}`]: { binary, host, state } };
  return { serves: true, readyAfter: 5_000 };
}

/** GET /types: the id of a type is its name here. */
export const volumeTypes = ({ volumeTypes = {} }: Database): object[] =>
  Object.entries(volumeTypes).map(([name, extra_specs]) => ({ id: name, name, extra_specs }));

/** POST /types, and POST /types/<id>/extra_specs. */
export function postVolumeType(database: Database, path: string, body: unknown): void {
  const { volume_type: made, extra_specs: specs } = body as {
    volume_type?: { name: string; extra_specs?: Record<string, string> };
    extra_specs?: Record<string, string>;
  };
  const name = made?.name ?? path.split('/')[2] ?? '';
  const before = database.volumeTypes?.[name];
  database.volumeTypes = { ...database.volumeTypes, [name]: { ...before, ...made?.extra_specs, ...specs } };
}
