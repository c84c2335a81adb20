import { KINDS } from '../../api/kinds.ts';
import { OPERATOR_NAMESPACE } from '../runtime/plan/names.ts';
import { type Installed, labels, labelsOf, meta, role } from './manifests.ts';
import { NAME } from './scope.ts';

/** The name of all that belongs to the webhook: Service, Secret, configuration, rights. */
export const WEBHOOK_NAME = `${NAME}-webhook`;
const PORT = 9443;
const PATH = '/validate';
/** A write waits no longer than that for an operator that is busy or away. */
const TIMEOUT_SECONDS = 5;

/** Kinds whose effective cell only a webhook can hold, because it is spread over two objects. */
const CELL_KINDS = ['OpenStackDataPlaneRole', 'OpenStackDataPlaneNode'];

type ClientConfig =
  | { readonly service: { readonly name: string; readonly namespace: string; readonly path: string } }
  | { readonly url: string };

const rule = (kinds: typeof KINDS, operations: readonly string[]) =>
  [...new Set(kinds.map(kind => kind.group))].map(group => {
    const mine = kinds.filter(kind => kind.group === group);
    return {
      apiGroups: [group],
      apiVersions: [...new Set(mine.map(kind => kind.version))],
      operations: [...operations],
      resources: mine.map(kind => kind.plural).sort(),
      scope: 'Namespaced',
    };
  });

/** Two webhooks at one address: that a host keeps its cell must not pass unseen, everything else may. */
export const webhookConfiguration = (
  clientConfig: ClientConfig = { service: { name: WEBHOOK_NAME, namespace: OPERATOR_NAMESPACE, path: PATH } },
  /** Objects of other namespaces are not sent to it; none: those of all are. */
  namespaces: readonly string[] = [],
): object => {
  const common = {
    clientConfig,
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
    timeoutSeconds: TIMEOUT_SECONDS,
    matchPolicy: 'Equivalent',
    ...(namespaces.length > 0 && {
      namespaceSelector: {
        matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'In', values: [...namespaces] }],
      },
    }),
  };
  const [cells, others] = [true, false].map(wanted => KINDS.filter(({ kind }) => CELL_KINDS.includes(kind) === wanted));
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: WEBHOOK_NAME, labels },
    webhooks: [
      {
        name: 'lint.openstack.k8s.io',
        failurePolicy: 'Ignore',
        rules: rule(others ?? [], ['CREATE', 'UPDATE']),
        ...common,
      },
      // A host that is new has no cell to leave.
      { name: 'cell.nova.openstack.org', failurePolicy: 'Fail', rules: rule(cells ?? [], ['UPDATE']), ...common },
    ],
  };
};

/** What it looks at beside the object, in the namespace of that. */
const NEIGHBOURS = [
  {
    apiGroups: ['dataplane.openstack.org'],
    resources: ['openstackdataplanenodes', 'openstackdataplaneroles'],
    verbs: ['list'],
  },
  { apiGroups: ['openstack.k8s.io'], resources: ['openstackcontrolplanes'], verbs: ['list'] },
];

/** What the overlay config/webhook adds to the operator: it works without. */
export const webhook = (
  { name, scope: { namespaces } }: Installed = { name: NAME, scope: { namespaces: [], kinds: [] } },
): object[] => [
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: meta(WEBHOOK_NAME, OPERATOR_NAMESPACE),
    spec: { selector: labelsOf(name), ports: [{ name: 'webhook', port: 443, targetPort: 'webhook', protocol: 'TCP' }] },
  },
  webhookConfiguration(undefined, namespaces),
  ...role(
    'Role',
    WEBHOOK_NAME,
    [
      // A name that does not exist yet can't be in a rule for create.
      { apiGroups: [''], resources: ['secrets'], verbs: ['create'] },
      { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'update'], resourceNames: [WEBHOOK_NAME] },
    ],
    OPERATOR_NAMESPACE,
    name,
  ),
  ...role(
    'ClusterRole',
    WEBHOOK_NAME,
    [
      {
        apiGroups: ['admissionregistration.k8s.io'],
        resources: ['validatingwebhookconfigurations'],
        verbs: ['get', 'patch'],
        resourceNames: [WEBHOOK_NAME],
      },
      ...(namespaces.length === 0 ? NEIGHBOURS : []),
    ],
    undefined,
    name,
  ),
  ...namespaces.flatMap(namespace => role('Role', WEBHOOK_NAME, NEIGHBOURS, namespace, name)),
];

export const webhookPatch = (name: string = NAME): object => ({
  target: { kind: 'Deployment', name },
  patch: JSON.stringify([
    { op: 'add', path: '/spec/template/spec/containers/0/args/-', value: `--webhook-port=${PORT}` },
    { op: 'add', path: '/spec/template/spec/containers/0/ports/-', value: { name: 'webhook', containerPort: PORT } },
  ]),
});
