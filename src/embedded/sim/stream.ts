import { NoAnswer, type Request, type WatchEvent } from '../../kube/transport.ts';

/** What a watch carries: events, the server's end, or a broken connection. */
export type Item = WatchEvent | 'end' | 'cut';

/** Carries an item to the client's side and calls `arrive` there; keeps the order. */
export type Wire = (item: Item, arrive: () => void) => void;

/** The client's end of one watch: what arrived, and the reader that waits for it. */
export class Stream {
  readonly request: Request;
  closed: () => void = () => {};
  readonly #wire: Wire;
  readonly #arrived: Item[] = [];
  /** open: items travel. cut: what was under way is lost. over: nobody reads any more. */
  #state: 'open' | 'cut' | 'over' = 'open';
  #wake: () => void = () => {};

  constructor(request: Request, wire: Wire) {
    this.request = request;
    this.#wire = wire;
  }

  push(item: Item): void {
    if (this.#state !== 'open') return;
    this.#wire(item, () => {
      if (this.#state === 'open') this.#arrive(item);
    });
  }

  cut(): void {
    if (this.#state !== 'open') return;
    this.#state = 'cut';
    this.closed();
    this.#wire('cut', () => this.#arrive('cut'));
  }

  close(): void {
    if (this.#state === 'over') return;
    this.#state = 'over';
    this.closed();
    this.#wake();
  }

  #arrive(item: Item): void {
    this.#arrived.push(item);
    this.#wake();
  }

  async *read(): AsyncGenerator<WatchEvent> {
    try {
      for (;;) {
        while (this.#arrived.length === 0 && this.#state !== 'over') {
          await new Promise<void>(resolve => {
            this.#wake = resolve;
          });
        }
        if (this.#state === 'over') return;
        const item = this.#arrived.shift()!;
        if (item === 'end') return;
        if (item === 'cut') throw new NoAnswer(`watch ${this.request.path}: the connection broke`);
        yield item;
      }
    } finally {
      this.close();
    }
  }
}
