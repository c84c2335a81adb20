import { type Agent, request } from 'undici';

/** A person with a browser: follows redirects and keeps cookies. */
export class Visitor {
  readonly #agent: Agent;
  readonly #base: string;
  readonly #cookies = new Map<string, string>();

  constructor(base: string, agent: Agent) {
    this.#base = base;
    this.#agent = agent;
  }

  async #send(path: string, form?: Record<string, string>): Promise<{ status: number; text: string; to?: string }> {
    const url = new URL(path, this.#base).href;
    const answer = await request(url, {
      dispatcher: this.#agent,
      method: form ? 'POST' : 'GET',
      headers: {
        accept: 'text/html',
        // Django compares it with its own name where TLS is.
        referer: url,
        cookie: [...this.#cookies].map(pair => pair.join('=')).join('; '),
        ...(form && { 'content-type': 'application/x-www-form-urlencoded' }),
      },
      ...(form && { body: new URLSearchParams(form).toString() }),
    });
    for (const line of [answer.headers['set-cookie'] ?? []].flat()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (name !== undefined) this.#cookies.set(name, value ?? '');
    }
    const to = answer.headers.location;
    return { status: answer.statusCode, text: await answer.body.text(), ...(typeof to === 'string' && { to }) };
  }

  /** A page, wherever it leads. */
  async page(path: string, form?: Record<string, string>): Promise<{ path: string; text: string }> {
    let [at, answer] = [path, await this.#send(path, form)];
    for (let turn = 0; answer.to !== undefined && turn < 8; turn++) {
      at = answer.to;
      answer = await this.#send(at);
    }
    if (answer.status !== 200) throw new Error(`${at}: status ${answer.status} ${answer.text.slice(0, 300)}`);
    return { path: new URL(at, this.#base).pathname, text: answer.text };
  }

  /** Fills in the form of Horizon; answers with the page that follows. */
  async login(username: string, password: string): Promise<{ path: string; text: string }> {
    const { text } = await this.page('/auth/login/');
    const [, token] = /name="csrfmiddlewaretoken" value="([^"]+)"/.exec(text) ?? [];
    if (token === undefined) throw new Error(`the page has no form to log in: ${text.slice(0, 300)}`);
    const [, region = 'default'] = /name="region" value="([^"]*)"/.exec(text) ?? [];
    return this.page('/auth/login/', { csrfmiddlewaretoken: token, username, password, region });
  }
}
