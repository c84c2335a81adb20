import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { OpenStackControlPlane } from '../../api/openstack/controlplane.ts';
import { python, virtualenv } from '../../lab/oslo/venv.ts';
import { filesOf, serviceOf } from '../../src/insight/config/lint.ts';
import { type Trace, trace } from '../../src/insight/config/trace.ts';
import { viewOf } from '../../src/insight/view/view.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { Node } from '../../src/kube/resource.ts';
import { groupId } from '../../src/oslo/model.ts';
import { releases, schemaOf } from '../../src/oslo/options.ts';
import { assignments, parse } from '../../src/oslo/parse.ts';
import { Cloud } from '../functional/cloud.ts';

/*
 * `trace` says who set the value that counts. For every option of every rendered file the real oslo.config, which reads
 * the same folder with the options of the service of that release, must take it from the same file with the same value.
 */

const WHERE = fileURLToPath(new URL('./where.py', import.meta.url));
const sample = parseYaml(readFileSync('config/samples/controlplane_minimal.yaml', 'utf8')) as AnyObject & {
  spec: object;
};

const text = (customServiceConfig: string) => ({ customServiceConfig });
const everywhere =
  '[DEFAULT]\ndebug = true\nlog_file = /tmp/a.log\n[oslo_middleware]\nmax_request_body_size = 200000\n';

/** The same options on three levels, accumulating ones, old names, a `$`, a value over two lines, a Secret above all. */
const levels = {
  ...text(everywhere),
  keystone: {
    ...text('[token]\nexpiration = 7200\n[DEFAULT]\ndebug = false\n[token]\nexpiration = 7300\n'),
    customServiceConfigSecrets: ['keystone-more'],
  },
  glance: text('[DEFAULT]\nworkers = 3\n[DEFAULT]\nworkers = 4\n[image_format]\ndisk_formats = raw,\n  qcow2\n'),
  placement: text(
    '[DEFAULT]\nlog_file = $log_dir/p.log\nlog_dir = /tmp\n[PLACEMENT]\nrandomize_allocation_candidates = true\n',
  ),
  neutron: text('[DEFAULT]\ndns_domain = mine.example.\n[ml2]\npath_mtu = 1400\n'),
  nova: {
    ...text(
      '[DEFAULT]\ncpu_allocation_ratio = 4.0\nvnc_enabled = false\n[pci]\nalias = {"name":"a"}\nalias = {"name":"b"}\n[libvirt]\ncpu_mode = custom\ncpu_models = Nehalem\n',
    ),
    apiServiceTemplate: text('[DEFAULT]\ncpu_allocation_ratio = 8.0\n[pci]\nalias = {"name":"c"}\n'),
    schedulerServiceTemplate: text('[vnc]\nenabled = true\n[DEFAULT]\ndebug = false\nvnc_enabled = false\n'),
    cellTemplates: {
      cell0: {},
      cell1: {
        conductorServiceTemplate: text('[oslo_messaging_rabbit]\nheartbeat_rate = 3\n'),
        novaComputeTemplates: {
          libvirt: { virtType: 'qemu', ...text('[libvirt]\ncpu_models = Haswell,Broadwell\nvirt_type = qemu\n') },
        },
      },
    },
  },
};
const secret = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'keystone-more' },
  stringData: { 'more.conf': '[token]\nexpiration = 7400\n[DEFAULT]\nlog_file = /tmp/b.log\n' },
};

interface Case {
  readonly name: string;
  readonly service: string;
  readonly files: readonly { readonly name: string; readonly text: string }[];
  readonly claims: readonly { readonly trace: Trace; readonly written: readonly [string, string] }[];
}

async function traced(release: string, variant: string, spec: object): Promise<Case[]> {
  const cloud = await Cloud.start();
  const [node] = cloud.hands.list(Node, '');
  const labels = { 'openstack.k8s.io/compute': '', 'openstack.k8s.io/gateway': '' };
  cloud.hands.patch(Node, '', node!.metadata.name, { metadata: { labels } });
  cloud.apply(secret, { ...sample, spec: { ...sample.spec, release, ...spec } });
  await cloud.ready(OpenStackControlPlane, sample.metadata.name);
  await cloud.settle();
  const view = viewOf(cloud.store.objects(), cloud.sim.clock.wall());
  return view.ofKind('Secret').flatMap((found): Case[] => {
    const owner = view.ownerOf(found);
    const service = owner && serviceOf(owner.kind);
    const files = filesOf(found);
    if (!owner || !service || !found.metadata.name.endsWith('-config-data') || files.length === 0) return [];
    const schema = schemaOf(service, release)!;
    const written = new Map<string, readonly [string, string]>();
    for (const file of files) {
      const parsed = parse(file.text);
      if ('error' in parsed) throw new Error(`${found.metadata.name} ${file.name} does not parse`);
      for (const { section, key } of assignments(parsed.ok)) written.set(`${groupId(section)} ${key}`, [section, key]);
    }
    const claims = [...written.values()].map(([section, key]) => {
      const now = schema.renamed(section, key) ?? { section, key };
      return {
        written: [section, key] as const,
        trace: trace({ secret: found, schema, reveal: true }, now.section, now.key),
      };
    });
    return [{ name: `${variant}: ${found.metadata.name}`, service, files, claims }];
  });
}

interface Verdict {
  readonly agreed: number;
  readonly wrong: readonly (readonly [group: string, name: string, what: string])[];
}

async function judged(release: string, cases: readonly Case[]): Promise<Verdict[]> {
  const venv = await virtualenv(release);
  const input = cases.map(({ service, files, claims }) => ({
    service,
    files,
    claims: claims.map(({ written, trace }) => ({
      written,
      now: [trace.section, trace.key],
      file: trace.setters.at(-1)?.file ?? '',
      values: trace.values,
    })),
  }));
  const done = python(venv, [WHERE], JSON.stringify(input));
  if (done.status !== 0) throw new Error(`where.py ended with ${done.status}:\n${done.stderr.slice(-2000)}`);
  return JSON.parse(done.stdout) as Verdict[];
}

const wrongIn = (cases: readonly Case[], verdicts: readonly Verdict[]): string[] =>
  verdicts.flatMap(({ wrong }, index) =>
    wrong.map(([group, name, what]) => `${cases[index]!.name}: [${group}] ${name} ${what}`),
  );

describe.each(releases)('trace, with oslo.config of %s as its judge', { timeout: 900_000 }, release => {
  let cases: Case[];
  beforeAll(async () => {
    cases = [...(await traced(release, 'minimal', {})), ...(await traced(release, 'three levels', levels))];
  }, 900_000);

  it('names the winner of every option of every rendered file', async () => {
    const verdicts = await judged(release, cases);
    expect(wrongIn(cases, verdicts)).toEqual([]);
    const agreed = verdicts.reduce((sum, verdict) => sum + verdict.agreed, 0);
    const contested = cases.flatMap(one => one.claims).filter(({ trace }) => trace.overrides.length > 0).length;
    const several = cases.flatMap(one => one.claims).filter(({ trace }) => trace.setters.length > 1).length;
    console.log(
      `${release}: ${cases.length} config Secrets, ${agreed} options traced as oslo.config reads them; ${contested} were contested, ${several} accumulate`,
    );
    expect(agreed).toBeGreaterThan(500);
    expect(contested).toBeGreaterThan(20);
    expect(several).toBeGreaterThan(0);
  });

  it('would be found wrong if it were', async () => {
    const keystone = cases.find(one => one.name === 'three levels: keystone-config-data')!;
    const lie = (change: (trace: Trace) => Trace): Case => ({
      ...keystone,
      claims: keystone.claims
        .filter(({ trace }) => trace.key === 'expiration')
        .map(claim => ({ ...claim, trace: change(claim.trace) })),
    });
    const lies = [
      lie(trace => ({ ...trace, values: ['7300'] })),
      lie(trace => ({ ...trace, setters: trace.overrides.slice(-1) })),
      lie(trace => ({ ...trace, key: 'provider' })),
    ];
    expect(lies.map(one => one.claims.length)).toEqual([1, 1, 1]);
    expect((await judged(release, lies)).map(verdict => verdict.wrong.length)).toEqual([1, 1, 1]);
  });
});
