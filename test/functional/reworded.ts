import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import { causesOf, conditionsOf, namespaceOf, type View } from '../../src/insight/view/view.ts';
import { overviewOf } from '../../src/insight/why/overview.ts';
import { type Why, why } from '../../src/insight/why/why.ts';
import { withOperators } from './cloud.ts';

/** What somebody who still read sentences would fall for. */
const WORDS = [
  'User:',
  'Operator:',
  'Cluster:',
  '. User: mend it',
  '. Operator: try again',
  'see Keystone keystone',
  'see MariaDB mariadb',
  'MariaDB mariadb is not Ready',
  'Nova nova is being deleted',
  'Secret wrong, named in spec.wrong, does not exist',
  'with keys wrong, words',
  'has no key wrong',
  'label example.org/wrong.',
  'MariaDB at wrong.openstack.svc.cluster.local does not answer',
  'refuses user wrong:',
  'set spec.release back to 1999.1',
  'exceeded quota: wrong',
  'cannot delete resource "wrongs"',
  'cell1:',
  'DatabaseReady:',
  'OpenStackControlPlane wrong spec.wrong',
  'in pod wrong-0',
  'lorem',
  'ipsum',
];

/**
 * Other words for every text that the operator writes for people: the same for the same text, or nothing would ever be at
 * rest. What it has put is left as it is.
 */
function reworded(words: readonly string[]): (text: string) => string {
  const known = new Map<string, string>();
  const own = new Set<string>();
  return text => {
    if (own.has(text)) return text;
    const other = known.get(text) ?? randomOf(words, text);
    known.set(text, other);
    own.add(other);
    return other;
  };
}

function randomOf(from: readonly string[], text: string): string {
  const bytes = createHash('sha256').update(text).digest();
  const words = [...bytes.subarray(0, 3 + (bytes[0]! % 8))].map(byte => from[byte % from.length]!);
  return `${words.join(' ')} ${bytes.toString('hex').slice(0, 8)}`;
}

const FOR_PEOPLE = new Set(['message', 'what', 'says', 'next', 'moving']);

/** Without what only people read. */
function forPrograms(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(forPrograms);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !FOR_PEOPLE.has(key))
      .map(([key, item]) => [key, forPrograms(item)]),
  );
}

/** An object of ours on its way, without what it says. */
const movers = ({ moving }: Why): readonly string[] => [...new Set(moving.map(text => text.split(': ')[0]!))];

/** Everything that a program may know of a cloud: what `why`, the page and every condition say, but for their sentences. */
export function classified(view: View): unknown {
  const answer = why(view);
  return {
    why: forPrograms(answer.causes),
    moving: movers(answer),
    page: forPrograms(overviewOf(view)),
    conditions: view.ours.map(object => ({
      object: `${object.kind} ${namespaceOf(object)}/${object.metadata.name}`,
      conditions: conditionsOf(object).map(({ type, status, reason }) => `${type} ${status} ${reason}`),
      causes: forPrograms(causesOf(object)),
    })),
  };
}

export type Speech = 'plain' | 'random';

const tricky = reworded(WORDS);
/** Nothing in them even looks like what we write. */
const blank = reworded(['lorem', 'ipsum', 'dolor', 'sit', 'amet']);

/** The same story twice: as it is, and with an operator that puts other words for each of its texts. */
export async function inOtherWords<T>(
  story: (speech: Speech) => Promise<T>,
  words: 'tricky' | 'blank' = 'tricky',
): Promise<readonly [T, T]> {
  const reword = { tricky, blank }[words];
  return [await story('plain'), await withOperators({ reword }, () => story('random'))];
}

/** What operators said in conditions that do not hold. */
const texts = (view: View): readonly string[] =>
  view.ours.flatMap(object =>
    conditionsOf(object)
      .filter(({ status }) => status !== 'True')
      .map(({ message }) => message),
  );

/** Nothing differs but words, and all of them do. */
export function sameBut(plain: View, other: View): void {
  expect(classified(other)).toEqual(classified(plain));
  const said = new Set(texts(plain));
  expect(texts(other).filter(text => said.has(text))).toEqual([]);
}
