import type { Managed } from '../../runtime/plan/managed.ts';
import { type Row, rowsOf } from '../../runtime/plan/row.ts';
import { dropIdentity, ensureIdentity, readIdentity } from '../links/identity.ts';
import type { IdentityLink } from '../links/types.ts';
import { secretIn } from './fields.ts';

/** IdentityReady: Keystone has the user that the credentials name. */
export const identityRow = <O extends Managed>(needs: {
  readonly credentials: Row<O, { readonly identity: IdentityLink | undefined }>;
}) =>
  rowsOf<O>()('IdentityReady', {
    needs,
    run: async (cx, { credentials: { identity } }) => identity && ensureIdentity(cx, identity),
    undo: cx => dropIdentity(cx),
  });

/** The same from a hand-made Secret; off where no field names one. */
export const givenIdentityRow = <O extends Managed>(field: string | undefined) =>
  rowsOf<O>()('IdentityReady', {
    when: () => field !== undefined,
    run: cx => readIdentity(cx, secretIn(cx.object, field ?? ''), `spec.${field}`),
  });
