import type { Cinder } from '../../../api/openstack/cinder.ts';
import type { ObjectOf, SpecOf } from '../../../api/schema/kind.ts';
import { Pod, PodDisruptionBudget, ReplicaSet, Secret, StatefulSet } from '../../kube/resource.ts';
import { type Row, rowsOf } from '../../runtime/plan/row.ts';
import { wait } from '../../runtime/plan/unmet.ts';
import { configSecret, overwrittenFiles, overwrittenStart, START, userFiles } from '../config/config.ts';
import { endpointsOf } from '../exposure/expose.ts';
import { workloadName } from '../names.ts';
import { kollaStart, withoutKolla } from '../pods/pod.ts';
import { expectedOf, silent } from '../pods/reported.ts';
import { processOf, runWorkload } from '../pods/workload.ts';
import type { Configured } from '../standard/config.ts';
import type { Credentials } from '../standard/credentials.ts';
import { trusting } from '../tls/trust.ts';
import { BACKENDS, componentOf, serviceHostOf } from './backends.ts';
import { type CinderInput, OVERWRITES, OWNER, PORT } from './config.ts';
import { ensureTypes } from './types.ts';

type Object = ObjectOf<typeof Cinder>;
type CinderConfigured = Configured<SpecOf<typeof Cinder>, CinderInput>;
const row = rowsOf<Object>();

const url = (cx: Parameters<typeof endpointsOf>[0]): string => `${endpointsOf(cx, 'api', PORT).internal}/v3`;

/** What rows need that ask Cinder itself. */
interface Asking extends Readonly<Record<string, Row<Object, unknown>>> {
  readonly answering: Row<Object, unknown>;
  readonly credentials: Row<Object, Credentials | undefined>;
  readonly config: Row<Object, CinderConfigured>;
}

/** Each on its own: a backend that is away takes no other with it, nor the API. */
export const backendsRow = (
  needs: { readonly config: Row<Object, CinderConfigured> } & Readonly<
    Record<'databaseSync' | 'messageBus' | 'identity', Row<Object, unknown>>
  >,
) =>
  row.each('BackendsReady', {
    needs,
    manages: [Secret, StatefulSet, PodDisruptionBudget],
    reads: [Pod, ReplicaSet],
    over: object => object.spec.backends ?? [],
    status: 'backends',
    run: async (cx, backend, { config }) => {
      const component = componentOf(backend.name);
      const { workload, files: own } = await BACKENDS[backend.type](cx, backend);
      const process = processOf(cx, OWNER, component, workload, config.mounts);
      const users = await userFiles(cx, OWNER.name, workload.template);
      const { template } = workload;
      const replaced = overwrittenFiles(cx, OWNER.name, [...OVERWRITES, START], template);
      const start = overwrittenStart(cx, { template, main: false, without: withoutKolla(cx.spec.podProfile) });
      const files = [...config.base, ...users, ...replaced, ...own];
      const made = await configSecret(
        cx,
        [...files, kollaStart(process, files, start)],
        workloadName(cx.name, component),
      );
      await runWorkload(cx, { component, workload, process, config: made, peers: config.peers });
    },
  });

/** A driver that can't reach its storage leaves its process running, and says nothing. */
export const servicesRow = (needs: Asking & { readonly backends: Row<Object, unknown> }) =>
  row('ServicesReady', {
    needs,
    run: async (cx, { credentials, config }) => {
      const identity = credentials?.identity;
      if (identity === undefined) return;
      const replicas = cx.spec.schedulerServiceTemplate?.replicas ?? cx.spec.replicas;
      const volumes = (cx.spec.backends ?? []).map(({ name }) => ({
        binary: 'cinder-volume',
        host: serviceHostOf(cx.name, name),
        pod: `${workloadName(cx.name, componentOf(name))}-0`,
      }));
      const { backup } = cx.spec;
      const backups = backup?.enabled ? (backup.replicas ?? cx.spec.replicas) : 0;
      const expected = [
        ...expectedOf('cinder-scheduler', workloadName(cx.name, 'scheduler'), replicas),
        ...volumes,
        ...expectedOf('cinder-backup', workloadName(cx.name, 'backup'), backups),
      ];
      const [first] = silent(
        expected,
        await cx.cloud.identity(trusting(identity, config.trusted)).get(url(cx), '/os-services'),
      );
      if (first)
        throw wait({
          reason: 'ServiceSilent',
          pod: first.pod ?? first.host,
          what: `${first.binary} ${first.host} in pod ${first.pod ?? first.host} does not report that it is up`,
          who: 'User',
          next: 'read the log of the pod, its storage may not answer or refuse it; delete the pod when the storage is back',
          // It reports every 10 s, and no watch shows it.
          after: 10_000,
        });
    },
  });

/** Users choose a backend by its type. */
export const volumeTypesRow = (needs: Asking) =>
  row('VolumeTypesReady', {
    needs,
    run: async (cx, { credentials, config }) => {
      if (credentials?.identity)
        await ensureTypes(
          cx.cloud.identity(trusting(credentials.identity, config.trusted)),
          url(cx),
          (cx.spec.backends ?? []).map(backend => backend.name),
        );
    },
  });
