import type { BusAddress, IdentityAddress, SqlAddress } from './ports.ts';

export type Where =
  | { readonly port: 'sql'; readonly address: SqlAddress }
  | { readonly port: 'bus'; readonly address: BusAddress }
  | { readonly port: 'identity'; readonly address: IdentityAddress };

/** A call that makes something, as the row sent it: passwords included. */
export type Call = Where & {
  /** The object whose row asks: `Keystone keystone`. */
  readonly by: string;
  readonly method: string;
  readonly args: readonly unknown[];
};
