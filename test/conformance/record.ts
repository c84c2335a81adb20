import type { Request, Response, Transport, WatchEvent } from '../../src/kube/transport.ts';

/** One exchange with a real API server, in the order in which the answers came. */
export interface Exchange {
  readonly user: string;
  readonly request: Request;
  readonly response: Response;
  /** A watch: the answer is its status and what came up to the bookmark that ends the initial events. */
  readonly watch?: { readonly initial: readonly WatchEvent[] };
}

/** Keeps what every wrapped client asks, and what it hears. One journal serves all clients of a server. */
export class Journal {
  readonly exchanges: Exchange[] = [];

  static parse(lines: string): Journal {
    const journal = new Journal();
    for (const line of lines.split('\n')) if (line !== '') journal.exchanges.push(JSON.parse(line) as Exchange);
    return journal;
  }

  toString(): string {
    return this.exchanges.map(e => `${JSON.stringify(e)}\n`).join('');
  }

  readonly wrap = (user: string, to: Transport): Transport => ({
    send: async (request, signal) => {
      const sent = copy(request);
      const response = await to.send(request, signal);
      this.exchanges.push({ user, request: sent, response: copy(response) });
      return response;
    },
    watch: async (request, signal) => {
      const sent = copy(request);
      const answer = await to.watch(request, signal);
      if ('refusal' in answer) {
        this.exchanges.push({ user, request: sent, response: copy(answer.refusal), watch: { initial: [] } });
        return answer;
      }
      const initial: WatchEvent[] = [];
      this.exchanges.push({
        user,
        request: sent,
        response: { status: answer.status, headers: {}, body: undefined },
        watch: { initial },
      });
      return { status: 200, events: keepInitial(answer.events, initial) };
    },
  });
}

async function* keepInitial(events: AsyncIterable<WatchEvent>, initial: WatchEvent[]): AsyncGenerator<WatchEvent> {
  let open = true;
  for await (const event of events) {
    if (open) {
      initial.push(copy(event));
      open = event.type !== 'BOOKMARK';
    }
    yield event;
  }
}

/** Clients strip what they received in place; the journal keeps what was on the wire. */
const copy = <T>(value: T): T => (value === undefined ? value : (JSON.parse(JSON.stringify(value)) as T));
