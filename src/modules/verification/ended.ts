/** Once expired, always expired, even if the clock goes back. Bridges the seconds until the job has stored it. */

/** The expiry of a key or a session, in epoch milliseconds. */
interface Ends {
  readonly expiresAt: number | null;
  readonly gracePeriodEndsAt?: number | null;
}

/** The oldest go first: the clock was further back then. In batches: finding the first key of a Map anew is slow. */
const MOST_REMEMBERED = 50_000;
const FORGOTTEN = 500;

export function endedCredentials() {
  /** The passed expiry by id: a key with a new expiry is judged again. */
  const ended = new Map<string, number>();

  return {
    note(id: string, ends: Ends): void {
      if (ended.size >= MOST_REMEMBERED) for (const oldest of ended.keys().take(FORGOTTEN)) ended.delete(oldest);
      ended.set(id, endOf(ends));
    },
    includes: (id: string, ends: Ends): boolean => ended.size > 0 && ended.get(id) === endOf(ends),
  };
}

function endOf({ expiresAt, gracePeriodEndsAt }: Ends): number {
  return Math.min(expiresAt ?? Infinity, gracePeriodEndsAt ?? Infinity);
}
