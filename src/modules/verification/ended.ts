/**
 * What was once found expired stays so where the clock goes back. It is on record as well, of sessions from when their end is
 * told, of keys from when the job has seen it: what is remembered here is for the seconds until then.
 */

/** When a key or a session ends by time. */
interface Ends {
  readonly expiresAt: number | null;
  readonly gracePeriodEndsAt?: number | null;
}

/** The oldest are forgotten first; the clock was further back then. Many at a time: each look for the first takes longer than going on. */
const MOST_REMEMBERED = 50_000;
const FORGOTTEN = 500;

export function endedCredentials() {
  /** By id, the end that was passed: another one, as a key may be given, is judged anew. */
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
