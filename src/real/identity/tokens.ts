import { refused, rejected, stranger } from '../../cloud/faults.ts';
import type { IdentityAddress } from '../../cloud/ports.ts';
import type { Clock } from '../../world/clock.ts';
import { digestOf } from '../../world/digest.ts';
import { Lru } from '../../world/lru.ts';
import type { Http, HttpAnswer } from '../http/http.ts';

/** `keystone-manage bootstrap` gives the Default domain this id. */
export const DOMAIN = 'default';
/** A token is renewed this long before its end, so that none ends under way. */
const MARGIN = 300_000;

interface Token {
  readonly id: string;
  readonly project: string;
  /** On the monotonic clock. */
  readonly until: number;
}

/** Users of one process: each service of each cloud, and its admin. */
const MOST_TOKENS = 1000;

/** By a digest of address, user and password. Shared by every Identity of a process: a token per call would be most of Keystone's work. */
export type Tokens = Lru<string, Token>;
export const createTokens = (): Tokens => new Lru(MOST_TOKENS);

interface TokenBody {
  readonly issued_at: string;
  readonly expires_at: string;
  readonly project?: { readonly id: string };
}

const tokenIn = (body: unknown): TokenBody | undefined => {
  const { token } = (body ?? {}) as { token?: TokenBody };
  return typeof token === 'object' && token !== null ? token : undefined;
};

/** What an API says of its refusal: each has its own envelope around `message` or, in a list, `detail`. */
export function said(body: unknown): string {
  const [inner] = typeof body === 'object' && body !== null ? Object.values(body).flat() : [];
  const { message, detail } = (inner ?? {}) as { message?: unknown; detail?: unknown };
  const text = message ?? detail;
  return typeof text === 'string' ? ` (${text.trim().slice(0, 200)})` : '';
}

interface Who {
  readonly user: string;
  readonly password: string;
  /** Scope; none where only the password matters. */
  readonly project: string | undefined;
  /** Id of the domain that the user is in. */
  readonly home: string;
}

/** Requests with a token of our own, which is kept from one to the next. */
export class Session {
  readonly base: string;
  readonly host: string;
  readonly #at: IdentityAddress;
  readonly #http: Http;
  readonly #clock: Clock;
  readonly #tokens: Tokens;
  readonly #ca: { readonly ca?: string };
  readonly #self: Who;

  constructor(at: IdentityAddress, http: Http, clock: Clock, tokens: Tokens) {
    this.#at = at;
    this.#http = http;
    this.#clock = clock;
    this.#tokens = tokens;
    this.base = `${at.url.replace(/\/$/, '').replace(/\/v3$/, '')}/v3`;
    this.host = new URL(this.base).host;
    this.#ca = at.ca === undefined ? {} : { ca: at.ca };
    this.#self = { user: at.user, password: at.password, project: at.project, home: DOMAIN };
  }

  async check(): Promise<void> {
    if (!(await this.opens(this.#self))) throw refused('Keystone', this.host, this.#at.user);
  }

  /** The project that its token is for, asked for where none is held. */
  async project(): Promise<string> {
    if (this.#held(this.#self) === undefined) await this.#ownToken();
    return this.#tokens.get(this.#keyOf(this.#self))?.project ?? '';
  }

  #keyOf({ user, password, project, home }: Who): string {
    return digestOf(this.base, user, password, project, home);
  }

  /** undefined when the password is wrong. */
  async #authenticate({ user, password, project, home }: Who): Promise<HttpAnswer | undefined> {
    const domain = { id: home };
    const identity = { methods: ['password'], password: { user: { name: user, domain, password } } };
    const scope = project === undefined ? 'unscoped' : { project: { name: project, domain } };
    const answer = await this.#http('Keystone', 'POST', `${this.base}/auth/tokens`, {
      body: { auth: { identity, scope } },
      ...this.#ca,
    });
    if (answer.status === 401) return undefined;
    if (answer.status !== 201) throw this.failure('POST /v3/auth/tokens', answer);
    return answer;
  }

  /** A token by password, kept for the next time; undefined when the password is wrong. */
  async #issue(who: Who): Promise<string | undefined> {
    const answer = await this.#authenticate(who);
    if (answer === undefined) return undefined;
    const id = answer.headers['x-subject-token'];
    const token = tokenIn(answer.body);
    const lifetime = Date.parse(token?.expires_at ?? '') - Date.parse(token?.issued_at ?? '');
    // Taken for a wrong password, it would be set anew.
    if (typeof id !== 'string' || token === undefined || Number.isNaN(lifetime))
      throw stranger('Keystone', this.host, 'POST /v3/auth/tokens');
    this.#tokens.set(this.#keyOf(who), {
      id,
      project: token.project?.id ?? '',
      until: this.#clock.now() + lifetime - MARGIN,
    });
    return id;
  }

  async #ownToken(): Promise<string> {
    const id = await this.#issue(this.#self);
    if (id === undefined) throw refused('Keystone', this.host, this.#at.user);
    return id;
  }

  #held(who: Who): string | undefined {
    const token = this.#tokens.get(this.#keyOf(who));
    return token && this.#clock.now() < token.until ? token.id : undefined;
  }

  /**
   * Whether this password opens the door. Keystone hashes slowly on purpose, a third of a second of its processor each
   * time, and every pass asks: so a token that the password once gave is shown instead. Keystone forgets it when the
   * password changes, the user goes, or the keys are lost.
   */
  async opens(who: Who): Promise<boolean> {
    const id = this.#held(who);
    if (id !== undefined) {
      const headers = { 'x-auth-token': id, 'x-subject-token': id };
      const { status, body } = await this.#http('Keystone', 'GET', `${this.base}/auth/tokens?nocatalog`, {
        headers,
        ...this.#ca,
      });
      if (status === 200 && tokenIn(body) === undefined) throw stranger('Keystone', this.host, 'GET /v3/auth/tokens');
      if (status === 200) return true;
      this.#tokens.delete(this.#keyOf(who));
    }
    return (await this.#issue(who)) !== undefined;
  }

  /** With our token; a token that was revoked meanwhile is replaced once. */
  async send(method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', url: string, body?: unknown): Promise<HttpAnswer> {
    const what = url.startsWith(this.base) ? 'Keystone' : 'The service';
    const ask = (id: string) => this.#http(what, method, url, { headers: { 'x-auth-token': id }, body, ...this.#ca });
    const first = await ask(this.#held(this.#self) ?? (await this.#ownToken()));
    if (first.status !== 401) return first;
    return ask(await this.#ownToken());
  }

  failure(what: string, answer: HttpAnswer): Error {
    if (answer.status >= 500) {
      const cure = 'look at the log of its pods, its database or its fernet keys may be missing';
      return rejected('Keystone', this.host, `${what}: status ${answer.status}; ${cure}`);
    }
    return rejected('Keystone', this.host, `${what}: status ${answer.status}${said(answer.body)}`);
  }
}
