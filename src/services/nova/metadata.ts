import { NovaMetadata } from '../../../api/nova/metadata.ts';
import type { AnyObject, DeepReadonly } from '../../kube/object.ts';
import { Secret } from '../../kube/resource.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import { isReady } from '../../runtime/plan/ready.ts';
import { password } from '../../world/clock.ts';
import { encoded } from '../encoded.ts';
import { marksOf, mountedBy, switched, wanted } from '../links/credentials.ts';
import { METADATA_KEY } from './secrets.ts';
import { globalMetadata, type NovaObject } from './spec.ts';

/*
 * The secret that metadata service and agents share. The service knows one at a time, so it is replaced by way of a second
 * service: agents move there with the new secret, the first one learns it, agents move back, the second one goes. An
 * agent's file names host and secret together, so whatever it sends is understood where it arrives.
 */

/** Keys of the Secret: how far a replacement is. */
interface Stored {
  readonly [METADATA_KEY]: string;
  /** What the second service knows. */
  readonly 'next-secret'?: string;
  /** Agents are sent to the second service. */
  readonly moved?: string;
  /** What the first service may still know. */
  readonly 'previous-secret'?: string;
}

export interface Shared {
  readonly name: string;
  /** What the first service knows. */
  readonly secret: string;
  /** What agents must know. */
  readonly forAgents: { readonly spare: boolean; readonly secret: string };
  /** The secret of the second service, while there is one. */
  readonly spare: string | undefined;
}

export const metadataAccount = (secret: string) => ({ target: 'metadata', secret }) as const;
export const spareMetadata = (nova: string): string => `${nova}-spare-metadata`;

/** What is the case around it, as far as the next step hangs on it. */
export interface Facts {
  readonly wanted: boolean;
  /** The second service answers. */
  readonly spareReady: boolean;
  /** The first service answers. */
  readonly mainReady: boolean;
  /** An agent knows the old secret. */
  readonly agentKnows: boolean;
  /** Anybody knows it. */
  readonly anybodyKnows: boolean;
  /** An agent is sent to the second service still. */
  readonly agentAtSpare: boolean;
}

export type Step = 'make' | 'move' | 'switch' | 'return' | 'end';

/** What is to do next, if anything. Each step can be repeated, and is written down by what it changes in the Secret. */
export function stepOf(state: Stored, facts: Facts): Step | undefined {
  const { [METADATA_KEY]: current, 'next-secret': next, 'previous-secret': previous, moved } = state;
  if (next === undefined) return facts.wanted ? 'make' : undefined;
  if (previous !== undefined) return facts.mainReady && !facts.anybodyKnows ? 'return' : undefined;
  if (moved) return facts.agentKnows ? undefined : 'switch';
  if (next !== current) return facts.spareReady ? 'move' : undefined;
  return facts.agentAtSpare ? undefined : 'end';
}

export function taken(state: Stored, step: Step, fresh: string): Stored {
  const { [METADATA_KEY]: current, 'next-secret': next = fresh } = state;
  switch (step) {
    case 'make':
      return { [METADATA_KEY]: current, 'next-secret': next };
    case 'move':
      return { [METADATA_KEY]: current, 'next-secret': next, moved: 'true' };
    case 'switch':
      return { [METADATA_KEY]: next, 'next-secret': next, moved: 'true', 'previous-secret': current };
    case 'return':
      return { [METADATA_KEY]: current, 'next-secret': next };
    case 'end':
      return { [METADATA_KEY]: current };
  }
}

/** The secret of an object that was given none, replaced when somebody asks for it or its time has come. */
export async function sharedBetween(cx: Cx<NovaObject>, name: string): Promise<Shared> {
  const before: Stored = await cx.generate(name, () => ({ [METADATA_KEY]: password(cx.random) }));
  let state: Stored = before;
  let marks: Readonly<Record<string, string>> = {};
  if (!globalMetadata(cx.spec)) {
    // Cells have their own services, which all know the one secret.
    state = { [METADATA_KEY]: before.moved ? (before['next-secret'] ?? '') : before[METADATA_KEY] };
  } else {
    const due = wanted(cx, metadataAccount(name));
    const step = stepOf(before, factsOf(cx, before, due !== undefined));
    if (step) state = taken(before, step, password(cx.random));
    if (step === 'make') marks = due ?? {};
    if (step === 'switch') marks = switched(cx);
  }
  const annotations = { ...marksOf(cx, name), ...marks };
  const data = encoded(Object.fromEntries(Object.entries(state)));
  await cx.apply(Secret, { metadata: { name, annotations }, type: 'Opaque', data });
  const spare = state['next-secret'];
  const at =
    state.moved && spare !== undefined ? { spare: true, secret: spare } : { spare: false, secret: state[METADATA_KEY] };
  return { name, secret: state[METADATA_KEY], forAgents: at, spare };
}

function factsOf(cx: Cx<NovaObject>, state: Stored, due: boolean): Facts {
  const old = state['previous-secret'] ?? state[METADATA_KEY];
  const ready = (object: string): boolean => {
    const found = cx.get(NovaMetadata, object);
    return found !== undefined && isReady(found);
  };
  const isService = ({ metadata }: DeepReadonly<AnyObject>): boolean =>
    metadata.labels?.['app.kubernetes.io/name'] === NovaMetadata.kind.toLowerCase();
  const holds = (text: string) => (data: Readonly<Record<string, string>>) =>
    Object.values(data).some(value => value.includes(text));
  if (state['next-secret'] === undefined)
    return {
      wanted: due,
      spareReady: false,
      mainReady: false,
      agentKnows: false,
      anybodyKnows: false,
      agentAtSpare: false,
    };
  return {
    wanted: due,
    spareReady: ready(spareMetadata(cx.name)),
    mainReady: ready(`${cx.name}-metadata`),
    agentKnows: mountedBy(cx, holds(old), isService),
    anybodyKnows: mountedBy(cx, holds(old)),
    agentAtSpare: mountedBy(cx, holds(`${spareMetadata(cx.name)}.`), isService),
  };
}
