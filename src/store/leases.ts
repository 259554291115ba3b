/** Leases of queued rows: until one expires, its holder alone attempts the row. Times are real time. */
import type { Claim } from '../core/lease-keeper.ts';
import type { Unit } from '../db/database.ts';
import { change, type Dialect, query } from '../db/statements.ts';

export interface NewLease {
  /** The instance, as in `Dependencies`. */
  readonly holder: string;
  readonly until: number;
  readonly realNow: number;
}

export interface StaleLeases {
  /** A starting instance: leases it holds are left from its previous run. Empty for a running one. */
  readonly holder: string;
  readonly realNow: number;
}

/**
 * SQL: the row's lease is left from a previous run of instance `:holder`, from before leases had holders, or expired at
 * `:realNow`. Leases of other running instances are none of these.
 */
export const IS_STALE =
  'leased_until IS NOT NULL AND (lease_holder = :holder OR lease_holder IS NULL OR leased_until <= :realNow)';

/** SQL: no instance holds the row at `:realNow`. */
export const IS_FREE = '(leased_until IS NULL OR leased_until <= :realNow)';

/** SQL: the row is one of the claims whose values are {@link claimValues}. */
export const matchesClaims = ({ idList }: Dialect) =>
  `id IN ${idList(':ids')} AND id || ' ' || attempts IN ${idList(':claims')}`;

export interface ClaimValues {
  readonly ids: readonly string[];
  /** The same with their attempts. */
  readonly claims: readonly string[];
}

export function claimValues(claims: readonly Claim[]): ClaimValues {
  return {
    ids: claims.map(({ id }) => id),
    claims: claims.map(({ id, attempts }) => `${id} ${attempts}`),
  };
}

interface LeasedTable {
  readonly table: 'mails' | 'deliveries';
  /** The status of rows to be attempted. */
  readonly open: 'queued' | 'pending';
  /** Columns of a leased row. */
  readonly columns: string;
}

/** Declares how rows of a table are leased, each in one statement for any number of rows. */
export function leases<Row>({ table, open, columns }: LeasedTable) {
  /** Leaves out rows that others lease or record now: nobody waits, so that no two instances can deadlock. */
  const claimed = (dialect: Dialect, condition = '') =>
    `id IN (SELECT id FROM ${table} WHERE ${matchesClaims(dialect)} AND status = '${open}' ${condition} ${dialect.skipLocked})`;

  const take = change.rows<Row, NewLease & ClaimValues>(
    (dialect) => `UPDATE ${table} SET leased_until = :until, lease_holder = :holder, attempts = attempts + 1
     WHERE ${claimed(dialect, `AND ${IS_FREE}`)} RETURNING ${columns}`,
  );

  const extend = change.values<string, ClaimValues & { until: number }>(
    (dialect) => `UPDATE ${table} SET leased_until = :until WHERE ${claimed(dialect)} RETURNING id`,
  );

  const untake = change<ClaimValues & { holder: string }>(
    (dialect) => `UPDATE ${table} SET leased_until = NULL, attempts = attempts - 1
     WHERE ${claimed(dialect, 'AND leased_until IS NOT NULL AND lease_holder = :holder')}`,
  );

  const valid = query.values<string, ClaimValues>(
    (dialect) => `SELECT id FROM ${table} WHERE ${matchesClaims(dialect)} AND status = '${open}'`,
  );

  return {
    /**
     * Leases rows and counts the attempts. @param claims with the attempts as they were read: a row that was attempted
     * since is left out.
     */
    async take(unit: Unit, claims: readonly Claim[], lease: NewLease): Promise<Row[]> {
      return claims.length === 0 ? [] : take(unit, { ...claimValues(claims), ...lease });
    },
    /** Moves the end of leases. @returns the ids of the claims that are still valid. */
    async renew(unit: Unit, claims: readonly Claim[], until: number): Promise<string[]> {
      const renewed = await extend(unit, { ...claimValues(claims), until });
      if (renewed.length === claims.length) return renewed;
      // A row left out may be locked by the change that records it.
      return valid(unit, claimValues(claims));
    },
    /** Ends leases whose attempts never began, and does not count these. */
    async release(unit: Unit, claims: readonly Claim[], holder: string): Promise<void> {
      if (claims.length > 0) await untake(unit, { ...claimValues(claims), holder });
    },
  };
}
