import { NovaConductor } from '../../../api/nova/conductor.ts';
import { NovaScheduler } from '../../../api/nova/scheduler.ts';
import { Nova } from '../../../api/openstack/nova.ts';
import { Pod } from '../../kube/resource.ts';
import { isReady } from '../../runtime/plan/ready.ts';
import { type Row, rowsOf } from '../../runtime/plan/row.ts';
import { wait } from '../../runtime/plan/unmet.ts';
import { type Exposed, ingressUrl } from '../exposure/ingress.ts';
import { mountedBy, USERS } from '../links/credentials.ts';
import { identityAdmin } from '../links/identity.ts';
import { type Place, serviceHost } from '../names.ts';
import { expectedOf, silent } from '../pods/reported.ts';
import { endpointsRow } from '../standard/endpoints.ts';
import { schemeOf } from '../tls/certificate.ts';
import { trusting } from '../tls/trust.ts';
import { cellObject, computesOf } from './cells.ts';
import { API_PORT } from './config.ts';
import { leaving, names, outdated, remembers } from './mapped.ts';
import { credentials, identity, trust } from './registration.ts';
import type { NovaObject } from './spec.ts';

/** Where Nova is reached, and whether all that should report to it does. */

const row = rowsOf<NovaObject>();

const apiUrl = (cx: Place & { readonly spec: unknown }): string =>
  `${schemeOf(cx.spec)}://${serviceHost(cx, `${cx.name}-api`)}:${API_PORT}/v2.1`;

export const endpoints = endpointsRow<NovaObject, { readonly identity: typeof identity }>(
  { identity },
  {
    kind: Nova,
    admin: identityAdmin,
    types: ['compute'],
    entries: cx => {
      const internal = apiUrl(cx);
      const open = ingressUrl(cx.spec as Exposed);
      const endpoints = { internal, public: cx.spec.publicURL ?? (open ? `${open}/v2.1` : internal) };
      cx.report({ endpoints });
      return [{ name: cx.name, type: 'compute', ...endpoints }];
    },
  },
);

/** Conductors and computes can run and hear nothing, and their pods know no better (lab.md 5, trap 2): the database does. */
export const answeringRow = (needs: {
  readonly api: Row<NovaObject, unknown>;
  readonly scheduler: Row<NovaObject, unknown>;
  readonly cells: Row<NovaObject, ReadonlyMap<string, unknown>>;
}) =>
  row('Answering', {
    needs: { ...needs, credentials, trust },
    reads: [...USERS, Pod, NovaConductor],
    run: async (cx, { cells, credentials, trust }) => {
      const known = (await cx.secretIfAny(names(cx).mappings)) ?? {};
      if (leaving(cx, known).length > 0 || mountedBy(cx, outdated(known), object => !remembers(cx, object)))
        throw wait({
          reason: 'CellsNotMapped',
          what: 'Pods remember other cells than spec.cellTemplates names',
          who: 'Operator',
          next: 'start them again when these are mapped, and others are not',
        });
      const { replicas = 0 } = cx.get(NovaScheduler, `${cx.name}-scheduler`)?.spec ?? {};
      const conductors = [...cells.keys()].flatMap(cell => {
        const name = `${cellObject(cx.name, cell)}-conductor`;
        const found = cx.get(NovaConductor, name);
        // One that is not Ready is told of by its cell.
        const settled = found && isReady(found);
        return settled ? expectedOf('nova-conductor', name, found.spec.replicas) : [];
      });
      const computes = [...cells.keys()].flatMap(cell => computesOf(cx, cell));
      const expected = [...expectedOf('nova-scheduler', `${cx.name}-scheduler`, replicas), ...conductors, ...computes];
      const answer = await cx.cloud.identity(trusting(credentials.identity, trust)).get(apiUrl(cx), '/os-services');
      const [first] = silent(expected, answer);
      if (first)
        throw wait({
          reason: 'ServiceSilent',
          pod: first.pod ?? first.host,
          what: `${first.binary} in pod ${first.pod ?? first.host} does not report as ${first.host}`,
          who: 'Operator',
          next: 'look again',
          // No watch shows it. The first report comes seconds after the start, so a new host is not waited for long.
          after: 5_000,
        });
    },
  });
