import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SECTIONS } from '../../controlplane/sections.ts';

/*
 * A new OpenStack service is one folder of about 150 lines, and no other file changes except the list that names it
 * (ARCHITECTURE.md, "Where to add a service"). Nothing keeps that but this test.
 */

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map(name => join(folder, name));
const lines = (path: string): number => readFileSync(path, 'utf8').split('\n').length - 1;

describe('a service fits on a few screens', () => {
  for (const name of ['placement', 'glance', 'heat', 'horizon'])
    it(name, () => {
      const own = filesIn(`src/services/${name}`).map(lines);
      expect(own.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(150);
    });
});

/** Services that nothing else stands on by nature; databases, bus, cache, Keystone and OVN are known to what links to them. */
const SERVICES = ['placement', 'glance', 'neutron', 'nova', 'cinder', 'heat', 'horizon'] as const;

/** Files outside of the services' folders that may name one, and why. One more is a change to this list, seen in review. */
const MAY_NAME: Readonly<Record<string, string>> = {
  'src/operator/plans.ts': 'the one list',
  'src/controlplane/sections.ts': 'where each stands in a cloud',
  'src/controlplane/index.ts': 'objects of its parts go with the section of Nova',
  'src/operator/reads.ts': 'which field names which kind, and whose parts are below Nova',
  'src/services/host-access/index.ts': 'whose templates become computes',
  'src/services/host-access/nodes.ts': 'which pods have rights on the node, told by a spec alone',
  'src/insight/config/admission.ts': "the annotation of a host's cell, as its document has it",
  'src/operator/webhook.ts': 'the rule that guards that annotation',
  'src/insight/config/lint.ts': 'whose options a file of a kind is read by',
  'src/insight/config/journey.ts': 'the way of a variable to nova-compute on a host, as its document tells it',
  'src/insight/why/reasons.ts': "reasons of Nova's own, told in its words",
  'src/oslo/options.ts': "names of the files in upstream's option tables",
  'src/oslo/owned.ts': 'options that the operator owns, by file',
  'src/oslo/dynamic.ts': 'sections whose names are chosen by options of Glance, Cinder and Neutron',
  'src/cli/simulation/slice.ts': 'what `make cloud` leaves out',
  'src/cli/commands.ts': 'examples in the help',
  'src/world/mask/secret.ts': 'words of every answer, which are not hidden when somebody has one for a password',
};

/** Services that name another one without standing on it: whom they tell, or whose files they prepare. */
const TELLS: Readonly<Record<string, readonly string[]>> = {
  neutron: ['nova', 'placement'],
  ovn: ['neutron', 'nova'],
  ceph: ['glance', 'cinder'],
  nova: ['cinder'],
  cinder: ['nova'],
};

const code = (path: string): string =>
  readFileSync(path, 'utf8')
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/(^|\s)\/\/.*/g, '');
const named = (path: string): string[] =>
  SERVICES.filter(name => new RegExp(`(?<![a-z])${name}(?!t?al)`, 'i').test(code(path)));

describe("a service's name stays at home", () => {
  // The embedded world simulates the services' programs, so it must know them.
  const outside = filesIn('src').filter(path => !path.startsWith('src/embedded/'));

  it('shared code names none, but where it is said why', () => {
    const shared = outside.filter(path => !/^src\/services\/\w+\//.test(path) && named(path).length > 0);
    expect(shared.sort()).toEqual(Object.keys(MAY_NAME).sort());
  });

  it('another service names it only where it stands on it, or tells it something', () => {
    const strange = outside.flatMap(path => {
      const [, home] = /^src\/services\/(\w+)\//.exec(path) ?? [];
      if (home === undefined) return [];
      const known: readonly string[] = [
        home,
        ...(SECTIONS[home as keyof typeof SECTIONS]?.after ?? []),
        ...(TELLS[home] ?? []),
      ];
      return named(path).flatMap(name => (known.includes(name) ? [] : [`${path} names ${name}`]));
    });
    expect(strange).toEqual([]);
  });
});
