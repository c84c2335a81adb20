import { stringify } from 'yaml';
import { filesOf } from '../../insight/config/lint.ts';
import { HIDDEN, type Hide, hiderOf, masking } from '../../insight/view/hide.ts';
import { isOurs, type Live, type View, viewOf } from '../../insight/view/view.ts';
import { why } from '../../insight/why/why.ts';
import type { AnyObject } from '../../kube/object.ts';
import { realRandom } from '../../real/clock.ts';
import { effectJobs, patient, policyForJobs } from '../../render/jobs.ts';
import { ownerUids } from '../../runtime/plan/dress.ts';
import { MANAGED_LABEL } from '../../runtime/plan/names.ts';
import { ALLOW_HOST_ACCESS } from '../../services/host-access/index.ts';
import { maskObject } from '../../world/mask/fields.ts';
import { readObjects, UsageError } from '../input/yaml.ts';
import { inNamespace, type Simulation, simulate } from '../simulation/simulation.ts';
import type { Answer, Invocation } from './command.ts';

/** Nothing of it is waited for by people: an instant kubelet. */
const DELAYS = { pull: 0, start: 10, ready: 10, job: 10, stop: 10 };

interface Rendered {
  readonly object: AnyObject;
  /** The objects of ours above it: `Keystone keystone`, `OpenStackControlPlane cloud`. */
  readonly for: readonly string[];
}

interface Flags {
  readonly file?: string;
  readonly as?: string;
  readonly service?: string;
  readonly namespace?: string;
  readonly reveal?: boolean;
  /** An earlier output. */
  readonly keep?: string;
}

export async function render(cx: Invocation): Promise<Answer> {
  const { file, as, service, namespace = 'openstack', reveal, keep } = cx.flags as Flags;
  if (file === undefined) throw new UsageError('-f is missing: the objects to render');
  if (as !== 'objects' && as !== 'config' && as !== 'jobs') throw new UsageError('--as takes objects, config or jobs');
  if (as === 'jobs' && !reveal)
    throw new UsageError(
      '--as jobs is made to be applied, and its Secrets hold every password of the cloud: give --reveal, and keep the output as you keep passwords',
    );
  // True randomness: what is rendered may be applied, and its passwords must be nobody's guess.
  // What is printed is applied by people, with their own permissions.
  const env = { [ALLOW_HOST_ACCESS]: 'true' };
  const world = await simulate({ namespace, believe: true, delays: DELAYS, random: realRandom, env });
  const kept = keep === undefined ? [] : keptFrom(keep);
  for (const object of [...kept, ...readObjects(file)]) world.admin.apply(inNamespace(object, namespace));
  await world.settle();
  const view = viewOf(world.objects(), world.now());
  const { causes, moving } = why(view);
  const made = as === 'jobs' ? withJobs(world, namespace) : renderedBy(world);
  const again = new Set(made.map(({ object }) => `${object.kind} ${object.metadata.name}`));
  const untouched = kept.filter(({ kind, metadata }) => !again.has(`${kind} ${metadata.name}`));
  const all = [...untouched.map(object => ({ object, for: labelled(object) })), ...made].filter(
    one => service === undefined || one.for.some(label => matches(label, service)),
  );
  if (all.length === 0 && service !== undefined) throw new UsageError(`nothing is rendered for ${service}`);
  const mask: Hide = reveal ? text => text : masking(hiderOf(world.objects()));
  const problems = [
    ...causes.map(cause => `# ${cause.reason}: ${cause.what}. ${cause.who}: ${cause.next}\n`),
    // Nothing moves any more: what is on its way now never arrives.
    ...moving.map(object => `# ${object} is not Ready in the end\n`),
  ]
    .map(mask)
    .join('');
  const code = problems === '' ? 0 : 1;
  if (as !== 'config') {
    const items = all.map(({ object }) => (reveal ? object : shown(object, mask)));
    return {
      data: { apiVersion: 'v1', kind: 'List', items },
      text: () => problems + items.map(yaml).join('---\n').trimEnd(),
      code,
    };
  }
  const files = all
    .filter(one => /-config-data$/.test(one.object.metadata.name))
    .flatMap(({ object }) =>
      filesOf(object).map(({ name, text }) => ({
        secret: object.metadata.name,
        file: name,
        // What customServiceConfigSecrets bring (03-) is secret as a whole.
        text: name.startsWith('03-') && !reveal ? `${HIDDEN}\n` : mask(text),
      })),
    );
  const text = () =>
    problems +
    files
      .map(f => `# Secret ${f.secret}, ${f.file}\n${f.text}`)
      .join('\n')
      .trimEnd();
  return { data: { files }, text, code };
}

/**
 * An object for people to read. Values of Secrets are replaced by a word that is no base64, so that the API server refuses
 * the Secret: what was rendered without --reveal can't become a cloud whose password is `***`.
 */
function shown(object: AnyObject, mask: Hide): AnyObject {
  const masked = maskObject(object, mask);
  if (object.kind !== 'Secret') return masked;
  return { ...masked, data: Object.fromEntries(Object.keys(object.data ?? {}).map(key => [key, HIDDEN])) };
}

function keptFrom(file: string): readonly AnyObject[] {
  const kept = readObjects(file).filter(isGenerated);
  const empty = kept.find(({ data }) => Object.values(data ?? {}).includes(HIDDEN));
  if (empty)
    throw new UsageError(
      `${file}: Secret ${empty.metadata.name} has no values, because it was rendered without --reveal: render it with --reveal, and keep that`,
    );
  return kept;
}

const yaml = (object: AnyObject): string =>
  stringify(object, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false });
const matches = (label: string, service: string): boolean =>
  label.toLowerCase().split(' ').includes(service.toLowerCase());

function ownersOf(view: View, object: Live | undefined): readonly string[] {
  const owners: string[] = [];
  for (let up = object && view.ownerOf(object); up; up = view.ownerOf(up))
    owners.push(`${up.kind} ${up.metadata.name}`);
  return owners;
}

/** The last request that the operator sent for each object that exists in the end: its opinions, and nothing of the server's. */
function renderedBy(world: Simulation): readonly Rendered[] {
  const view = viewOf(world.objects(), world.now());
  const last = new Map<string, AnyObject>();
  for (const { method, path, body } of world.writes)
    if (method === 'PATCH' && !path.endsWith('/status') && body.kind && !isOurs(body)) last.set(path, body);
    // The one object that is created and not applied: the namespace's owner id.
    else if (method === 'POST' && body.kind === 'Secret') last.set(`${path}/${body.metadata.name}`, body);
  return [...last.values()].flatMap(body => {
    const { namespace = '', name } = body.metadata;
    const live = view.get(body.kind, namespace, name);
    if (live === undefined) return [];
    const owners = ownerUids(live).length === 0 ? labelled(live) : ownersOf(view, live);
    // Owners are objects that stay here: with their uids the cluster would collect what it is given.
    const { ownerReferences: _owners, ...metadata } = body.metadata;
    return [{ object: { ...body, metadata } as AnyObject, for: owners }];
  });
}

/** Objects that count on an operator beside them. */
const withoutOperator: Readonly<Record<string, (object: AnyObject) => AnyObject>> = {
  Job: patient,
  NetworkPolicy: policyForJobs,
};

/** What the operator sends, and what it does outside of Kubernetes as Jobs: all that a cluster without it needs. */
function withJobs(world: Simulation, namespace: string): readonly Rendered[] {
  const objects = world.objects();
  const view = viewOf(objects, world.now());
  const above = (label: string): readonly string[] => {
    const [kind = '', name = ''] = label.split(' ');
    const up = ownersOf(view, view.get(kind, namespace, name));
    return [label, ...up];
  };
  const effects = effectJobs(world.backends?.calls() ?? [], { namespace, env: {}, objects });
  return [
    ...renderedBy(world).map(one => ({ ...one, object: withoutOperator[one.object.kind]?.(one.object) ?? one.object })),
    ...effects.flatMap(({ by, objects }) => objects.map(object => ({ object, for: above(by) }))),
  ];
}

/** A Secret with values that were made once: not a config file, which is made from them again. */
const isGenerated = ({ kind, metadata, immutable }: AnyObject): boolean =>
  kind === 'Secret' &&
  immutable !== true &&
  metadata.labels?.[MANAGED_LABEL] === 'true' &&
  !/-config-data$/.test(metadata.name);

/** The owner of a rendered object, by its labels. */
const labelled = ({ metadata: { labels } }: Live): readonly string[] => [
  `${labels?.['app.kubernetes.io/name']} ${labels?.['app.kubernetes.io/instance']}`,
];
