import type { Finding } from './finding.ts';

/** Who refuses an object that the operator or a controller of the cluster wants to make, and what can be done about it. */
export interface Refusal {
  /** Where the condition's own reason says less. */
  readonly reason?: string;
  readonly root: Finding['root'];
  readonly next: string;
  readonly command: string;
}

type Row = readonly [words: RegExp, refusal: (found: RegExpExecArray, namespace: string) => Refusal];

const within = (namespace: string): string => (namespace ? `kubectl -n ${namespace}` : 'kubectl');
const WEBHOOKS = 'validatingwebhookconfigurations,mutatingwebhookconfigurations';

/** The first that matches. The words are those of kube-apiserver and its admission plugins. */
const TABLE: readonly Row[] = [
  [
    /exceeded quota: ([\w.-]+)/,
    ([, name = ''], namespace) => ({
      root: { kind: 'ResourceQuota', namespace, name },
      next: 'raise the quota, or give something back',
      command: `${within(namespace)} describe resourcequota ${name}`,
    }),
  ],
  [
    /failed calling webhook "([^"]+)"(?:.*?https:\/\/([a-z0-9-]+)\.([a-z0-9-]+)\.svc)?/s,
    ([, name = '', service, where]) => ({
      reason: 'WebhookSilent',
      root: { kind: 'Webhook', namespace: '', name },
      next: `bring the server of webhook ${name} back; until then the API server takes nothing that it must be asked about`,
      command:
        service === undefined || where === undefined
          ? `kubectl get ${WEBHOOKS}`
          : `kubectl -n ${where} get pods,endpointslices   # of Service ${service}`,
    }),
  ],
  [
    /admission webhook "([^"]+)" denied the request/,
    ([, name = '']) => ({
      reason: 'WebhookDenied',
      root: { kind: 'Webhook', namespace: '', name },
      next: `meet the policy that webhook ${name} holds, or have this namespace exempted from it`,
      command: `kubectl get ${WEBHOOKS}   # which has webhook ${name}`,
    }),
  ],
  [
    /violates PodSecurity "([\w-]+)/,
    ([, level = ''], namespace) => ({
      reason: 'PodSecurity',
      root: { kind: 'Namespace', namespace: '', name: namespace },
      next: `set podProfile: restricted in the spec, or let namespace ${namespace} enforce less than ${level}`,
      command: `kubectl get namespace ${namespace} --show-labels`,
    }),
  ],
  [
    /(?:maximum|minimum) \S+ usage per (?:Container|Pod) is/,
    (_found, namespace) => ({
      reason: 'LimitRange',
      root: { kind: 'LimitRange', namespace, name: '' },
      next: 'set resources in the spec within the limits of the namespace, or change these',
      command: `${within(namespace)} describe limitrange`,
    }),
  ],
];

export function refusalOf(namespace: string, text: string): Refusal | undefined {
  for (const [words, refusal] of TABLE) {
    const found = words.exec(text);
    if (found) return refusal(found, namespace);
  }
  return undefined;
}
