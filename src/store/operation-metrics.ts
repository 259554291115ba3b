/** Metrics for operators besides the queues: inactive endpoints and limits reached. */
import type { Reader } from '../db/database.ts';
import { query } from '../db/statements.ts';

const resting = query.rows<{ status: 'disabled' | 'quarantined'; count: number }>(
  "SELECT status, count(*) AS count FROM webhooks WHERE status <> 'active' AND removed_at IS NULL GROUP BY status",
);

export async function countRestingEndpoints(reader: Reader): Promise<Record<'disabled' | 'quarantined', number>> {
  const rows = await resting(reader);
  const of = (status: string) => rows.find((row) => row.status === status)?.count ?? 0;
  return { disabled: of('disabled'), quarantined: of('quarantined') };
}

/** Returns limits reached in all applications since a UTC day began, most frequent first. */
export const listLimitsReached = query.rows<{ limit: string; count: number }, number>(
  `SELECT label AS "limit", CAST(sum(count) AS bigint) AS count FROM daily_counts WHERE day >= :since AND metric = 'limit_reached'
   GROUP BY label ORDER BY 2 DESC`,
);
