import { stranger } from '../../cloud/faults.ts';
import { type Claim, isWithin, markOf, type Owner, readMark } from '../../cloud/ownership.ts';
import type { CatalogEntry, Changed } from '../../cloud/ports.ts';
import { settle } from '../../cloud/settle.ts';
import { type EndpointRow, isManaged, isRow, marked, markIn, type Row, type Rows, type ServiceRow } from './rows.ts';

const kindIn = ({ object }: Owner): string | undefined => object.split('/')[0];

/** Services and their endpoints in one region. */
export class Catalog {
  readonly #rows: Rows;
  readonly #region: string;

  constructor(rows: Rows, region: string) {
    this.#rows = rows;
    this.#region = region;
  }

  async #ensureEndpoints(service: ServiceRow, entry: CatalogEntry, claim: Claim): Promise<Changed> {
    const rows = (await this.#rows.list<EndpointRow>('endpoints', { service_id: service.id })).filter(
      e => e.region_id === this.#region,
    );
    let changed = false;
    for (const interface_ of ['public', 'internal', 'admin'] as const) {
      const url = entry.endpoints[interface_];
      const have = rows.filter(e => e.interface === interface_);
      const keep = url === undefined ? undefined : (have.find(e => e.url === url) ?? have[0]);
      if (url !== undefined && keep === undefined) {
        const region = await this.#rows.keystone<{ region: Row }>('GET', `/regions/${this.#region}`);
        if (region && !isRow(region.region))
          throw stranger('Keystone', this.#rows.host, `GET /v3/regions/${this.#region}`);
        if (region === undefined) await this.#rows.make('regions', 'region', { id: this.#region });
        const row = { service_id: service.id, region_id: this.#region, interface: interface_, url };
        await this.#rows.make('endpoints', 'endpoint', { ...row, ...marked(claim.owner) });
        changed = true;
      }
      const owned = keep !== undefined && markIn(keep) === markOf(claim.owner);
      if (keep !== undefined && (keep.url !== url || keep.enabled === false || !owned)) {
        await this.#rows.change('endpoints', 'endpoint', keep.id, { url, enabled: true, ...marked(claim.owner) });
        changed = true;
      }
      // Two rows for one interface and region make clients pick at random. The entry is ours, and so is its region.
      for (const extra of have.filter(e => e !== keep && (url !== undefined || isManaged(e)))) {
        await this.#rows.remove('endpoints', extra.id);
        changed = true;
      }
    }
    return changed;
  }

  /** The entry of a type as this object's: those of its kind in its namespace stand in it one after the other. */
  async #mayWrite(row: ServiceRow, entry: CatalogEntry, claim: Claim): Promise<boolean> {
    const mark = readMark(markIn(row));
    if (mark && mark.id === claim.owner.id && kindIn(mark) === kindIn(claim.owner)) return false;
    const found = { what: 'Catalog entry', name: entry.type, where: `Keystone ${this.#rows.host}`, text: markIn(row) };
    return settle(found, claim, async () => {
      const rows = await this.#rows.list<EndpointRow>('endpoints', { service_id: row.id });
      const here = rows.filter(e => e.region_id === this.#region);
      // It leads to this object's own Service, or was made by this operator and leads nowhere yet.
      return here.some(e => e.url === entry.endpoints.internal) || (isManaged(row) && here.length === 0);
    });
  }

  async ensureService(entry: CatalogEntry, claim: Claim): Promise<Changed> {
    const { name, type, description } = entry;
    const wanted = { name, enabled: true, ...(description !== undefined && { description }) };
    const found = await this.#rows.list<ServiceRow>('services', { type });
    let changed = false;
    let mine = found.find(s => s.name === name) ?? found[0];
    if (mine === undefined) {
      mine = await this.#rows.make<ServiceRow>('services', 'service', { ...wanted, type, ...marked(claim.owner) });
      changed = true;
    } else {
      const adopt = await this.#mayWrite(mine, entry, claim);
      const described = description === undefined || mine.description === description;
      const owned = !adopt && markIn(mine) === markOf(claim.owner);
      if (mine.name !== name || !described || mine.enabled === false || !owned) {
        await this.#rows.change('services', 'service', mine.id, { ...wanted, ...marked(claim.owner) });
        changed = true;
      }
    }
    for (const twin of found.filter(s => s !== mine && readMark(markIn(s))?.id === claim.owner.id)) {
      await this.#rows.remove('services', twin.id);
      changed = true;
    }
    return (await this.#ensureEndpoints(mine, entry, claim)) || changed;
  }

  async dropService(type: string, owner: Owner): Promise<Changed> {
    let changed = false;
    for (const service of await this.#rows.list<ServiceRow>('services', { type })) {
      if (!isWithin(readMark(markIn(service)), owner)) continue;
      const rows = await this.#rows.list<EndpointRow>('endpoints', { service_id: service.id });
      const ours = rows.filter(e => e.region_id === this.#region);
      for (const row of ours) await this.#rows.remove('endpoints', row.id);
      // Another region may still use the entry.
      const last = ours.length === rows.length;
      if (last) await this.#rows.remove('services', service.id);
      changed ||= ours.length > 0 || last;
    }
    return changed;
  }
}
