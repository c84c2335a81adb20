import { createHash } from 'node:crypto';
import { connect } from 'node:tls';
import { Agent, request } from 'undici';
import { addressOf } from './lab.ts';

/** A machine that runs guests in emulation beside the tests answers late, but it answers. */
const PATIENCE = 120_000;

export const agentOf = (ca?: string): Agent =>
  new Agent({
    headersTimeout: PATIENCE,
    bodyTimeout: PATIENCE,
    connect: {
      timeout: 30_000,
      ...(ca && { ca }),
      lookup: (host, options, callback) =>
        void addressOf(host).then(
          address => (options.all ? callback(null, [{ address, family: 4 }]) : callback(null, address, 4)),
          error => callback(error, '', 4),
        ),
    },
  });

/** The serial number of the certificate that a server shows. */
export async function shownBy(host: string, port: number): Promise<string> {
  const address = await addressOf(host);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: address, port, servername: host, rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().serialNumber);
      socket.destroy();
    });
    socket.on('error', reject);
  });
}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';
interface Call {
  readonly body?: object | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  /** Of the compute or the volume API. */
  readonly microversion?: string;
}
interface Answer {
  readonly status: number;
  readonly token: string;
  readonly body: unknown;
}

/** Under these names services look for the version that a caller wants. */
const VERSIONED: Readonly<Record<string, string>> = { compute: 'compute', 'block-storage': 'volume' };

async function send(
  agent: Agent,
  method: Method,
  url: string,
  token: string | undefined,
  { body, headers, microversion }: Call,
  service = '',
): Promise<Answer> {
  const bytes = Buffer.isBuffer(body) ? body : body && Buffer.from(JSON.stringify(body));
  const answer = await request(url, {
    dispatcher: agent,
    method,
    headers: {
      accept: 'application/json',
      ...headers,
      ...(token && { 'x-auth-token': token }),
      ...(microversion && { 'openstack-api-version': `${VERSIONED[service]} ${microversion}` }),
      ...(bytes && { 'content-type': Buffer.isBuffer(body) ? 'application/octet-stream' : 'application/json' }),
    },
    ...(bytes && { body: bytes }),
  });
  const text = await answer.body.text();
  const issued = answer.headers['x-subject-token'];
  let parsed: unknown = text;
  try {
    parsed = JSON.parse(text);
  } catch {
    // Errors of proxies and an empty answer are text.
  }
  return { status: answer.statusCode, token: typeof issued === 'string' ? issued : '', body: parsed };
}

interface CatalogService {
  type: string;
  endpoints: { interface: string; url: string }[];
}

/** Just enough of a client for the stories, on the public endpoints of the catalog. */
export class OpenStack {
  readonly #agent: Agent;
  readonly #token: string;
  readonly catalog: ReadonlyMap<string, string>;

  private constructor(agent: Agent, token: string, catalog: ReadonlyMap<string, string>) {
    this.#agent = agent;
    this.#token = token;
    this.catalog = catalog;
  }

  /** `outside`: where the world finds Keystone, and the authority of its certificate. */
  static async login(
    namespace: string,
    password: string,
    outside?: { readonly url: string; readonly ca: string },
  ): Promise<OpenStack> {
    const agent = agentOf(outside?.ca);
    const url = outside?.url ?? `http://keystone-api.${namespace}.svc.cluster.local:5000`;
    const domain = { id: 'default' };
    const identity = { methods: ['password'], password: { user: { name: 'admin', domain, password } } };
    const { status, token, body } = await send(agent, 'POST', `${url}/v3/auth/tokens`, undefined, {
      body: { auth: { identity, scope: { project: { name: 'admin', domain } } } },
    });
    if (status !== 201) throw new Error(`no token: status ${status} ${JSON.stringify(body)}`);
    const { catalog } = (body as { token: { catalog: CatalogService[] } }).token;
    const publicUrl = (service: CatalogService) => service.endpoints.find(e => e.interface === 'public')?.url ?? '';
    return new OpenStack(agent, token, new Map(catalog.map(service => [service.type, publicUrl(service)])));
  }

  /** `T`: the part of the answer that the story reads. */
  async call<T = unknown>(service: string, method: Method, path: string, call: Call = {}): Promise<T> {
    const base = this.catalog.get(service);
    if (base === undefined) throw new Error(`the catalog has no ${service}`);
    const { status, body } = await send(this.#agent, method, base + path, this.#token, call, service);
    if (status >= 300) throw new Error(`${method} ${path}: status ${status} ${JSON.stringify(body).slice(0, 400)}`);
    return body as T;
  }

  /** The SHA-512 of what it sends. */
  async digest(service: string, path: string): Promise<string> {
    const { statusCode, body } = await request(`${this.catalog.get(service)}${path}`, {
      dispatcher: this.#agent,
      headers: { 'x-auth-token': this.#token },
    });
    if (statusCode !== 200) throw new Error(`GET ${path}: status ${statusCode} ${(await body.text()).slice(0, 400)}`);
    const hash = createHash('sha512');
    for await (const part of body) hash.update(part as Buffer);
    return hash.digest('hex');
  }

  /** What it answers at its root to anybody; some say 300, because there are several. */
  async versions(url: string): Promise<unknown> {
    const { status, body } = await send(this.#agent, 'GET', url, undefined, {});
    if (status > 300) throw new Error(`GET ${url}: status ${status} ${JSON.stringify(body).slice(0, 400)}`);
    return body;
  }

  /** Deletes everything of a list, e.g. every server. */
  async clear(service: string, path: string, key: string): Promise<void> {
    const answer = await this.call<Record<string, { id?: string; name?: string }[]>>(service, 'GET', path);
    for (const { id } of answer[key] ?? []) await this.call(service, 'DELETE', `${path.split('?')[0]}/${id}`);
  }
}
