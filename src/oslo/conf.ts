import { isMulti, type Layer, multi, type Section, type Sections, type Setting } from './model.ts';

/** What a service table generates, before users add theirs: the content of `01-<service>.conf`. */
export interface Conf {
  readonly service: string;
  /** Everything merged, ready for write(). */
  readonly sections: Sections;
  /** The same by layer, lowest first, for provenance. */
  readonly parts: readonly Part[];
}

export interface Part {
  readonly layer: Layer;
  readonly sections: Sections;
}

const isPart = (input: Sections | Part): input is Part => typeof input.layer === 'string';

/** Says which layer some sections belong to; plain sections given to conf() are the service's defaults. */
export const at = (layer: Layer, sections: Sections): Part => ({ layer, sections });

/** Later parts win; `multi(...)` values append, as they would if oslo read the parts from separate files. */
export function conf(service: string, ...inputs: (Sections | Part | undefined)[]): Conf {
  const parts = inputs
    .filter(input => input !== undefined)
    .map(input => (isPart(input) ? input : at('service-defaults', input)));
  return { service, sections: merge(...parts.map(part => part.sections)), parts };
}

function merge(...all: Sections[]): Sections {
  const merged: Record<string, Record<string, Setting>> = {};
  for (const sections of all) {
    for (const [name, section] of Object.entries(sections)) {
      merged[name] = mergeSection(merged[name] ?? {}, section);
    }
  }
  return merged;
}

function mergeSection(lower: Readonly<Record<string, Setting>>, upper: Section): Record<string, Setting> {
  const merged = { ...lower };
  for (const [key, setting] of Object.entries(upper)) {
    if (setting === undefined) continue;
    const below = merged[key];
    merged[key] =
      below !== undefined && isMulti(below) && isMulti(setting) ? multi(...below.multi, ...setting.multi) : setting;
  }
  return merged;
}

/** Keys of the config Secret (DESIGN.md 5). oslo reads a folder's files in sorted order, so the numbers are the layers. */
export const generatedKey = (service: string): string => `01-${service}.conf`;
export const overrideKey = (service: string): string => `02-${service}-override.conf`;
