import type { AnyKind } from '../../../api/schema/kind.ts';
import type { Identity } from '../../cloud/ports.ts';
import type { Cx } from '../../runtime/plan/cx.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import { type Row, rowsOf } from '../../runtime/plan/row.ts';
import { standsInCatalog } from './catalog.ts';
import type { Entry } from './expose.ts';
import type { Service } from './table.ts';

/** Keystone with the rights to write the catalog; undefined where there are none. */
type Admin<O extends Managed> = (cx: Cx<O>, leaving?: boolean) => Promise<Identity | undefined>;

/** EndpointsReady: the catalog knows where it is. */
export const endpointsRow = <O extends Managed, N extends Readonly<Record<string, Row<O, unknown>>>>(
  needs: N,
  of: {
    readonly kind: AnyKind;
    /** Absent where this source has none: the row is off. */
    readonly admin: Admin<O> | undefined;
    /** Types that it may have in the catalog. */
    readonly types: readonly string[];
    readonly entries: (
      cx: Cx<O>,
      needed: { [K in keyof N]: N[K] extends Row<O, infer T> ? T : never },
    ) => readonly Entry[];
  },
) =>
  rowsOf<O>()('EndpointsReady', {
    needs,
    when: () => of.types.length > 0 && of.admin !== undefined,
    reads: of.types.length > 0 ? [of.kind] : [],
    run: async (cx, needed) => {
      const entries = of.entries(cx, needed as never);
      const admin = await of.admin?.(cx);
      if (admin && (await standsInCatalog(cx, of.kind)))
        for (const { type, name, ...endpoints } of entries)
          await admin.ensureService({ name, type, endpoints }, await cx.claim());
    },
    undo: async cx => {
      const admin = cx.acted() ? await of.admin?.(cx, true) : undefined;
      for (const type of of.types) await admin?.dropService(type, await cx.owner());
    },
  });

/** What a service's table says of the catalog. */
export const catalogOf = <O extends Managed, S, I>({ catalog, alsoCatalog = [] }: Service<O, S, I>) => ({
  types: catalog ? [catalog, ...alsoCatalog].map(({ type }) => type) : [],
  entries: (_cx: Cx<O>, { expose }: { readonly expose: readonly Entry[] }) => expose,
});
