/**
 * Wrong codes, each with where it came from. How many are taken in which time is for the caller to say; a row is kept as long
 * as any such rule looks back.
 */
import { only } from '../core/required.ts';
import type { Unit } from '../db/database.ts';
import { raw, rawChange } from '../db/statements.ts';
import type { CodeOwner } from './codes.ts';

/** Where a code is given. */
export interface CodeOrigin {
  /** The block of the client's address; null where it has none. */
  readonly addressBlock: string | null;
  /** The browser that the person is known in; null where they are not. */
  readonly browser: string | null;
}

const insert = rawChange<[string, string, string, number, string | null, string | null]>(
  `INSERT INTO code_failures (application_id, email, purpose, failed_at, address_block, browser)
   VALUES (?, ?, ?, ?, ?, ?)`,
);

/** Puts a wrong code down, with the time of the change. */
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

/** Wrong codes of one owner count no more against a block of client addresses; against the owner they do. */
export async function forgiveBlock(
  unit: Unit,
  { applicationId, email, purpose }: CodeOwner,
  addressBlock: string,
): Promise<void> {
  await unsetBlock(unit, applicationId, email, purpose, addressBlock);
}

/** The last wrong code of a kind, and how many there were in the time before it, itself among them. */
export interface CodeFailures {
  readonly count: number;
  /** Null where there is none. */
  readonly lastAt: number | null;
}

/**
 * `+?` keeps SQLite from planning the statement anew at each call, which takes fifty times what it does.
 *
 * What came before the clock went back counts no more: it would pause codes until the clock is there again. */
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

/** Of one owner, in all the browsers that know the person, or in all others. @param windowMs the time before the last one. */
export async function findFailuresOfOwner(
  unit: Unit,
  { applicationId, email, purpose }: CodeOwner,
  { isKnown, windowMs }: { readonly isKnown: boolean; readonly windowMs: number },
): Promise<CodeFailures> {
  return only(await (isKnown ? knownOfOwner : unknownOfOwner)(unit, windowMs, applicationId, email, purpose, unit.now));
}

/** Of one owner in one browser. */
export async function findFailuresInBrowser(
  unit: Unit,
  { applicationId, email, purpose }: CodeOwner,
  browser: string,
  windowMs: number,
): Promise<CodeFailures> {
  return only(await ofBrowser(unit, windowMs, applicationId, email, purpose, unit.now, browser));
}

/** Of one block of client addresses, whoever's codes they were; without those in browsers that know the person. */
export async function findFailuresFromBlock(unit: Unit, addressBlock: string, windowMs: number): Promise<CodeFailures> {
  return only(await ofBlock(unit, windowMs, addressBlock, unit.now));
}

const nthNewest = raw<{ failedAt: number }, [number, number, number]>(
  `SELECT failed_at AS "failedAt" FROM code_failures WHERE failed_at > ?1 AND failed_at <= ?3 AND browser IS NULL
   ORDER BY failed_at DESC LIMIT 1 OFFSET ?2`,
);

/**
 * Of all there were after a time, wherever; without those in browsers that know the person.
 *
 * @param position 1 is the newest.
 * @returns when that one was; null where there were not as many.
 */
export async function findFailureTime(unit: Unit, since: number, position: number): Promise<number | null> {
  const [row] = await nthNewest(unit, since, position - 1, unit.now);
  return row?.failedAt ?? null;
}
