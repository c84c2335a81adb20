import type { AnyObject } from '../../kube/object.ts';
import { Deployment, pathOf } from '../../kube/resource.ts';
import { OPERATOR_NAMESPACE } from '../../runtime/plan/names.ts';
import { settingsOf } from '../terminal/settings.ts';
import type { Snapshot } from './source.ts';

/** The version and the settings of the operator that runs, where it may be seen. */
export async function deployedOperator({
  transport,
}: Pick<Snapshot, 'transport'>): Promise<{ version: string; env: Record<string, string> } | undefined> {
  if (transport === undefined) return undefined;
  const answer = await transport.send({
    method: 'GET',
    path: pathOf(Deployment, OPERATOR_NAMESPACE, 'openstack-operator'),
  });
  if (answer.status !== 200) return undefined;
  type Container = { image?: string; args?: string[]; env?: { name: string; value?: string }[] };
  const spec = (answer.body as AnyObject).spec as { template?: { spec?: { containers?: Container[] } } };
  const container = spec.template?.spec?.containers?.[0];
  const env = Object.fromEntries(
    (container?.env ?? []).flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])),
  );
  return {
    version: container?.image?.split(':').at(-1) ?? 'unknown',
    env: { ...env, ...settingsOf(container?.args ?? []) },
  };
}
