/** What is good for minutes or a day and then never again: where its end is put when the clock has gone back. */
import { DAY } from '../core/clock.ts';
import type { Unit } from '../db/database.ts';
import { rawChange } from '../db/statements.ts';

/** Tables of such, with what each row is known by; all have an index on `expires_at`. */
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

/** So long ago that a clock that goes back again finds it ended as well. */
const LONG_AGO_MS = 7 * DAY;

/** What had ended by a time that is still to come, has ended. @returns how many that were. */
export function endWhatHadEnded(unit: Unit, what: ShortLived, was: number, limit: number): Promise<number> {
  return statements[what](unit, unit.now - LONG_AGO_MS, unit.now, was, limit);
}

/** Nothing ends later than what is made now. @returns how many that were. */
export function shortenToLifetime(unit: Unit, what: ShortLived, lifetimeMs: number, limit: number): Promise<number> {
  const latest = unit.now + lifetimeMs;
  return statements[what](unit, latest, latest, Number.MAX_SAFE_INTEGER, limit);
}
