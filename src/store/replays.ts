/** Failed deliveries of an endpoint that a replay sends again. */
import type { Reader } from '../db/database.ts';
import { longRead, query } from '../db/statements.ts';

/** A range of deliveries by id, which is their order of creation. */
export interface ReplayRange {
  readonly webhookId: string;
  /** Exclusive. */
  readonly after: string;
  /** Inclusive. */
  readonly until: string;
}

export interface FailedDelivery {
  readonly id: string;
  readonly eventId: string;
  readonly eventType: string;
  /** A later delivery of the same event exists: the event was sent again already. */
  readonly isSentAgain: boolean;
}

const FAILED = "d.webhook_id = :webhookId AND d.status = 'failed' AND d.id > :after AND d.id <= :until";
const IS_SENT_AGAIN = `EXISTS (SELECT 1 FROM deliveries l
  WHERE l.event_id = d.event_id AND l.webhook_id = d.webhook_id AND l.id > d.id)`;

/** Returns failed deliveries, oldest first. */
export const listFailedDeliveries = query.rows<FailedDelivery, ReplayRange & { limit: number }>(
  `SELECT d.id, d.event_id AS "eventId", d.event_type AS "eventType", ${IS_SENT_AGAIN} AS "isSentAgain"
   FROM deliveries d WHERE ${FAILED} ORDER BY d.id LIMIT :limit`,
);

/** Returns how many failed deliveries were not sent again, at most `limit`. A long read. */
export const countReplayable = longRead.count<ReplayRange & { limit: number }>(
  `SELECT count(*) FROM (SELECT 1 FROM deliveries d WHERE ${FAILED} AND NOT ${IS_SENT_AGAIN} LIMIT :limit) AS found`,
);

/** Returns the number of failed deliveries. A long read. */
export const countFailed = longRead.count<ReplayRange>(`SELECT count(*) FROM deliveries d WHERE ${FAILED}`);

/** Returns how many deliveries are pending, at most `limit`. */
const pendingUpTo = query.count<{ webhookId: string; limit: number }>(
  `SELECT count(*) FROM (
     SELECT 1 FROM deliveries WHERE webhook_id = :webhookId AND status = 'pending' LIMIT :limit) AS found`,
);

/** Returns how many deliveries an endpoint may get until `most` are pending. */
export async function roomForDeliveries(reader: Reader, webhookId: string, most: number): Promise<number> {
  return most - (await pendingUpTo(reader, { webhookId, limit: most }));
}
