/** Scans an endpoint's deliveries for one event type in batches, for lack of an index. */
import type { Reader } from '../db/database.ts';
import { longRead } from '../db/statements.ts';
import type { Delivery } from './deliveries.ts';

/** Search criteria; no status matches all. */
export interface DeliverySearch {
  readonly webhookId: string;
  readonly eventType: string;
  readonly status: Delivery['status'] | undefined;
}

export interface DeliveryScan {
  /** Matching ids, newest first, at most `limit`. */
  readonly found: readonly string[];
  readonly last: string | null;
  readonly scanned: number;
}

/** Scans the next batch. A long read. @param before continues after this id. */
export async function scanDeliveries(
  reader: Reader,
  { webhookId, eventType, status }: DeliverySearch,
  { before, size, limit }: { readonly before: string | undefined; readonly size: number; readonly limit: number },
): Promise<DeliveryScan> {
  const conditions = [
    'webhook_id = :webhookId',
    ...(status === undefined ? [] : ['status = :status']),
    ...(before === undefined ? [] : ['id < :before']),
  ];
  const scan = longRead.rows<{ id: string; scanned: number | null }, object>(
    `WITH stretch AS (
       SELECT id, event_type FROM deliveries WHERE ${conditions.join(' AND ')} ORDER BY id DESC LIMIT :size
     )
     SELECT * FROM (
       SELECT id, CAST(NULL AS INTEGER) AS scanned FROM stretch WHERE event_type = :eventType ORDER BY id DESC LIMIT :limit
     ) AS found
     UNION ALL
     SELECT * FROM (
       SELECT id, (SELECT count(*) FROM stretch) AS scanned FROM stretch ORDER BY id LIMIT 1
     ) AS ends`,
  );
  const rows = await scan(reader, { webhookId, status, before, size, eventType, limit });
  const end = rows.find(({ scanned }) => scanned !== null);
  return {
    found: rows.filter(({ scanned }) => scanned === null).map(({ id }) => id),
    last: end?.id ?? null,
    scanned: end?.scanned ?? 0,
  };
}
