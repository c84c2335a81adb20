import { stringify } from 'yaml';
import { filesOf } from '../insight/config.ts';
import { isOurs, viewOf } from '../insight/view.ts';
import { why } from '../insight/why.ts';
import type { AnyObject } from '../kube/object.ts';
import { realRandom } from '../real/clock.ts';
import { redactText } from '../world/log.ts';
import type { Answer, Invocation } from './command.ts';
import { inNamespace, type Simulation, simulate } from './simulation.ts';
import { readObjects, UsageError } from './yaml.ts';

/** Nothing of it is waited for by people: an instant kubelet. */
const DELAYS = { pull: 0, start: 10, ready: 10, job: 10, stop: 10 };

interface Rendered {
  readonly object: AnyObject;
  /** The objects of ours above it: `Keystone keystone`, `OpenStackControlPlane cloud`. */
  readonly for: readonly string[];
}

export async function render(cx: Invocation): Promise<Answer> {
  const {
    file,
    as,
    service,
    namespace = 'openstack',
    reveal,
  } = cx.flags as { file?: string; as?: string; service?: string; namespace?: string; reveal?: boolean };
  if (file === undefined) throw new UsageError('-f is missing: the objects to render');
  if (as !== 'objects' && as !== 'config') throw new UsageError('--as takes objects or config');
  // True randomness: what is rendered may be applied, and its passwords must be nobody's guess.
  const world = await simulate({ namespace, believe: true, delays: DELAYS, random: realRandom });
  for (const object of readObjects(file)) world.admin.apply(inNamespace(object, namespace));
  await world.settle();
  const view = viewOf(world.objects(), world.now());
  const { causes } = why(view);
  const all = renderedBy(world).filter(one => service === undefined || one.for.some(label => matches(label, service)));
  if (all.length === 0 && service !== undefined) throw new UsageError(`nothing is rendered for ${service}`);
  const problems = causes.map(cause => `# ${cause.reason}: ${cause.what}. ${cause.who}: ${cause.next}\n`).join('');
  const code = causes.length > 0 ? 1 : 0;
  if (as === 'objects') {
    const items = all.map(one => one.object);
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
        text: reveal ? text : redactText(text),
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

const yaml = (object: AnyObject): string => stringify(object, { version: '1.1', lineWidth: 0 });
const matches = (label: string, service: string): boolean =>
  label.toLowerCase().split(' ').includes(service.toLowerCase());

/** The last that the operator sent for each object that is there in the end: its opinions, and nothing of the server's. */
function renderedBy(world: Simulation): readonly Rendered[] {
  const view = viewOf(world.objects(), world.now());
  const last = new Map<string, AnyObject>();
  for (const { method, path, body } of world.writes)
    if (method === 'PATCH' && !path.endsWith('/status') && body.kind && !isOurs(body)) last.set(path, body);
  return [...last.values()].flatMap(body => {
    const { namespace = '', name } = body.metadata;
    const live = view.get(body.kind, namespace, name);
    if (live === undefined) return [];
    const owners: string[] = [];
    for (let up = view.ownerOf(live); up; up = view.ownerOf(up)) owners.push(`${up.kind} ${up.metadata.name}`);
    // Owners are objects that stay here: with their uids the cluster would collect what it is given.
    const { ownerReferences: _owners, ...metadata } = body.metadata;
    return [{ object: { ...body, metadata } as AnyObject, for: owners }];
  });
}
