import type { AnyKind } from '../../api/schema/kind.ts';
import { specLeaves } from '../../api/schema/planned.ts';
import type { AnyObject, DeepReadonly } from '../../src/kube/object.ts';

/** Where pods run and what they carry, nothing of it left to its default: a value for every field that rule 26 asks for. */
export const everyPodField = {
  resources: { requests: { cpu: '100m' }, limits: { memory: '1Gi' } },
  nodeSelector: { 'kubernetes.io/os': 'linux' },
  tolerations: [{ key: 'a', operator: 'Exists' }],
  topologySpread: [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway' }],
  priorityClassName: 'system-cluster-critical',
  image: 'example.org/one:1',
  extraMounts: [{ name: 'extra', mountPath: '/extra', emptyDir: {} }],
  override: { podTemplate: { metadata: { annotations: { a: 'b' } } } },
};

/** Where images come from. */
export const everyImageField = {
  images: { other: 'example.org/two:1' },
  imageRegistry: 'registry.example.org/mirror',
  imagePullSecrets: [{ name: 'pull' }],
};

/** Writes down which fields of spec the rows look at, by kind: `external.hostname`, `tolerations.0.key`. */
export class Lens {
  readonly #reads = new Map<string, Set<string>>();

  readonly look = <T extends DeepReadonly<AnyObject>>(object: T): T => {
    const reads = this.#reads.get(object.kind) ?? new Set<string>();
    this.#reads.set(object.kind, reads);
    // A copy: a proxy may not hand out anything but the field itself of a frozen object.
    return { ...object, spec: watched(structuredClone(object.spec ?? {}) as object, '', reads) };
  };

  /** Leaves of the kind's schema that somebody read, or something below them. */
  read(kind: AnyKind): ReadonlySet<string> {
    const reads = [...(this.#reads.get(kind.kind) ?? [])];
    return new Set(
      specLeaves(kind).filter(leaf => {
        const pattern = leaf
          .replaceAll('.*', '\u0000')
          .replaceAll('.', '\\.')
          .replaceAll('[]', '\\.\\d+')
          .replaceAll('\u0000', '\\.[^.]+');
        const path = new RegExp(`^${pattern}(\\.|$)`);
        return reads.some(read => path.test(read));
      }),
    );
  }
}

function watched<T extends object>(value: T, prefix: string, reads: Set<string>): T {
  return new Proxy(value, {
    get(target, key) {
      const field: unknown = Reflect.get(target, key);
      if (typeof key === 'symbol' || (Array.isArray(target) && !/^\d+$/.test(key))) return field;
      const path = prefix === '' ? key : `${prefix}.${key}`;
      reads.add(path);
      return typeof field === 'object' && field !== null ? watched(field, path, reads) : field;
    },
  });
}
