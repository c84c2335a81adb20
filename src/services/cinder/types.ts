import { stranger } from '../../cloud/faults.ts';
import type { Identity } from '../../cloud/ports.ts';

interface VolumeType {
  readonly id?: unknown;
  readonly name?: unknown;
  readonly extra_specs?: Readonly<Record<string, unknown>>;
}

/**
 * A volume type per backend, of its name, that leads there. Types of other names are the user's, and so is everything
 * of ours that does not lead: its description, its quotas, more extra specs.
 */
export async function ensureTypes(cinder: Identity, url: string, backends: readonly string[]): Promise<void> {
  const { volume_types: types } = ((await cinder.get(url, '/types?is_public=None')) ?? {}) as {
    volume_types?: readonly VolumeType[];
  };
  // Without the list every type would look as if it were not there.
  if (!Array.isArray(types)) throw stranger('The service', new URL(url).host, 'GET /types');
  for (const name of backends) {
    const extra_specs = { volume_backend_name: name };
    const found = types.find((type: VolumeType) => type.name === name);
    if (found === undefined) await cinder.post(url, '/types', { volume_type: { name, extra_specs } });
    else if (found.extra_specs?.volume_backend_name !== name)
      await cinder.post(url, `/types/${String(found.id)}/extra_specs`, { extra_specs });
  }
}
