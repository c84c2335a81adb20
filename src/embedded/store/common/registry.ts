import type { AnyObject } from '../../../kube/object.ts';
import { isObject, type Json } from './json.ts';
import { builtins, type CustomVersion, type Served } from './resources.ts';

/** Which resources are served: the built-in ones, and those of established CustomResourceDefinitions. */
export class Registry {
  readonly #byPath = new Map<string, Served>();
  /** How many resources each group has: every request checks whether its group exists. */
  readonly #groups = new Map<string, number>();
  readonly #custom = new Map<string, Served[]>();

  constructor() {
    for (const r of builtins) this.#set(r);
  }

  find(group: string, version: string, plural: string): Served | undefined {
    return this.#byPath.get(pathKey(group, version, plural));
  }

  all(): Served[] {
    return [...this.#byPath.values()];
  }

  hasGroup(group: string): boolean {
    return (this.#groups.get(group) ?? 0) > 0;
  }

  isCustomGroup(group: string): boolean {
    return !BUILT_IN.has(group);
  }

  /** Called on every write of a CustomResourceDefinition, and when one is loaded. */
  serve(crd: AnyObject): void {
    this.forget(crd.metadata.name);
    const served = versionsOf(crd);
    this.#custom.set(crd.metadata.name, served);
    for (const r of served) this.#set(r);
  }

  forget(name: string): void {
    for (const r of this.#custom.get(name) ?? [])
      if (this.#byPath.delete(pathKey(r.group, r.version, r.plural)))
        this.#groups.set(r.group, this.#groups.get(r.group)! - 1);
    this.#custom.delete(name);
  }

  #set(r: Served): void {
    const key = pathKey(r.group, r.version, r.plural);
    if (!this.#byPath.has(key)) this.#groups.set(r.group, (this.#groups.get(r.group) ?? 0) + 1);
    this.#byPath.set(key, r);
  }
}

const BUILT_IN: ReadonlySet<string> = new Set(builtins.map(r => r.group));

const pathKey = (group: string, version: string, plural: string) => `${group}/${version}/${plural}`;

function versionsOf(crd: AnyObject): Served[] {
  const spec = crd.spec as Json & { group: string; scope: string; names: Record<string, unknown>; versions: Json[] };
  const names = spec.names as {
    kind: string;
    plural: string;
    singular?: string;
    shortNames?: string[];
    categories?: string[];
    listKind?: string;
  };
  return spec.versions
    .filter(v => v.served === true)
    .map(v => {
      const sub = isObject(v.subresources) ? v.subresources : {};
      return {
        group: spec.group,
        version: v.name as string,
        kind: names.kind,
        plural: names.plural,
        singular: names.singular ?? names.kind.toLowerCase(),
        listKind: names.listKind ?? `${names.kind}List`,
        namespaced: spec.scope === 'Namespaced',
        shortNames: names.shortNames ?? [],
        categories: names.categories ?? [],
        subresources: [...(sub.status ? (['status'] as const) : []), ...(sub.scale ? (['scale'] as const) : [])],
        storage: crd.metadata.name,
        is: { custom: customVersion(v, sub, spec.preserveUnknownFields === true) },
      };
    });
}

function customVersion(version: Json, sub: Json, preserveUnknown: boolean): CustomVersion {
  const schema = isObject(version.schema) ? version.schema.openAPIV3Schema : undefined;
  const fields = Array.isArray(version.selectableFields) ? (version.selectableFields as { jsonPath: string }[]) : [];
  return {
    name: version.name as string,
    schema: isObject(schema) ? schema : {},
    preserveUnknown,
    ...(sub.scale ? { scale: sub.scale as CustomVersion['scale'] & object } : {}),
    columns: (version.additionalPrinterColumns as CustomVersion['columns'] | undefined) ?? [],
    selectable: fields.map(f => f.jsonPath.replace(/^\./, '')),
  };
}
