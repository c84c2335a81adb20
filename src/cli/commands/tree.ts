import { linesOf, treeOf } from '../../insight/status/tree.ts';
import type { Paper } from '../terminal/print.ts';
import type { Answer, Invocation } from './command.ts';
import { STYLES } from './status.ts';

export async function tree(cx: Invocation): Promise<Answer> {
  const { view, notes, namespace, where } = await cx.snapshot();
  const nodes = treeOf(view);
  const text = (paper: Paper): string => {
    const none = `No cloud ${namespace === undefined ? 'in any namespace' : `in namespace ${namespace}`} of ${where}.`;
    const lines = linesOf(nodes, cx.flags.expand === true).map(({ indent, label, state, text: said }) => {
      const room =
        paper.width === undefined ? said.length : Math.max(10, paper.width - indent.length - label.length - 2);
      const shown = said.length > room ? `${said.slice(0, room - 1)}…` : said;
      return `${paper.paint('gray', indent)}${label}  ${paper.paint(STYLES[state], shown)}`;
    });
    return [...(nodes.length === 0 ? [none] : lines), ...notes.map(note => `Note: ${note}`)].join('\n');
  };
  return { data: { tree: nodes, notes }, text, code: nodes.every(node => node.state === 'ready') ? 0 : 1 };
}
