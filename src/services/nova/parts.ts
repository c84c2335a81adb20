import { NovaAPI } from '../../../api/nova/api.ts';
import { NovaMetadata } from '../../../api/nova/metadata.ts';
import { NovaScheduler } from '../../../api/nova/scheduler.ts';
import { Secret, Service } from '../../kube/resource.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import { assertReady } from '../../runtime/plan/ready.ts';
import { type Row, rowsOf } from '../../runtime/plan/row.ts';
import { encoded } from '../encoded.ts';
import { hostAddress } from '../hosts.ts';
import { overTls } from '../tls/certificate.ts';
import { applyAgentSecrets } from './agents.ts';
import { METADATA_PORT } from './config.ts';
import { names } from './mapped.ts';
import { spareMetadata } from './metadata.ts';
import { input } from './registration.ts';
import { METADATA_KEY } from './secrets.ts';
import { apiSpec, globalMetadata, type Links, metadataSpec, type NovaObject, schedulerSpec } from './spec.ts';

/** The parts at the top, which start when the cells are mapped. */

type NovaCx = Cx<NovaObject>;
const row = rowsOf<NovaObject>();

interface Mapped extends Readonly<Record<string, Row<NovaObject, unknown>>> {
  /** Gives the links of cell0, which all parts at the top share. */
  readonly cellMappings: Row<NovaObject, Links>;
}

export const apiRow = (needs: Mapped) =>
  row('APIReady', {
    needs,
    manages: [NovaAPI],
    run: async (cx, { cellMappings }) => {
      const child = await cx.child(NovaAPI, `${cx.name}-api`, apiSpec(cx.spec, cellMappings));
      const { replicas, readyReplicas } = child.status ?? {};
      cx.report({ ...(replicas !== undefined && { replicas }), ...(readyReplicas !== undefined && { readyReplicas }) });
      assertReady(child);
    },
    undo: cx => cx.remove(NovaAPI, `${cx.name}-api`),
  });

export const schedulerRow = (needs: Mapped) =>
  row('SchedulerReady', {
    needs,
    manages: [NovaScheduler],
    run: (cx, { cellMappings }) =>
      cx.readyChild(NovaScheduler, `${cx.name}-scheduler`, schedulerSpec(cx.spec, cellMappings)),
    undo: cx => cx.remove(NovaScheduler, `${cx.name}-scheduler`),
  });

export const metadataRow = (needs: Mapped & { readonly input: typeof input }) =>
  row('MetadataReady', {
    needs,
    manages: [NovaMetadata, Secret],
    when: object => globalMetadata(object.spec),
    run: async (cx, { cellMappings, input: { shared } }) => {
      const wanted = metadataSpec(cx.spec, cellMappings);
      if (shared.spare !== undefined) {
        const metadataSecret = `${names(cx).metadata}-spare`;
        const data = encoded({ [METADATA_KEY]: shared.spare });
        await cx.apply(Secret, { metadata: { name: metadataSecret }, type: 'Opaque', data });
        const { expose: _hosts, ...inside } = wanted;
        await cx.child(NovaMetadata, spareMetadata(cx.name), { ...inside, metadataSecret });
      }
      await cx.readyChild(NovaMetadata, `${cx.name}-metadata`, wanted);
    },
    off: removeMetadata,
    undo: removeMetadata,
  });

async function removeMetadata(cx: NovaCx): Promise<void> {
  await cx.all([`${cx.name}-metadata`, spareMetadata(cx.name)].map(name => cx.remove(NovaMetadata, name)));
}

/** For the agents on all hosts, when one metadata service serves all cells. */
export const metadataConfig = row('MetadataConfigReady', {
  needs: { input },
  manages: [Secret],
  reads: [Service],
  when: object => globalMetadata(object.spec),
  run: async (cx, { input }) => {
    const { forAgents, secret } = input.shared;
    const service = `${cx.name}-metadata`;
    const address = hostAddress(cx, cx.spec.metadataServiceTemplate ?? {}, { service, port: METADATA_PORT });
    await applyAgentSecrets(cx, cx.name, {
      pods: { service: forAgents.spare ? spareMetadata(cx.name) : service, secret: forAgents.secret },
      // The second service has no address outside, and hosts do not restart for it.
      hosts: { service, secret, address },
      tls: overTls(cx.spec),
    });
  },
});
