import { stranger } from '../../cloud/faults.ts';
import { MARK, markOf, type Owner } from '../../cloud/ownership.ts';
import { DOMAIN, type Session } from './tokens.ts';
export const marked = (owner: Owner) => ({ ...MARK, openstack_operator_owner: markOf(owner) });
export const markIn = (row: Row): string => row.openstack_operator_owner ?? '';
/** Made by this operator before rows carried their owner. */
export const isManaged = (row: Row): boolean => row.managed_by === MARK.managed_by;

export interface Row {
  id: string;
  name?: string;
  enabled?: boolean;
  managed_by?: string;
  openstack_operator_owner?: string;
}
export interface ServiceRow extends Row {
  type: string;
  description?: string;
}
export interface EndpointRow extends Row {
  interface: 'public' | 'internal' | 'admin';
  region_id: string | null;
  url: string;
}

const isRecord = (body: unknown): boolean => typeof body === 'object' && body !== null && !Array.isArray(body);
export const isRow = <T extends Row>(row: T | undefined | null): row is T => typeof row?.id === 'string';

/** The rows of one Keystone, whatever they are. */
export class Rows {
  readonly host: string;
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
    this.host = session.host;
  }

  async keystone<T>(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body?: unknown,
  ): Promise<T | undefined> {
    const answer = await this.#session.send(method, `${this.#session.base}${path}`, body);
    if (answer.status === 404 && (method === 'GET' || method === 'DELETE')) return undefined;
    const what = `${method} /v3${path.split('?')[0]}`;
    if (answer.status >= 300) throw this.#session.failure(what, answer);
    // Only what was deleted, and what is set by its path alone, is answered without a body.
    if (method !== 'DELETE' && method !== 'PUT' && !isRecord(answer.body)) throw stranger('Keystone', this.host, what);
    return answer.body as T;
  }

  async list<T extends Row>(collection: string, filter: Record<string, string>): Promise<T[]> {
    const found = await this.keystone<Record<string, T[]>>('GET', `/${collection}?${new URLSearchParams(filter)}`);
    const rows = found?.[collection];
    // A collection is always there, empty or not: a 404, or anything but a list, is somebody else's answer.
    if (!Array.isArray(rows) || !rows.every(isRow)) throw stranger('Keystone', this.host, `GET /v3/${collection}`);
    return rows;
  }

  /** Projects, roles and regions are shared by all services and never deleted: they carry no owner. */
  async make<T extends Row>(collection: string, one: string, row: object): Promise<T> {
    const made = await this.keystone<Record<string, T>>('POST', `/${collection}`, { [one]: { ...row, ...MARK } });
    const fresh = made?.[one];
    if (!isRow(fresh)) throw stranger('Keystone', this.host, `POST /v3/${collection}`);
    return fresh;
  }

  async change(collection: string, one: string, id: string, fields: object): Promise<void> {
    const changed = await this.keystone<Record<string, Row>>('PATCH', `/${collection}/${id}`, { [one]: fields });
    if (!isRow(changed?.[one])) throw stranger('Keystone', this.host, `PATCH /v3/${collection}/${id}`);
  }

  remove(collection: string, id: string): Promise<unknown> {
    return this.keystone('DELETE', `/${collection}/${id}`);
  }
  async byName(collection: string, name: string, domain_id = DOMAIN): Promise<Row | undefined> {
    return (await this.list(collection, { name, domain_id }))[0];
  }
}
