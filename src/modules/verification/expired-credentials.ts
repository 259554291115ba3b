/** Once expired, always expired, even if the clock goes back. Bridges the seconds until the job has stored it. */

/** Maximum number of entries. The oldest are evicted first, in batches, because finding the first key of a Map is slow. */
const MAX_ENTRIES = 50_000;
const EVICTED_AT_ONCE = 500;

/** Ids are of keys and sessions, times in epoch milliseconds. */
export function expiredCredentials() {
  /** The passed end by id: a key with a new end is judged again. */
  const ended = new Map<string, number>();

  return {
    note(id: string, endsAt: number): void {
      if (ended.size >= MAX_ENTRIES) for (const oldest of ended.keys().take(EVICTED_AT_ONCE)) ended.delete(oldest);
      ended.set(id, endsAt);
    },
    includes: (id: string, endsAt: number): boolean => ended.size > 0 && ended.get(id) === endsAt,
  };
}
