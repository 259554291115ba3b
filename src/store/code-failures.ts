/** Wrong codes and their origin. Callers set the limits; a row is kept as long as any limit looks back. */
import { only } from '../core/required.ts';
import type { Unit } from '../db/database.ts';
import { raw, rawChange } from '../db/statements.ts';
import type { CodeOwner } from './codes.ts';

export interface CodeOrigin {
  /** The client address, for IPv6 its /64 prefix; null if there is no address. */
  readonly addressBlock: string | null;
  /** The browser that recognizes the person; null if none does. */
  readonly browser: string | null;
}

const insert = rawChange<[string, string, string, number, string | null, string | null]>(
  `INSERT INTO code_failures (application_id, email, purpose, failed_at, address_block, browser)
   VALUES (?, ?, ?, ?, ?, ?)`,
);

export async function insertCodeFailure(
  unit: Unit,
  { applicationId, email, purpose }: CodeOwner,
  { addressBlock, browser }: CodeOrigin,
): Promise<void> {
  await insert(unit, applicationId, email, purpose, unit.now, addressBlock, browser);
}

const unsetBlock = rawChange<[string, string, string, string]>(
  'UPDATE code_failures SET address_block = NULL WHERE application_id = ? AND email = ? AND purpose = ? AND address_block = ?',
);

/** Stops counting an owner's wrong codes against an address prefix; they still count against the owner. */
export async function forgiveBlock(
  unit: Unit,
  { applicationId, email, purpose }: CodeOwner,
  addressBlock: string,
): Promise<void> {
  await unsetBlock(unit, applicationId, email, purpose, addressBlock);
}

/** The last wrong code of a kind, and the number in the window that ends with it. */
export interface CodeFailures {
  readonly count: number;
  /** Null if there is none. */
  readonly lastAt: number | null;
}

/**
 * `+?` keeps SQLite from re-planning the statement at each call, which takes 50 times as long as running it.
 * Failures dated after now are ignored: after the clock went back they would lock codes until it catches up.
 */
function failures(condition: string, now: `?${number}`): string {
  return `SELECT count(*) AS count, max(failed_at) AS "lastAt" FROM code_failures
    WHERE ${condition} AND failed_at <= +${now} AND failed_at > (
      SELECT max(failed_at) FROM code_failures WHERE ${condition} AND failed_at <= +${now}) - ?1`;
}

const OF_OWNER = 'application_id = +?2 AND email = +?3 AND purpose = +?4';
type OwnerValues = [number, string, string, string, number];

const unknownOfOwner = raw<CodeFailures, OwnerValues>(failures(`${OF_OWNER} AND browser IS NULL`, '?5'));
const knownOfOwner = raw<CodeFailures, OwnerValues>(failures(`${OF_OWNER} AND browser IS NOT NULL`, '?5'));
const ofBrowser = raw<CodeFailures, [...OwnerValues, string]>(failures(`${OF_OWNER} AND browser = +?6`, '?5'));
const ofBlock = raw<CodeFailures, [number, string, number]>(failures('address_block = +?2 AND browser IS NULL', '?3'));

/** Returns an owner's failures, in recognized browsers or in all others. @param windowMs ends with the last one. */
export async function findFailuresOfOwner(
  unit: Unit,
  { applicationId, email, purpose }: CodeOwner,
  { isKnown, windowMs }: { readonly isKnown: boolean; readonly windowMs: number },
): Promise<CodeFailures> {
  return only(await (isKnown ? knownOfOwner : unknownOfOwner)(unit, windowMs, applicationId, email, purpose, unit.now));
}

/** Returns an owner's failures in one browser. */
export async function findFailuresInBrowser(
  unit: Unit,
  { applicationId, email, purpose }: CodeOwner,
  browser: string,
  windowMs: number,
): Promise<CodeFailures> {
  return only(await ofBrowser(unit, windowMs, applicationId, email, purpose, unit.now, browser));
}

/** Returns the failures of all owners from one address prefix, without those in recognized browsers. */
export async function findFailuresFromBlock(unit: Unit, addressBlock: string, windowMs: number): Promise<CodeFailures> {
  return only(await ofBlock(unit, windowMs, addressBlock, unit.now));
}

const nthNewest = raw<{ failedAt: number }, [number, number, number]>(
  `SELECT failed_at AS "failedAt" FROM code_failures WHERE failed_at > ?1 AND failed_at <= ?3 AND browser IS NULL
   ORDER BY failed_at DESC LIMIT 1 OFFSET ?2`,
);

/**
 * Returns when the n-th newest failure since a time was, over all owners; null if there are fewer.
 * Excludes recognized browsers. @param position 1 is the newest.
 */
export async function findFailureTime(unit: Unit, since: number, position: number): Promise<number | null> {
  const [row] = await nthNewest(unit, since, position - 1, unit.now);
  return row?.failedAt ?? null;
}
