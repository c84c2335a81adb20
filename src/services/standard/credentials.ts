import { Secret } from '../../kube/resource.ts';
import type { Managed } from '../../runtime/plan/managed.ts';
import { type Row, rowsOf } from '../../runtime/plan/row.ts';
import { busLink } from '../links/bus.ts';
import { identityLink } from '../links/identity.ts';
import type { BusLink, IdentityLink } from '../links/types.ts';

/** The ways to bus and Keystone. */
export interface Credentials {
  readonly bus: BusLink | undefined;
  readonly identity: IdentityLink | undefined;
}

/** CredentialsReady: users and passwords that are made here, before bus and Keystone run. */
export const credentialsRow = <O extends Managed>(needs: { readonly bus: boolean }) =>
  rowsOf<O>()('CredentialsReady', {
    manages: [Secret],
    run: async (cx): Promise<Credentials> => {
      const [bus, identity] = await cx.all([needs.bus ? busLink(cx) : Promise.resolve(undefined), identityLink(cx)]);
      return { bus, identity };
    },
  });

/** The same from hand-made Secrets: what the two rows of their links have read. */
export const givenCredentialsRow = <O extends Managed>(
  needs: { readonly messageBus: Row<O, BusLink | undefined>; readonly identity: Row<O, IdentityLink | undefined> },
  when: () => boolean,
) =>
  rowsOf<O>()('CredentialsReady', {
    needs,
    when,
    run: async (_cx, { messageBus: bus, identity }): Promise<Credentials> => ({ bus, identity }),
  });
