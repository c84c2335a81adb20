import type { SpecOf } from '../../../api/kind.ts';
import { Nova } from '../../../api/openstack/nova.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import type { ConfigFile } from '../config.ts';
import { servingSecret } from '../tls/certificate.ts';
import { CA_BUNDLE } from '../tls/trust.ts';

/** The one for all cells, else that of the first cell that has its own. */
export async function metadataFiles<O extends Managed>(
  cx: Cx<O>,
): Promise<{ readonly files: readonly ConfigFile[]; readonly ca?: string }> {
  for (const nova of cx.wishes(Nova)) {
    const { name } = nova.metadata;
    const cells = Object.keys((nova.spec as Partial<SpecOf<typeof Nova>>).cellTemplates ?? {}).sort();
    for (const owner of [name, ...cells.map(cell => `${name}-${cell}`)]) {
      const data = await cx.secretIfAny(`${owner}-metadata-compute-config`);
      if (data === undefined) continue;
      const at = (key: string): string => `/etc/neutron/neutron.conf.d/${key}`;
      const files = Object.entries(data).map(([key, text]) => ({ key, path: at(key), text }));
      const safe = files.some(file => file.text.includes(CA_BUNDLE));
      const ca = safe ? (await cx.secretIfAny(servingSecret(`${owner}-metadata`)))?.['ca.crt'] : undefined;
      return { files, ...(ca !== undefined && { ca }) };
    }
  }
  return { files: [] };
}
