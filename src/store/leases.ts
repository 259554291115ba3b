/** Leases of queued rows: until one expires, its holder alone attempts the row. Times are real time. */

export interface NewLease {
  /** The instance, as in `Dependencies`. */
  readonly holder: string;
  readonly until: number;
}

export interface StaleLeases {
  /** A starting instance: leases it holds are left from its previous run. */
  readonly holder: string;
  readonly realNow: number;
}

/**
 * SQL: the row's lease is left from a previous run of instance `:holder`, from before leases had holders, or expired at
 * `:realNow`. Leases of other running instances are none of these.
 */
export const IS_STALE =
  'leased_until IS NOT NULL AND (lease_holder = :holder OR lease_holder IS NULL OR leased_until <= :realNow)';
