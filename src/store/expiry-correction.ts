/** Corrects the expiry of short-lived rows after the clock has gone back. */
import { DAY } from '../core/clock.ts';
import type { Unit } from '../db/database.ts';
import { change } from '../db/statements.ts';

/** Key columns of tables with short-lived rows; all have an index on `expires_at`. */
const KEYS = {
  code_challenges: 'id',
  passkey_challenges: 'id',
  provider_states: 'state_hash',
  device_grants: 'id',
  email_changes: 'id',
  oauth_codes: 'code_hash',
  setup_links: 'token_hash',
} as const;

export type ShortLived = keyof typeof KEYS;

interface Expiry {
  /** The new expiry. */
  readonly expiresAt: number;
  /** Range of the present expiry: after `from`, up to `to`. */
  readonly from: number;
  readonly to: number;
  readonly limit: number;
}

const statements = Object.fromEntries(
  Object.entries(KEYS).map(([table, key]) => [
    table,
    change<Expiry>(
      `UPDATE ${table} SET expires_at = :expiresAt WHERE ${key} IN (
         SELECT ${key} FROM ${table} WHERE expires_at > :from AND expires_at <= :to LIMIT :limit)`,
    ),
  ]),
) as Record<ShortLived, ReturnType<typeof change<Expiry>>>;

/** Long enough that a clock that goes back again still finds the row expired. */
const LONG_AGO_MS = 7 * DAY;

/** Expires again the rows that had expired by `was`, before the clock went back. @returns the number changed. */
export function expireAgain(unit: Unit, what: ShortLived, was: number, limit: number): Promise<number> {
  return statements[what](unit, { expiresAt: unit.now - LONG_AGO_MS, from: unit.now, to: was, limit });
}

/** Limits every expiry to that of a row created now. @returns the number changed. */
export function shortenToLifetime(unit: Unit, what: ShortLived, lifetimeMs: number, limit: number): Promise<number> {
  const expiresAt = unit.now + lifetimeMs;
  return statements[what](unit, { expiresAt, from: expiresAt, to: Number.MAX_SAFE_INTEGER, limit });
}
