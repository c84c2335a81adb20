import { writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { stringify } from 'yaml';
import packageJson from '../../../package.json' with { type: 'json' };
import { statusOf } from '../../insight/status/status.ts';
import { logObject, masked } from '../../insight/view/masked.ts';
import { viewOf } from '../../insight/view/view.ts';
import { why } from '../../insight/why/why.ts';
import type { AnyObject } from '../../kube/object.ts';
import { isKnown } from '../input/resources.ts';
import { readObjects, UsageError } from '../input/yaml.ts';
import { simulate, Unsettled } from '../simulation/simulation.ts';
import type { Answer, Invocation } from './command.ts';

const LOG_LINES = 200;

/** Everything that an answer may need, in one file that may leave the house. */
export async function bundle(cx: Invocation): Promise<Answer> {
  const { to = 'openstack-bundle.yaml.gz' } = cx.flags as { to?: string };
  const snapshot = await cx.snapshot();
  const { view, notes, where } = snapshot;
  const logs: AnyObject[] = [];
  for (const { pod } of why(view).causes) {
    const text =
      pod?.container && (await snapshot.logs(pod, pod.container, { lines: LOG_LINES }).catch(() => undefined));
    if (pod?.container && text) logs.push(logObject(pod, pod.container, text));
  }
  const objects = masked([...view.objects, ...logs]);
  const head = [`openstack-operator ${packageJson.version}`, `taken from ${where}`, ...notes]
    .map(line => `# ${line}\n`)
    .join('');
  const text =
    head +
    objects
      .map(object => stringify(object, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false }))
      .join('---\n');
  // gzip writes no time into its head here, so the same objects give the same bytes.
  save(to, to.endsWith('.gz') ? gzipSync(text) : Buffer.from(text));
  const kinds = new Map<string, number>();
  for (const { kind } of objects) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  const data = { file: to, objects: objects.length, kinds: Object.fromEntries([...kinds].sort()), notes };
  const summary = `${to}: ${objects.length} objects, values of Secrets replaced by names. Look at it with --from ${to}.`;
  return { data, text: () => [summary, ...notes.map(note => `Note: ${note}`)].join('\n'), code: 0 };
}

function save(to: string, bytes: Buffer): void {
  try {
    writeFileSync(to, bytes);
  } catch (error) {
    throw new UsageError(
      `${to} can't be written (${(error as NodeJS.ErrnoException).code}): name another file with --to`,
    );
  }
}

/** Lets the operator go on from where a bundle was taken, with backends that record each call and report success. */
export async function replay(cx: Invocation): Promise<Answer> {
  const [file = ''] = cx.args;
  const objects = readObjects(file).filter(isKnown);
  const before = viewOf(objects, momentOf(objects));
  const namespace = (cx.flags.namespace as string | undefined) ?? before.ours[0]?.metadata.namespace;
  if (namespace === undefined) throw new UsageError(`${file}: no object of ours in it`);
  const world = await simulate({ namespace, from: { objects, at: before.now }, believe: true, seed: 7919 });
  const began = world.now();
  let unsettled: readonly string[] = [];
  try {
    await world.settle();
  } catch (error) {
    if (!(error instanceof Unsettled)) throw error;
    unsettled = error.again;
  }
  const after = viewOf(world.objects(), world.now());
  const [then, now] = [why(before), why(after)];
  const clouds = statusOf(after);
  const seconds = Math.round((world.now() - began) / 1000);
  const data = { seconds, before: { causes: then.causes }, after: { clouds, causes: now.causes }, unsettled };
  const line = (cause: (typeof now.causes)[number]): string =>
    `  ${cause.reason}: ${cause.what}. ${cause.who}: ${cause.next}`;
  const text = (): string =>
    [
      `When it was taken: ${then.causes.length === 0 ? 'no cause of trouble' : ''}`.trimEnd(),
      ...then.causes.map(line),
      `After ${seconds} s of its time, with working backends and nodes:`,
      ...clouds.map(
        cloud =>
          `  ${cloud.namespace}/${cloud.name ?? ''} ${cloud.state}, ${cloud.ready} of ${cloud.wanted} services ready`,
      ),
      ...now.causes.map(line),
      ...unsettled.map(again => `  it does not come to rest: ${again}`),
    ].join('\n');
  return { data, text, code: now.causes.length > 0 || unsettled.length > 0 ? 1 : 0 };
}

/** The last moment that the objects speak of. */
const momentOf = (objects: readonly AnyObject[]): number =>
  Math.max(
    0,
    ...objects.flatMap(object => {
      const { conditions = [] } = (object.status ?? {}) as { conditions?: { lastTransitionTime?: string }[] };
      return [object.metadata.creationTimestamp, ...conditions.map(c => c.lastTransitionTime)].flatMap(t =>
        t ? [Date.parse(t)] : [],
      );
    }),
  );
