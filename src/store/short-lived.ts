/** Corrects the expiry of short-lived rows after the clock has gone back. */
import { DAY } from '../core/clock.ts';
import type { Unit } from '../db/database.ts';
import { rawChange } from '../db/statements.ts';

/** Key columns of tables with short-lived rows; all have an index on `expires_at`. */
const KEYS = {
  code_challenges: 'id',
  passkey_challenges: 'id',
  provider_states: 'state_hash',
  device_grants: 'id',
  email_changes: 'id',
  setup_links: 'token_hash',
} as const;

export type ShortLived = keyof typeof KEYS;

const statements = Object.fromEntries(
  Object.entries(KEYS).map(([table, key]) => [
    table,
    rawChange<[number, number, number, number]>(
      `UPDATE ${table} SET expires_at = ?1 WHERE ${key} IN (
         SELECT ${key} FROM ${table} WHERE expires_at > ?2 AND expires_at <= ?3 LIMIT ?4)`,
    ),
  ]),
) as Record<ShortLived, ReturnType<typeof rawChange<[number, number, number, number]>>>;

/** Long enough that a clock that goes back again still finds the row expired. */
const LONG_AGO_MS = 7 * DAY;

/** Expires again the rows that had expired by `was`, before the clock went back. @returns the number changed. */
export function endWhatHadEnded(unit: Unit, what: ShortLived, was: number, limit: number): Promise<number> {
  return statements[what](unit, unit.now - LONG_AGO_MS, unit.now, was, limit);
}

/** Limits every expiry to that of a row created now. @returns the number changed. */
export function shortenToLifetime(unit: Unit, what: ShortLived, lifetimeMs: number, limit: number): Promise<number> {
  const latest = unit.now + lifetimeMs;
  return statements[what](unit, latest, latest, Number.MAX_SAFE_INTEGER, limit);
}
