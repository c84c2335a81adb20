import { NovaAPI } from '../../../api/nova/api.ts';
import { NovaConductor } from '../../../api/nova/conductor.ts';
import { NovaMetadata } from '../../../api/nova/metadata.ts';
import { NovaNoVNCProxy } from '../../../api/nova/novncproxy.ts';
import { NovaScheduler } from '../../../api/nova/scheduler.ts';
import type { AnyKind } from '../../../api/schema/kind.ts';
import { NetworkPolicy } from '../../kube/resource.ts';
import { rowsOf } from '../../runtime/plan/row.ts';
import { admit, isolated, open } from '../exposure/network.ts';
import { cellObject } from './cells.ts';
import { API_PORT, CONSOLE_PORT, METADATA_PORT } from './config.ts';
import { cellsOf, type NovaObject } from './spec.ts';

const row = rowsOf<NovaObject>();

/** For the pods of its parts, which do not know of each other. Names of parts tell whose they are, and other kinds may have them too. */
export const networkPolicy = row('NetworkPolicyReady', {
  manages: [NetworkPolicy],
  when: isolated,
  run: async cx => {
    const all = [cx.name, ...cellsOf(cx.spec).map(cell => cellObject(cx.name, cell.name))];
    const policy = ({ kind }: AnyKind, part: string, owners: readonly string[], ports: readonly number[]) =>
      admit(
        cx,
        `nova-${cx.name}-${part}`,
        owners.map(owner => `${owner}-${part}`),
        [open(ports)],
        kind,
      );
    await cx.all([
      policy(NovaAPI, 'api', [cx.name], [API_PORT]),
      policy(NovaMetadata, 'metadata', [...all, `${cx.name}-spare`], [METADATA_PORT]),
      policy(NovaNoVNCProxy, 'novncproxy', all.slice(1), [CONSOLE_PORT]),
      policy(NovaScheduler, 'scheduler', [cx.name], []),
      policy(NovaConductor, 'conductor', all.slice(1), []),
    ]);
  },
});
