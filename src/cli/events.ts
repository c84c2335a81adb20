import { ageOf, below, type Happening, type View } from '../insight/view.ts';
import { redactText } from '../world/log.ts';
import type { Answer, Invocation } from './command.ts';
import { type Paper, table } from './print.ts';
import { objectNamed } from './why.ts';

export async function events(cx: Invocation): Promise<Answer> {
  const { view, notes } = await cx.snapshot();
  const { warnings } = cx.flags as { warnings?: boolean };
  const all = cx.args[0] === undefined ? view.events() : aboutOne(view, cx.args[0]);
  const shown = all
    .filter(event => !warnings || event.warning)
    .map(event => ({ ...event, text: redactText(event.text) }));
  const text = (paper: Paper): string =>
    shown.length === 0
      ? 'No events.'
      : table(
          paper,
          ['AGO', 'TYPE', 'OBJECT', 'REASON', 'WHAT'],
          shown.map(event => [
            ageOf(view.now - Date.parse(event.at)),
            event.warning ? { text: 'Warning', style: 'yellow' } : 'Normal',
            `${event.kind} ${event.name}`,
            event.reason,
            event.text.replaceAll('\n', ' '),
          ]),
        );
  return { data: { events: shown, notes }, text, code: 0 };
}

/** Those of the object and of everything below it: a Deployment's pods speak for Keystone. */
function aboutOne(view: View, given: string): readonly Happening[] {
  const object = objectNamed(view, given);
  const uids = new Set([object, ...below(view, object)].map(one => one.metadata.uid));
  return view.events().filter(event => uids.has(event.uid));
}
