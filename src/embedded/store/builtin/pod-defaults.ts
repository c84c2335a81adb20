import { child, isObject, items, type Json, orElse } from '../common/json.ts';

/** pkg/apis/core/v1/defaults.go, for the parts of a PodSpec that reach our pods. */
export function defaultPodSpec(spec: Json): void {
  orElse(spec, 'restartPolicy', 'Always');
  orElse(spec, 'terminationGracePeriodSeconds', 30);
  orElse(spec, 'dnsPolicy', 'ClusterFirst');
  orElse(spec, 'schedulerName', 'default-scheduler');
  orElse(spec, 'securityContext', {});
  // The old name of the field is written beside the new one.
  if (spec.serviceAccountName || spec.serviceAccount) {
    orElse(spec, 'serviceAccountName', spec.serviceAccount);
    spec.serviceAccount = spec.serviceAccountName;
  }
  for (const container of [
    ...items(spec.containers),
    ...items(spec.initContainers),
    ...items(spec.ephemeralContainers),
  ]) {
    defaultContainer(container, spec.hostNetwork === true);
  }
  items(spec.volumes).forEach(defaultVolume);
}

function defaultContainer(container: Json, hostNetwork: boolean): void {
  orElse(container, 'terminationMessagePath', '/dev/termination-log');
  orElse(container, 'terminationMessagePolicy', 'File');
  orElse(container, 'imagePullPolicy', pullPolicy(String(container.image ?? '')));
  orElse(container, 'resources', {});
  for (const port of items(container.ports)) {
    orElse(port, 'protocol', 'TCP');
    if (hostNetwork) orElse(port, 'hostPort', port.containerPort);
  }
  for (const key of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
    const probe = container[key];
    if (!isObject(probe)) continue;
    for (const [field, value] of Object.entries({
      timeoutSeconds: 1,
      periodSeconds: 10,
      successThreshold: 1,
      failureThreshold: 3,
    })) {
      orElse(probe, field, value);
    }
    if (isObject(probe.grpc)) orElse(probe.grpc, 'service', '');
    defaultHttpGet(probe);
  }
  const lifecycle = container.lifecycle;
  if (isObject(lifecycle))
    for (const hook of [lifecycle.postStart, lifecycle.preStop]) if (isObject(hook)) defaultHttpGet(hook);
  for (const env of items(container.env)) {
    const from = env.valueFrom;
    if (isObject(from) && isObject(from.fieldRef)) orElse(from.fieldRef, 'apiVersion', 'v1');
    // A quantity left out is zero.
    if (isObject(from) && isObject(from.resourceFieldRef)) orElse(from.resourceFieldRef, 'divisor', '0');
  }
}

function pullPolicy(image: string): string {
  const last = image.slice(image.lastIndexOf('/') + 1);
  if (last.includes('@')) return 'IfNotPresent';
  const tag = last.includes(':') ? last.slice(last.indexOf(':') + 1) : 'latest';
  return tag === 'latest' ? 'Always' : 'IfNotPresent';
}

function defaultHttpGet(handler: Json): void {
  if (!isObject(handler.httpGet)) return;
  orElse(handler.httpGet, 'path', '/');
  orElse(handler.httpGet, 'scheme', 'HTTP');
}

function defaultVolume(volume: Json): void {
  const sources = Object.keys(volume).filter(k => k !== 'name');
  if (sources.length === 0) volume.emptyDir = {};
  for (const key of ['secret', 'configMap', 'downwardAPI', 'projected']) {
    if (isObject(volume[key])) orElse(volume[key], 'defaultMode', 0o644);
  }
  if (isObject(volume.hostPath)) orElse(volume.hostPath, 'type', '');
  if (isObject(volume.downwardAPI)) items(volume.downwardAPI.items).forEach(defaultDownward);
  if (isObject(volume.ephemeral) && isObject(volume.ephemeral.volumeClaimTemplate)) {
    orElse(child(volume.ephemeral.volumeClaimTemplate, 'spec'), 'volumeMode', 'Filesystem');
  }
  if (isObject(volume.projected)) {
    for (const source of items(volume.projected.sources)) {
      if (isObject(source.serviceAccountToken)) orElse(source.serviceAccountToken, 'expirationSeconds', 3600);
      if (isObject(source.downwardAPI)) items(source.downwardAPI.items).forEach(defaultDownward);
    }
  }
}

function defaultDownward(item: Json): void {
  if (isObject(item.fieldRef)) orElse(item.fieldRef, 'apiVersion', 'v1');
  if (isObject(item.resourceFieldRef)) orElse(item.resourceFieldRef, 'divisor', '0');
}

/** Requests that nobody set are the limits; only a Pod does this, a template does not. */
export function defaultPod(pod: Json): void {
  const spec = child(pod, 'spec');
  defaultPodSpec(spec);
  orElse(spec, 'enableServiceLinks', true);
  for (const container of [...items(spec.containers), ...items(spec.initContainers)]) {
    const resources = container.resources as Json;
    if (!isObject(resources.limits)) continue;
    const requests = child(resources, 'requests');
    for (const [name, value] of Object.entries(resources.limits)) orElse(requests, name, value);
  }
}
