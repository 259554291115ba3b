/** What those who run an instance look at beside its queues: endpoints that rest, and limits that were reached. */
import type { Reader } from '../db/database.ts';
import { raw } from '../db/statements.ts';

const resting = raw<{ status: 'disabled' | 'quarantined'; count: number }, []>(
  "SELECT status, count(*) AS count FROM webhooks WHERE status <> 'active' AND removed_at IS NULL GROUP BY status",
);

/** Endpoints that nothing is sent to. */
export async function countRestingEndpoints(reader: Reader): Promise<Record<'disabled' | 'quarantined', number>> {
  const rows = await resting(reader);
  const of = (status: string) => rows.find((row) => row.status === status)?.count ?? 0;
  return { disabled: of('disabled'), quarantined: of('quarantined') };
}

const limitsReached = raw<{ limit: string; count: number }, [number]>(
  `SELECT label AS "limit", sum(count) AS count FROM daily_counts WHERE day >= ? AND metric = 'limit_reached'
   GROUP BY label ORDER BY 2 DESC`,
);

/** Of all applications, the most reached first. @param since the time that a UTC day begins at. */
export function listLimitsReached(reader: Reader, since: number): Promise<{ limit: string; count: number }[]> {
  return limitsReached(reader, since);
}
