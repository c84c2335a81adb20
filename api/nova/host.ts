/** As which host the nova-compute in a pod reports, by the component of its set; undefined for pods of another program. */
export function computeHost(pod: {
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly spec?: unknown;
}): string | undefined {
  const { name, labels } = pod.metadata;
  const hosts: Readonly<Record<string, string | undefined>> = {
    compute: (pod.spec as { readonly nodeName?: string }).nodeName,
    // Its host name, which is not longer.
    fake: name.slice(0, 63),
    ironic: labels?.['app.kubernetes.io/instance'],
  };
  return hosts[labels?.['app.kubernetes.io/component'] ?? ''];
}
