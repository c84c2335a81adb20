/** A value as a service table writes it. A list becomes oslo's comma list; repeated keys (MultiStrOpt) are `multi(...)`. */
export type Value = string | number | boolean | readonly string[];

/** One `key = value` line per item: how oslo.config reads MultiStrOpt (`[pci] device_spec`, `alias`). */
export interface Multi {
  readonly multi: readonly (string | number | boolean)[];
}

/** Text whose `$name` oslo must resolve; everything else that we write has its `$` doubled. */
export interface Template {
  readonly template: string;
}

export type Setting = Value | Multi | Template;

/** undefined = absent, so that optional inputs need no spread. */
export type Section = Readonly<Record<string, Setting | undefined>>;
export type Sections = Readonly<Record<string, Section>>;

/** Lowest first: the order in which a later layer wins over an earlier one. */
export const layers = [
  'service-defaults',
  'release',
  'topology',
  'security',
  'controlplane',
  'service',
  'subservice',
  'node',
  'secret',
] as const;
export type Layer = (typeof layers)[number];

/** Who set an option. Lines and columns count from 1, inside that object's own field. */
export interface Source {
  readonly layer: Layer;
  /** 'Keystone openstack/keystone' */
  readonly object?: string;
  /** 'spec.customServiceConfig' */
  readonly field?: string;
  readonly line?: number;
  readonly column?: number;
}

export const multi = (...items: (string | number | boolean)[]): Multi => ({ multi: items });
export const template = (text: string): Template => ({ template: text });

export function isMulti(setting: Setting): setting is Multi {
  return typeof setting === 'object' && 'multi' in setting;
}

export function isTemplate(setting: Setting): setting is Template {
  return typeof setting === 'object' && 'template' in setting;
}

/**
 * How oslo.config compares group names (cfg.py, _normalize_group_name): without case, except that `[default]` is not
 * `[DEFAULT]`.
 */
export function groupId(section: string): string {
  return section === 'DEFAULT' ? section : section.toLowerCase();
}
