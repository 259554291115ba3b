/** Wrong codes and their origin. Callers set the limits; a row is kept as long as any limit looks back. */
import { required } from '../core/required.ts';
import type { Unit } from '../db/database.ts';
import { change, pipelinedChange, query } from '../db/statements.ts';
import type { CodeOwner } from './codes.ts';

export interface CodeOrigin {
  /** The client address, for IPv6 its /64 prefix; null if there is no address. */
  readonly addressBlock: string | null;
  /** The browser that recognizes the person; null if none does. */
  readonly browser: string | null;
}

export const insertCodeFailure = change<CodeOwner & CodeOrigin>(
  `INSERT INTO code_failures (application_id, email, purpose, failed_at, address_block, browser)
   VALUES (:applicationId, :email, :purpose, :now, :addressBlock, :browser)`,
);

/** Stops counting an owner's wrong codes against an address prefix; they still count against the owner. */
export const deleteFailuresFromPrefix = pipelinedChange<CodeOwner & { addressBlock: string }>(
  `UPDATE code_failures SET address_block = NULL
   WHERE application_id = :applicationId AND email = :email AND purpose = :purpose AND address_block = :addressBlock`,
);

/** The last wrong code of a kind, and the number in the window that ends with it. */
export interface CodeFailures {
  readonly count: number;
  readonly lastAt: number | null;
}

interface FailureWindow {
  /** Ends with the last failure. */
  readonly windowMs: number;
}

/** Ignores failures dated after now: after the clock went back they would lock codes until it catches up. */
function failures<Of extends object>(condition: string) {
  const find = query.row<CodeFailures, Of & FailureWindow & { now: number }>(
    `SELECT count(*) AS count, max(failed_at) AS "lastAt" FROM code_failures
     WHERE ${condition} AND failed_at <= :now AND failed_at > (
       SELECT max(failed_at) FROM code_failures WHERE ${condition} AND failed_at <= :now) - :windowMs`,
  );
  return async (unit: Unit, values: Of & FailureWindow): Promise<CodeFailures> =>
    required(await find(unit, { ...values, now: unit.now }), 'a count');
}

const OF_OWNER = 'application_id = :applicationId AND email = :email AND purpose = :purpose';

/** Returns an owner's failures in recognized browsers. */
export const findFailuresOfKnown = failures<CodeOwner>(`${OF_OWNER} AND browser IS NOT NULL`);

/** Returns an owner's failures in browsers that are not recognized. */
export const findFailuresOfUnknown = failures<CodeOwner>(`${OF_OWNER} AND browser IS NULL`);

export const findFailuresInBrowser = failures<CodeOwner & { browser: string }>(`${OF_OWNER} AND browser = :browser`);

/** Returns the failures of all owners from one address prefix, without those in recognized browsers. */
export const findFailuresFromPrefix = failures<{ addressBlock: string }>(
  'address_block = :addressBlock AND browser IS NULL',
);

const nthNewest = query.value<number, { since: number; skipped: number; now: number }>(
  `SELECT failed_at FROM code_failures WHERE failed_at > :since AND failed_at <= :now AND browser IS NULL
   ORDER BY failed_at DESC LIMIT 1 OFFSET :skipped`,
);

/** Returns the time of the n-th newest failure (from 1) of any owner in unrecognized browsers; null if too few. */
export async function findFailureTime(unit: Unit, since: number, position: number): Promise<number | null> {
  return (await nthNewest(unit, { since, skipped: position - 1, now: unit.now })) ?? null;
}
