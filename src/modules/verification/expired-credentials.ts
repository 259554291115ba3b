/** Once expired, always expired, even if the clock goes back. Bridges the seconds until the job has stored it. */

/** The expiry of a key or a session, in epoch milliseconds. */
interface Expiry {
  readonly expiresAt: number | null;
  readonly gracePeriodEndsAt?: number | null;
}

/** Maximum number of entries. The oldest are evicted first, in batches, because finding the first key of a Map is slow. */
const MAX_ENTRIES = 50_000;
const EVICTED_AT_ONCE = 500;

export function expiredCredentials() {
  /** The passed expiry by id: a key with a new expiry is judged again. */
  const ended = new Map<string, number>();

  return {
    note(id: string, ends: Expiry): void {
      if (ended.size >= MAX_ENTRIES) for (const oldest of ended.keys().take(EVICTED_AT_ONCE)) ended.delete(oldest);
      ended.set(id, expiryOf(ends));
    },
    includes: (id: string, ends: Expiry): boolean => ended.size > 0 && ended.get(id) === expiryOf(ends),
  };
}

function expiryOf({ expiresAt, gracePeriodEndsAt }: Expiry): number {
  return Math.min(expiresAt ?? Infinity, gracePeriodEndsAt ?? Infinity);
}
