import { lookup, parse } from '../../oslo/parse.ts';
import { maskShapes, soundsSecret } from '../../world/mask/shapes.ts';
import { HIDDEN } from '../view/hide.ts';
import { conditionsOf, type Live, namespaceOf, type View } from '../view/view.ts';

/**
 * The journey of an option to a host outside the cluster, in the twelve hops of seed 003 ("The journey of a config
 * variable"), numbered as there. Each hop is read off objects; what no object tells is said to be unknown.
 */
export interface Hop {
  readonly number: number;
  readonly what: string;
  readonly says: string;
  readonly state: 'done' | 'open' | 'unknown';
}

export interface Journey {
  readonly value: string;
  readonly hops: readonly Hop[];
}

/** Written on the ConfigMap by whatever made it from a file: where the text began. */
export const SOURCES = {
  definition: 'openstack.k8s.io/source-definition',
  file: 'openstack.k8s.io/source-file',
  variable: 'openstack.k8s.io/source-variable',
} as const;

interface Spec {
  readonly configMaps?: readonly string[];
  readonly secrets?: readonly string[];
  readonly services?: readonly string[];
  readonly nodeSets?: readonly string[];
  readonly nodes?: Readonly<Record<string, unknown>>;
  readonly playbook?: string;
  readonly role?: string;
}
const specOf = (object: Live): Spec => (object.spec ?? {}) as Spec;

/** One journey per text that sets the option and that some OpenStackDataPlaneService names; `node` keeps those that reach it. */
export function journeysOf(view: View, section: string, key: string, node?: string): readonly Journey[] {
  const holders = [...view.ofKind('ConfigMap'), ...view.ofKind('Secret')];
  return holders.flatMap(holder =>
    textsOf(holder).flatMap(({ file, text }) => {
      const parsed = parse(text);
      const found = 'ok' in parsed ? lookup(parsed.ok, section, key) : undefined;
      if (found === undefined) return [];
      return services(view, holder).flatMap(service => {
        const sets = view
          .ofKind('OpenStackDataPlaneNodeSet')
          .filter(set => specOf(set).services?.includes(service.metadata.name));
        const reached = node === undefined ? sets : sets.filter(set => node in (specOf(set).nodes ?? {}));
        if (node !== undefined && reached.length === 0) return [];
        return [
          {
            value: soundsSecret(key) ? HIDDEN : maskShapes(found.value),
            hops: hopsOf(view, holder, `${file} line ${found.line}`, service, reached),
          },
        ];
      });
    }),
  );
}

function textsOf(holder: Live): readonly { file: string; text: string }[] {
  const data = Object.entries((holder.data ?? {}) as Readonly<Record<string, string>>);
  const decode = (value: string): string =>
    holder.kind === 'Secret' ? Buffer.from(value, 'base64').toString('utf8') : value;
  return data.filter(([file]) => /\.(conf|ini)$/.test(file)).map(([file, value]) => ({ file, text: decode(value) }));
}

const services = (view: View, holder: Live): readonly Live[] =>
  view.ofKind('OpenStackDataPlaneService').filter(service => {
    const { configMaps = [], secrets = [] } = specOf(service);
    const named = holder.kind === 'Secret' ? secrets : configMaps;
    return namespaceOf(service) === namespaceOf(holder) && named.includes(holder.metadata.name);
  });

function hopsOf(view: View, holder: Live, line: string, service: Live, sets: readonly Live[]): readonly Hop[] {
  const name = holder.metadata.name;
  const source = (which: keyof typeof SOURCES): string | undefined => holder.metadata.annotations?.[SOURCES[which]];
  const told = (number: number, what: string, says: string | undefined): Hop =>
    says === undefined
      ? { number, what, says: 'no annotation tells', state: 'unknown' }
      : { number, what, says, state: 'done' };
  const step = (number: number, what: string, found: readonly Live[], missing: string): Hop =>
    found.length > 0
      ? { number, what, says: found.map(o => `${o.kind} ${o.metadata.name}`).join(', '), state: 'done' }
      : { number, what, says: missing, state: 'open' };
  const mentions = (object: Live): boolean => JSON.stringify(object.spec ?? {}).includes(JSON.stringify(name));
  const deployments = view
    .ofKind('OpenStackDataPlaneDeployment')
    .filter(deployment => sets.some(set => specOf(deployment).nodeSets?.includes(set.metadata.name)));
  const runs = view.ofKind('OpenStackAnsibleEE').filter(mentions);
  const jobs = view.ofKind('Job').filter(job => mentions(job) && runs.some(run => view.ownerOf(job) === run));
  const done = jobs.filter(job => conditionsOf(job).some(c => c.type === 'Complete' && c.status === 'True'));
  const ended = done
    .flatMap(job => conditionsOf(job).find(c => c.type === 'Complete')?.lastTransitionTime ?? [])
    .sort()
    .at(-1);
  const program = specOf(service).playbook ?? specOf(service).role ?? 'no playbook';
  return [
    told(1, 'definition of the CI job', source('definition')),
    told(2, 'file of config', source('file')),
    told(3, 'variable that names the file', source('variable')),
    told(4, `${holder.kind} generated from the file`, source('file') && name),
    { number: 5, what: `${holder.kind} in the cluster`, says: `${name}, ${line}`, state: 'done' },
    {
      number: 6,
      what: 'service that names it',
      says: `OpenStackDataPlaneService ${service.metadata.name} (${program})`,
      state: 'done',
    },
    step(7, 'node sets that run the service', sets, 'no OpenStackDataPlaneNodeSet lists the service'),
    step(
      8,
      'run with it as a volume',
      runs,
      deployments.length > 0
        ? 'the deployment has made no OpenStackAnsibleEE with it yet'
        : 'no OpenStackDataPlaneDeployment for these node sets',
    ),
    step(9, 'Job that mounts it', jobs, 'no Job mounts it yet'),
    step(10, `${program} ran in its pod`, done, jobs.length > 0 ? 'the Job is not complete' : 'nothing ran yet'),
    ended
      ? {
          number: 11,
          what: 'files on the hosts',
          says: `copied to /var/lib/openstack/config/nova by ${ended}`,
          state: 'done',
        }
      : { number: 11, what: 'files on the hosts', says: 'not copied yet', state: 'open' },
    {
      number: 12,
      what: 'read by nova-compute',
      says: 'the cluster does not see into the container on the host',
      state: 'unknown',
    },
  ];
}
