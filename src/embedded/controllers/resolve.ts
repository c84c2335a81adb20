import { isIP } from 'node:net';
import type { KubeObject } from '../../kube/object.ts';
import { Pod, Service } from '../../kube/resource.ts';
import { isActive, isReady, matches, type PodObject } from './objects.ts';
import type { View } from './view.ts';

interface ServiceObject extends KubeObject {
  spec?: {
    clusterIP?: string;
    type?: string;
    externalName?: string;
    publishNotReadyAddresses?: boolean;
    selector?: Record<string, string>;
    ports?: { port: number }[];
  };
}

/** The pods that would get a connection to this host and port. */
export function resolve(view: View, host: string, port: number): readonly PodObject[] {
  if (isIP(host)) {
    const service = view.list<ServiceObject>(Service).find(s => s.spec?.clusterIP === host);
    if (service) return behind(view, service, port);
    return view.list<PodObject>(Pod).filter(p => p.status?.podIP === host && isActive(p) && isReady(p));
  }
  const labels = host
    .replace(/\.$/, '')
    .replace(/\.cluster\.local$/, '')
    .replace(/\.svc$/, '')
    .split('.');
  if (labels.length === 2) {
    const service = view.get<ServiceObject>(Service, labels[1]!, labels[0]!);
    return service ? behind(view, service, port) : [];
  }
  if (labels.length !== 3) return [];
  const [hostname, subdomain, namespace] = labels as [string, string, string];
  const service = view.get<ServiceObject>(Service, namespace, subdomain);
  if (service?.spec?.clusterIP !== 'None') return [];
  return behind(view, service, port).filter(
    p => (p.spec.hostname ?? '') === hostname && p.spec.subdomain === subdomain,
  );
}

function behind(view: View, service: ServiceObject, port: number): readonly PodObject[] {
  const { spec } = service;
  if (spec?.type === 'ExternalName') return resolve(view, spec.externalName ?? '', port);
  // A headless name leads straight to the pods, whatever ports the Service lists.
  if (spec?.clusterIP !== 'None' && !spec?.ports?.some(p => p.port === port)) return [];
  if (spec?.selector === undefined) return [];
  return view
    .list<PodObject>(Pod, service.metadata.namespace)
    .filter(p => matches(p.metadata.labels, spec.selector) && isActive(p))
    .filter(p => spec.publishNotReadyAddresses || isReady(p));
}
