import type { DeepReadonly } from '../../kube/object.ts';
import { MANAGED_LABEL } from '../../runtime/plan/names.ts';
import { type Live, namespaceOf, type View } from '../view/view.ts';

/** What stands between a client and a server that both are well: a NetworkPolicy of others, or a wrong address. */

interface Selector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly { key: string; operator: string; values?: readonly string[] }[];
}
type PolicySpec = DeepReadonly<{
  podSelector?: Selector;
  policyTypes?: string[];
  ingress?: { from?: unknown[]; ports?: unknown[] }[];
  egress?: { to?: unknown[]; ports?: unknown[] }[];
}>;

function matches({ matchLabels = {}, matchExpressions = [] }: Selector, pod: Live): boolean {
  const labels = pod.metadata.labels ?? {};
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      const [has, among] = [labels[key] !== undefined, values.includes(labels[key] ?? '')];
      return { In: has && among, NotIn: !has || !among, Exists: has, DoesNotExist: !has }[operator] ?? false;
    })
  );
}

const isForeign = (object: Live): boolean => object.metadata.labels?.[MANAGED_LABEL] !== 'true';
const isReady = (pod: Live): boolean =>
  (
    (pod.status as DeepReadonly<{ conditions?: { type: string; status: string }[] }> | undefined)?.conditions ?? []
  ).some(c => c.type === 'Ready' && c.status === 'True');

/**
 * A policy of others that limits who may reach the ready pods behind a Service which a text names, or whom the pod that
 * calls may reach. Whether it is this call that it shuts out is for a person to say: policies add up.
 */
export function policyBetween(view: View, object: Live, text: string, caller?: Live): Live | undefined {
  const namespace = namespaceOf(object);
  const services = [...text.matchAll(/\b([a-z0-9-]+)\.([a-z0-9-]+)\.svc\b/g)]
    .filter(found => found[2] === namespace)
    .flatMap(found => view.get('Service', namespace, found[1] ?? '') ?? []);
  const pods = view.ofKind('Pod').filter(pod => namespaceOf(pod) === namespace);
  const servers = services.flatMap(service => {
    const matchLabels = (service.spec as { selector?: Record<string, string> } | undefined)?.selector;
    return matchLabels === undefined ? [] : pods.filter(pod => isReady(pod) && matches({ matchLabels }, pod));
  });
  if (servers.length === 0) return undefined;
  return view
    .ofKind('NetworkPolicy')
    .filter(policy => namespaceOf(policy) === namespace && isForeign(policy))
    .find(policy => {
      const { podSelector = {}, policyTypes = ['Ingress'], ingress, egress } = (policy.spec ?? {}) as PolicySpec;
      const limits = (type: string, rules: PolicySpec['ingress'] | PolicySpec['egress']): boolean =>
        policyTypes.includes(type) && !rules?.some(rule => Object.keys(rule).length === 0);
      return (
        (limits('Ingress', ingress) && servers.some(pod => matches(podSelector, pod))) ||
        (limits('Egress', egress) && caller !== undefined && matches(podSelector, caller))
      );
    });
}

/** Which Secret of the user's holds a login, by the words of who uses it. */
const LOGINS: Readonly<Record<string, RegExp>> = {
  databaseSecret: /mysql|mariadb|\(1045,|\(2003,/i,
  apiDatabaseSecret: /mysql|mariadb|\(1045,|\(2003,/i,
  cellDatabaseSecret: /mysql|mariadb|\(1045,|\(2003,/i,
  messageBusSecret: /amqp|rabbit/i,
  keystoneSecret: /keystone|identity/i,
};

/** The login that the user gave and that a text is about, with the field that names it. */
export function givenLogin(view: View, object: Live, text: string): { field: string; secret: string } | undefined {
  const spec = (object.spec ?? {}) as Readonly<Record<string, unknown>>;
  for (const [field, words] of Object.entries(LOGINS)) {
    const secret = spec[field];
    if (typeof secret !== 'string' || !words.test(text)) continue;
    const found = view.get('Secret', namespaceOf(object), secret);
    // What a parent of ours packed for its parts is not the user's to mend.
    if (found === undefined || isForeign(found)) return { field: `spec.${field}`, secret };
  }
  return undefined;
}

/** Where the administrator's login of a server is kept. */
export function adminSecretOf(server: Live | undefined): string | undefined {
  if (server === undefined) return undefined;
  const spec = (server.spec ?? {}) as { external?: { adminSecret?: string }; secret?: string };
  const { adminSecret } = (server.status ?? {}) as { adminSecret?: string };
  const own = { MariaDB: 'root', RabbitMQ: 'admin', Keystone: 'admin' }[server.kind];
  return (
    spec.external?.adminSecret ?? adminSecret ?? spec.secret ?? (own ? `${server.metadata.name}-${own}` : undefined)
  );
}
