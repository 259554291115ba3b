/** The instances on one database, each with a row that it renews while it lives. */
import { note, query } from '../db/statements.ts';

export interface InstanceRow {
  readonly id: string;
  readonly version: string;
  readonly baseUrl: string;
  readonly host: string;
  /** Times are the database's, so that a wrong clock of an instance shows none dead or alive. */
  readonly startedAt: number;
  readonly seenAt: number;
  /** The instance's clock minus the database's, in milliseconds. */
  readonly clockOffsetMs: number;
}

/** Returns the instances of the last day, oldest first; one that was killed has an old `seenAt`. */
export const listInstances = query.rows<InstanceRow>(
  `SELECT id, version, base_url AS "baseUrl", host, started_at AS "startedAt", seen_at AS "seenAt",
     clock_offset_ms AS "clockOffsetMs" FROM instances ORDER BY started_at, id`,
);

/** Adds an instance, or renews its row. */
export const noteInstance = note<InstanceRow>(
  `INSERT INTO instances (id, version, base_url, host, started_at, seen_at, clock_offset_ms)
   VALUES (:id, :version, :baseUrl, :host, :startedAt, :seenAt, :clockOffsetMs)
   ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, clock_offset_ms = excluded.clock_offset_ms`,
);

export const deleteInstance = note<string>('DELETE FROM instances WHERE id = :id');

/** Deletes instances that were last seen before a time. */
export const purgeInstances = note<number>('DELETE FROM instances WHERE seen_at < :before');

/** Returns the database's time, in epoch milliseconds. */
export const findDatabaseTime = query.aggregate<number>(({ currentTime }) => `SELECT ${currentTime} AS now`);
