import { text } from '../api/schema/helpers.ts';
import { kind, type ObjectOf } from '../api/schema/kind.ts';
import { ConfigMap, Deployment, Pod, Secret, Service, ServiceAccount } from '../src/kube/resource.ts';
import { type Plan, plan, rowsOf } from '../src/runtime/plan/row.ts';

/** A kind with five children and a finalizer: what the engine itself costs per object, without a cloud around it. */
export const Five = kind({
  in: { group: 'bench.openstack.org', version: 'v1alpha1' },
  kind: 'Five',
  plural: 'fives',
  shortNames: [],
  description: 'Five children, to count requests with.',
  spec: () => ({ color: text('Any text.').default('red') }),
});
type FiveObject = ObjectOf<typeof Five>;

const row = rowsOf<FiveObject>();
const labels = (name: string) => ({ 'app.kubernetes.io/instance': name });

const config = row('ConfigReady', {
  manages: [Secret, ConfigMap],
  run: async cx => {
    const data = { color: Buffer.from(cx.spec.color).toString('base64') };
    await cx.all([
      cx.apply(Secret, { metadata: { name: `${cx.name}-config` }, type: 'Opaque', data }),
      cx.apply(ConfigMap, { metadata: { name: `${cx.name}-scripts` }, data: { 'run.sh': 'true\n' } }),
    ]);
  },
});
const expose = row('ExposeReady', {
  manages: [ServiceAccount, Service],
  run: async cx => {
    await cx.all([
      cx.apply(ServiceAccount, { metadata: { name: cx.name } }),
      cx.apply(Service, {
        metadata: { name: cx.name },
        spec: { selector: labels(cx.name), ports: [{ name: 'api', port: 80, targetPort: 80, protocol: 'TCP' }] },
      }),
    ]);
  },
});
const workloads = row('WorkloadsReady', {
  needs: { config, expose },
  manages: [Deployment],
  reads: [Pod],
  run: async cx => {
    // No controller runs here: without replicas there is nothing to wait for.
    await cx.apply(Deployment, {
      metadata: { name: cx.name },
      spec: {
        replicas: 0,
        selector: { matchLabels: labels(cx.name) },
        template: {
          metadata: { labels: labels(cx.name) },
          spec: { containers: [{ name: 'main', image: 'example.org/one:1' }] },
        },
      },
    });
    cx.list(Pod, labels(cx.name));
  },
  undo: async () => undefined,
});

export const five = plan(Five, { config, expose, workloads }) as Plan<never>;
