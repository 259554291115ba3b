/** Metrics for operators besides the queues: inactive endpoints and limits reached. */
import type { Reader } from '../db/database.ts';
import { raw } from '../db/statements.ts';

const resting = raw<{ status: 'disabled' | 'quarantined'; count: number }, []>(
  "SELECT status, count(*) AS count FROM webhooks WHERE status <> 'active' AND removed_at IS NULL GROUP BY status",
);

export async function countRestingEndpoints(reader: Reader): Promise<Record<'disabled' | 'quarantined', number>> {
  const rows = await resting(reader);
  const of = (status: string) => rows.find((row) => row.status === status)?.count ?? 0;
  return { disabled: of('disabled'), quarantined: of('quarantined') };
}

const limitsReached = raw<{ limit: string; count: number }, [number]>(
  `SELECT label AS "limit", sum(count) AS count FROM daily_counts WHERE day >= ? AND metric = 'limit_reached'
   GROUP BY label ORDER BY 2 DESC`,
);

/** Returns limits reached in all applications, most frequent first. @param since start of a UTC day. */
export function listLimitsReached(reader: Reader, since: number): Promise<{ limit: string; count: number }[]> {
  return limitsReached(reader, since);
}
