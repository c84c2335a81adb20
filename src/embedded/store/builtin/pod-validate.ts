import { isObject, items, type Json } from '../common/json.ts';
import { labelErrors } from '../common/meta.ts';
import { parseQuantity } from '../common/quantity.ts';
import { duplicate, type FieldError, invalidValue, notFoundValue, notSupported, required } from '../common/status.ts';

/** pkg/apis/core/validation, for what our pods could get wrong. */
export function podSpecErrors(spec: Json, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const volumes = new Set<unknown>();
  items(spec.volumes).forEach((volume, i) => {
    errors.push(...volumeErrors(volume, `${path}.volumes[${i}]`));
    if (volumes.has(volume.name)) errors.push(duplicate(`${path}.volumes[${i}].name`, volume.name));
    else if (!errors.some(e => e.field.startsWith(`${path}.volumes[${i}]`))) volumes.add(volume.name);
  });
  const names = new Set<unknown>();
  if (items(spec.containers).length === 0) errors.push(required(`${path}.containers`));
  for (const key of ['containers', 'initContainers']) {
    items(spec[key]).forEach((container, i) => {
      const at = `${path}.${key}[${i}]`;
      errors.push(...containerErrors(container, at, volumes));
      if (names.has(container.name)) errors.push(duplicate(`${at}.name`, container.name));
      names.add(container.name);
    });
  }
  errors.push(...oneOf(spec, 'restartPolicy', ['Always', 'OnFailure', 'Never'], path));
  errors.push(...oneOf(spec, 'dnsPolicy', ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'], path));
  return errors;
}

export function oneOf(object: Json, key: string, values: readonly string[], path: string): FieldError[] {
  const value = object[key];
  if (value === undefined || values.includes(String(value))) return [];
  return [notSupported(path === '' ? key : `${path}.${key}`, value, values)];
}

function nameErrors(name: unknown, path: string): FieldError[] {
  if (typeof name !== 'string' || name === '') return [required(path)];
  return labelErrors(name).map(e => invalidValue(path, name, e));
}

function volumeErrors(volume: Json, path: string): FieldError[] {
  const errors = nameErrors(volume.name, `${path}.name`);
  const need = (source: string, key: string) => {
    const value = volume[source];
    if (isObject(value) && !value[key]) errors.push(required(`${path}.${source}.${key}`));
  };
  need('secret', 'secretName');
  need('configMap', 'name');
  need('persistentVolumeClaim', 'claimName');
  need('hostPath', 'path');
  if (Object.keys(volume).filter(k => k !== 'name').length > 1)
    errors.push(required(path, 'must specify a volume type'));
  return errors;
}

function containerErrors(container: Json, path: string, volumes: ReadonlySet<unknown>): FieldError[] {
  const errors = nameErrors(container.name, `${path}.name`);
  if (!container.image) errors.push(required(`${path}.image`));
  errors.push(...oneOf(container, 'imagePullPolicy', ['Always', 'IfNotPresent', 'Never'], path));
  errors.push(...oneOf(container, 'terminationMessagePolicy', ['File', 'FallbackToLogsOnError'], path));
  items(container.ports).forEach((port, i) => {
    errors.push(...portErrors(port.containerPort, `${path}.ports[${i}].containerPort`, true));
    if (port.hostPort !== undefined) errors.push(...portErrors(port.hostPort, `${path}.ports[${i}].hostPort`));
    errors.push(...oneOf(port, 'protocol', ['SCTP', 'TCP', 'UDP'], `${path}.ports[${i}]`));
  });
  items(container.env).forEach((env, i) => {
    if (!env.name) errors.push(required(`${path}.env[${i}].name`));
    if (env.value !== undefined && env.value !== '' && isObject(env.valueFrom)) {
      errors.push(invalidValue(`${path}.env[${i}].valueFrom`, '', 'may not be specified when `value` is not empty'));
    }
  });
  const mounts = new Set<unknown>();
  items(container.volumeMounts).forEach((mount, i) => {
    const at = `${path}.volumeMounts[${i}]`;
    if (!mount.name) errors.push(required(`${at}.name`));
    else if (!volumes.has(mount.name)) errors.push(notFoundValue(`${at}.name`, mount.name));
    if (!mount.mountPath) errors.push(required(`${at}.mountPath`));
    else if (mounts.has(mount.mountPath))
      errors.push(invalidValue(`${at}.mountPath`, mount.mountPath, 'must be unique'));
    mounts.add(mount.mountPath);
  });
  for (const key of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
    const probe = container[key];
    if (!isObject(probe)) continue;
    const handlers = ['exec', 'httpGet', 'tcpSocket', 'grpc'].filter(h => isObject(probe[h]));
    if (handlers.length === 0) errors.push(required(`${path}.${key}`, 'must specify a handler type'));
  }
  return [...errors, ...resourceErrors((container.resources ?? {}) as Json, `${path}.resources`)];
}

export function portErrors(port: unknown, path: string, needed = false): FieldError[] {
  if (needed && (port === 0 || port === undefined)) return [required(path)];
  if (typeof port !== 'number' || (port >= 1 && port <= 65535)) return [];
  return [invalidValue(path, port, 'must be between 1 and 65535, inclusive')];
}

function resourceErrors(resources: Json, path: string): FieldError[] {
  const { requests, limits } = resources as { requests?: Record<string, string>; limits?: Record<string, string> };
  return Object.entries(requests ?? {}).flatMap(([name, request]) => {
    const limit = limits?.[name];
    if (limit === undefined || parseQuantity(request).milli <= parseQuantity(limit).milli) return [];
    return [invalidValue(`${path}.requests`, request, `must be less than or equal to ${name} limit of ${limit}`)];
  });
}
