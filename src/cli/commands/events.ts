import { ageOf } from '../../insight/age.ts';
import { eventsBelow, redacted } from '../../insight/status/detail.ts';
import { type Paper, table, wrapped } from '../terminal/print.ts';
import type { Answer, Invocation } from './command.ts';
import { objectNamed } from './why.ts';

export async function events(cx: Invocation): Promise<Answer> {
  const { view, notes } = await cx.snapshot();
  const { warnings } = cx.flags as { warnings?: boolean };
  const all = cx.args[0] === undefined ? view.events() : eventsBelow(view, objectNamed(view, cx.args[0]));
  const shown = all.filter(event => !warnings || event.warning).map(redacted);
  const text = (paper: Paper): string => {
    const rows = shown.map(event => [
      ageOf(view.now - Date.parse(event.at)),
      event.warning ? ({ text: 'Warning', style: 'yellow' } as const) : 'Normal',
      `${event.kind} ${event.name}`,
      event.reason,
      event.text.replaceAll('\n', ' '),
    ]);
    const list = rows.length === 0 ? 'No events.' : table(paper, ['AGO', 'TYPE', 'OBJECT', 'REASON', 'WHAT'], rows);
    return [list, ...notes.map(note => wrapped(paper, 'Note: ', note))].join('\n\n');
  };
  return { data: { events: shown, notes }, text, code: 0 };
}
